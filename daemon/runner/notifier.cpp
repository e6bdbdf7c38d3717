#include "daemon/runner/notifier.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/text.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/sight.hpp"

namespace orange {
namespace {

constexpr std::size_t k_longest_text = 300;

std::string news_text(const TaskRecord& record, const Needs& needs, const std::optional<std::string>& said) {
    const bool trouble = std::any_of(record.notices.begin(), record.notices.end(),
                                     [](const Notice& notice) { return rule_of(notice.kind).help; });
    auto text = said.value_or(record.task.project + "/" + record.task.branch + ": " + needs.text);
    if (said && trouble && needs.kind == Need::help) text += " - " + needs.text;
    text = ellipsized(printable(text), k_longest_text);
    return needs.command.empty() ? text : text + " (" + needs.command + ")";
}

/// A dead agent's session may remain although the record has already forgotten it.
std::string session_of(const Task& task) {
    return task.tmux_session.value_or(session_name_for(task.project, task.branch));
}

}  // namespace

Notifier::Notifier(Runner& runner, Deliver deliver, Later later)
    : runner_(runner), world_(runner.world), deliver_(std::move(deliver)), later_(std::move(later)) {
    runner_.reconciler.on_need([this](const TaskRecord& record, const Needs& needs, std::optional<std::string> said) {
        const auto need = needs.kind > Need::start ? needs.kind : Need::nothing;
        add({record.task.id, record.task.project, record.task.summary, need, news_text(record, needs, said),
             needs.since});
    });
}

Notifier::~Notifier() {
    runner_.reconciler.on_need({});
}

void Notifier::add(News news) {
    std::erase_if(waiting_, [&](const News& old) { return old.task == news.task; });
    waiting_.push_back(std::move(news));
    if (!resting_) start_sending();
}

void Notifier::start_sending() {
    resting_ = true;
    async::spawn(world_.executor, "notifications", send());
}

Awaitable<void> Notifier::send() {
    auto taken = std::exchange(waiting_, {});
    std::erase_if(taken, [&](const News& news) { return is_over(news); });
    for (const auto& news : taken) {
        if (news.need != Need::nothing) co_await remember(news.task, news.since);
    }
    const auto news = co_await unattended(std::move(taken));
    if (news.empty()) {
        resting_ = false;
        if (!waiting_.empty()) start_sending();
        co_return;
    }
    co_await deliver_(news);
    later_([this] {
        resting_ = false;
        if (!waiting_.empty()) start_sending();
    });
}

/// A need that the human has dealt with meanwhile is no news.
bool Notifier::is_over(const News& news) const {
    const auto* record = world_.tasks.find(news.task);
    if (news.need == Need::nothing) return false;
    if (!record) return true;
    const bool is_between = record->intent || !Merges::under_way(*record).empty();  // its end may need the same
    return !is_between && needs_of(runner_, *record).kind <= Need::start;
}

/// Without the tasks at whose session a person is.
Awaitable<std::vector<News>> Notifier::unattended(std::vector<News> news) {
    if (news.empty()) co_return news;
    const auto clients = co_await world_.tmux.clients();
    if (!clients) {
        log::debug("notifier", clients.error().message);
        co_return news;
    }
    std::erase_if(news, [&](const News& each) {
        const auto* record = world_.tasks.find(each.task);
        return record && std::any_of(clients->begin(), clients->end(), [&](const TmuxClient& client) {
                   return client.session_name == session_of(record->task);
               });
    });
    co_return news;
}

Awaitable<void> Notifier::remember(TaskId id, Timestamp since) {
    auto turn = co_await runner_.turns.begin_turn(id);
    if (!turn || turn->record.notified == since) co_return;
    turn->record.notified = since;
    runner_.turns.save(turn->record, Durability::atomic);
}

}  // namespace orange
