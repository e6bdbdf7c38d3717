#include "daemon/runner/notifier.hpp"

#include <algorithm>
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

bool is_due(const Needs& needs, Need before) {
    if (needs.kind <= Need::start) return false;
    return before <= Need::start || (needs.kind == Need::help && before != Need::help);
}

/// A dead agent's session may remain although the record has already forgotten it.
std::string session_of(const Task& task) {
    return task.tmux_session.value_or(session_name_for(task.project, task.branch));
}

}  // namespace

Notifier::Notifier(Runner& runner, Deliver deliver, Later later)
    : runner_(runner), world_(runner.world), deliver_(std::move(deliver)), later_(std::move(later)) {
    observer_ = world_.tasks.observe([this](const TaskId& id) { changed(id); });
    listener_ = world_.journal.listen([this](const StreamEvent& told) {
        if (told.event.type != "notification") return;
        const auto message = told.event.fields.find("message");
        if (message == told.event.fields.end()) return;
        if (const auto* text = std::get_if<std::string>(&message->second)) said_[told.task] = *text;
        changed(told.task);
    });
}

Notifier::~Notifier() {
    world_.journal.unlisten(listener_);
    world_.tasks.unobserve(observer_);
}

void Notifier::look_at_all() {
    const auto active = world_.tasks.active();
    for (const auto& id : active) changed(id);
}

void Notifier::changed(const TaskId& id) {
    if (looking_.insert(id).second) async::spawn(world_.executor, "notifier", look(id));
}

Awaitable<void> Notifier::look(TaskId id) {
    // While the lock is held, the task is between two states.
    do {
        co_await runner_.turns.free(id);
    } while (world_.task_locks.busy(id.value));
    looking_.erase(id);
    const auto* record = world_.tasks.find(id);
    if (!record) {
        known_.erase(id);
        said_.erase(id);
        co_return;
    }
    if (record->intent || !Merges::under_way(*record).empty()) co_return;  // the next change comes with its end
    const auto needs = needs_of(runner_, *record);
    auto known = known_.find(id);
    if (known == known_.end()) {
        const bool notified = record->notified == needs.since;  // by an earlier daemon
        known = known_.emplace(id, notified ? needs.kind : Need::nothing).first;
    }
    const auto before = std::exchange(known->second, needs.kind);
    if (store::has_ended(*record) && needs.kind == Need::nothing) known_.erase(known);
    std::optional<std::string> said;
    if (const auto found = said_.find(id); found != said_.end()) {
        said = std::move(found->second);
        said_.erase(found);
    }
    if (!said && !is_due(needs, before)) co_return;
    const auto& task = record->task;
    const auto need = needs.kind > Need::start ? needs.kind : Need::nothing;
    add({id, task.project, task.summary, need, news_text(*record, needs, said), needs.since});
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
    // What its human has dealt with meanwhile is no news.
    std::erase_if(taken, [&](const News& news) {
        const auto known = known_.find(news.task);
        return news.need != Need::nothing && (known == known_.end() || known->second <= Need::start);
    });
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
