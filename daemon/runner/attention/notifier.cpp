#include "daemon/runner/attention/notifier.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "common/base/text.hpp"
#include "common/model/notice_kinds.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {
namespace {

constexpr std::size_t k_longest_news = 300;
constexpr int k_most_times_kept = 15;

/// "shop: Round the total"
std::string name_of(const Task& task) {
    constexpr std::size_t k_columns = 60;
    const auto name = task.summary.empty() ? task.branch : ellipsized(first_line(task.summary), k_columns);
    return task.project + ": " + name;
}

std::string news_text(const TaskRecord& record, const Needs& needs, const std::optional<std::string>& said) {
    const bool trouble = std::any_of(record.notices.begin(), record.notices.end(),
                                     [](const Notice& notice) { return rule_of(notice.kind).help; });
    auto text = name_of(record.task) + ": " + said.value_or(needs.text);
    const bool asks = needs.kind == Need::answer || (trouble && needs.kind == Need::help);
    if (said && asks) text += " - " + needs.text;
    text = printable(text);
    auto shown = ellipsized(text, k_longest_news);
    // The command would allow what is not shown whole.
    const bool is_cut = needs.permit != 0 && shown != text;
    const auto command = is_cut ? task_command("show", record.task.id.value) : needs.command;
    return command.empty() ? shown : shown + " (" + command.text() + ")";
}

/// A dead agent's session may remain although the record has already forgotten it.
std::string session_of(const Task& task) {
    return task.tmux_session.value_or(session_name_for(task.project, task.branch));
}

}  // namespace

Notifier::Notifier(Runner& runner, Deliver deliver, Later later)
    : Owner(runner), deliver_(std::move(deliver)), later_(std::move(later)) {
    runner_.reconciler.on_need([this](const TaskRecord& record, const Needs& needs, std::optional<std::string> said) {
        const auto need = needs.kind > Need::start ? needs.kind : Need::nothing;
        add({record.task.id, record.task.project, record.task.summary, need,
             world_.tasks.with_short_ids(news_text(record, needs, said)), needs.since, needs.permit, said});
    });
}

Notifier::~Notifier() {
    runner_.reconciler.on_need({});
}

void Notifier::add(News news) {
    std::erase_if(waiting_, [&](const News& old) { return old.task == news.task && (!old.said || news.said); });
    waiting_.push_back(std::move(news));
    collect();
}

void Notifier::collect() {
    if (std::exchange(is_collecting_, true)) return;
    later_([this] {
        is_collecting_ = false;
        async::spawn(world_.executor, "notifications", send(take_ready()));
        if (!waiting_.empty()) collect();
    });
}

std::vector<News> Notifier::take_ready() {
    const bool keeps = runner_.exits.are_under_way() && times_kept_ < k_most_times_kept;
    const auto kept = std::stable_partition(waiting_.begin(), waiting_.end(),
                                            [&](const News& news) { return !keeps || news.need != Need::help; });
    std::vector<News> ready(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(kept));
    waiting_.erase(waiting_.begin(), kept);
    times_kept_ = waiting_.empty() ? 0 : times_kept_ + 1;
    return ready;
}

/// Yields between the tasks: there may be a thousand.
Awaitable<void> Notifier::send(std::vector<News> all) {
    ++sending_;
    std::vector<News> news;
    for (auto& each : all) {
        co_await async::yield();
        const bool over = is_over(each);
        if (each.said || (!over && each.need != Need::nothing)) co_await remember(each);
        if (!over) news.push_back(std::move(each));
    }
    news = co_await unattended(std::move(news));
    if (!news.empty()) co_await deliver_(std::move(news));
    --sending_;
}

Awaitable<void> Notifier::send_waiting() {
    auto all = std::exchange(waiting_, {});
    co_await send(std::move(all));
}

/// A need that the human has dealt with meanwhile is no news.
bool Notifier::is_over(const News& news) const {
    const auto record = world_.tasks.awake(news.task);
    if (news.need == Need::nothing) return false;
    if (!record) return true;
    const bool is_between = record->intent || !Merges::under_way(*record).empty();  // its end may need the same
    if (is_between) return false;
    const auto needs = needs_of(runner_, *record);
    return needs.kind <= Need::start || (news.permit != 0 && needs.permit != news.permit);
}

/// Leaves out the tasks to whose session a person is attached.
Awaitable<std::vector<News>> Notifier::unattended(std::vector<News> news) {
    if (news.empty()) co_return news;
    const auto clients = co_await world_.tmux.clients();
    if (!clients) {
        log::debug("notifier", clients.error().message);
        co_return news;
    }
    std::erase_if(news, [&](const News& each) {
        const auto record = world_.tasks.awake(each.task);
        return record && std::any_of(clients->begin(), clients->end(), [&](const TmuxClient& client) {
                   return client.session_name == session_of(record->task);
               });
    });
    co_return news;
}

/// Saves before the notification is sent: a daemon that is killed in between does not notify twice.
Awaitable<void> Notifier::remember(News news) {
    auto turn = co_await runner_.turns.begin_turn(news.task);
    if (!turn) co_return;
    auto& record = turn->record;
    const bool is_told = news.need == Need::nothing || record.notified == news.since;
    const bool has_text = news.said && record.to_tell == news.said;
    if (is_told && !has_text) co_return;
    if (news.need != Need::nothing) record.notified = news.since;
    if (has_text) record.to_tell.reset();
    runner_.turns.save(record, Durability::atomic);
}

}  // namespace orange
