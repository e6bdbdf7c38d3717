#include "daemon/runner/checks/gates.hpp"

#include <algorithm>
#include <utility>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/engine/explain.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {
namespace {

std::string short_of(const std::string& commit) {
    return commit.substr(0, 12);
}

Error no_longer_asked(const TaskId& id) {
    return {ErrorCode::conflict, "task " + id.value +
                                     " is not asked for that status any more. What it waits for:\n  orange task why " +
                                     id.value};
}

bool is_agent(Role role) {
    return role == Role::worker || role == Role::reviewer;
}

}  // namespace

Result<void> Gates::ask(TaskRecord& record, const engine::AwaitChecks& checks, const engine::Request& request,
                        const Caller& by) {
    AskedTransition asked{checks.to, checks.commit, by, world_.clock.now(), request.force};
    const auto& now = record.asked;
    if (now && now->to == asked.to && now->commit == asked.commit && pursuits_->contains(record.task.id)) return {};
    if (now) runner_.checks.stop(record.task.id);  // the checks of the former request
    record.asked = std::move(asked);
    TRY(turns_.try_save(record));
    world_.journal.write(record, "status.asked",
                         {{"to", record.asked->to}, {"commit", record.asked->commit}, {"by", name_text(by.role)}});
    return {};
}

void Gates::go_on(const TaskId& id) {
    if (stopped_ || pursuits_->contains(id)) return;
    const auto pursuit = std::make_shared<Pursuit>();
    (*pursuits_)[id] = pursuit;
    async::spawn(world_.executor, "gates", pursue(id, pursuit));
}

Awaitable<Result<Outcome>> Gates::wait(TaskId id) {
    go_on(id);
    const auto found = pursuits_->find(id);
    if (found == pursuits_->end()) co_return Error(ErrorCode::unavailable, "the daemon ends");
    const auto pursuit = found->second;
    const auto record = world_.tasks.awake(id);
    const auto asked = record && record->asked ? *record->asked : AskedTransition{};
    const auto ended = std::make_shared<async::Wakeup>(world_.executor);
    pursuit->waiting.push_back(ended);
    co_await ended->wait(patience_);
    std::erase(pursuit->waiting, ended);
    if (pursuit->end) co_return *pursuit->end;
    pursuit->sent_away = true;
    Outcome outcome;
    outcome.notes = {"Checks still run on " + short_of(asked.commit) + ". " +
                     (is_agent(asked.by.role) ? "You will get a message; the" : "The") +
                     " task moves by itself when they pass."};
    co_return outcome;
}

void Gates::stop() {
    stopped_ = true;
    for (const auto& [id, pursuit] : *pursuits_) {
        for (const auto& waiting : pursuit->waiting) waiting->notify();
    }
}

/// Removes the request from the map when it is destroyed, and wakes the waiting callers.
class Gates::AtWork {
  public:
    AtWork(std::shared_ptr<Pursuits> pursuits, TaskId id) : pursuits_(std::move(pursuits)), id_(std::move(id)) {}
    ~AtWork() {
        const auto pursuit = pursuits_->extract(id_).mapped();
        for (const auto& waiting : pursuit->waiting) waiting->notify();
    }
    AtWork(const AtWork&) = delete;
    AtWork& operator=(const AtWork&) = delete;

  private:
    std::shared_ptr<Pursuits> pursuits_;
    TaskId id_;
};

Awaitable<void> Gates::pursue(TaskId id, std::shared_ptr<Pursuit> pursuit) {
    const AtWork at_work(pursuits_, id);
    pursuit->end = co_await follow(id, pursuit);
}

/// Repeats the steps until the request is decided. Each result is in the record, where the next daemon finds it.
Awaitable<Result<Outcome>> Gates::follow(TaskId id, std::shared_ptr<Pursuit> pursuit) {
    while (true) {
        auto next = co_await step(id, pursuit->is_heard());
        if (next.end) co_return *next.end;
        CheckOrder order;
        order.commit = next.asked.commit;
        order.checks = std::move(next.checks);
        order.beside_agent = true;
        const auto report = co_await runner_.checks.run(id, std::move(order));
        if (report) continue;
        if (stopped_ || runner_.checks.have_ended()) co_return report.error();
        auto error = co_await drop(id, next.asked, report.error(), pursuit->is_heard());
        const auto record = world_.tasks.awake(id);
        if (!record || !record->asked || error.code == ErrorCode::io) co_return error;
    }
}

Awaitable<Gates::GateStep> Gates::step(TaskId id, bool is_waited_for) {
    GateStep step;
    const auto ended = [&step](Result<Outcome> end) {
        step.end = std::move(end);
        return step;
    };
    auto turn = co_await runner_.transitions.begin_turn(id);
    if (!turn) co_return ended(turn.error());
    auto& record = turn->record;
    if (!record.asked) co_return ended(no_longer_asked(id));
    if (record.merge && record.merge->unfinished()) {  // the merge decides the task's next state
        co_return ended(Error(ErrorCode::conflict, "a merge of task " + id.value + " is not finished"));
    }
    step.asked = *record.asked;
    const auto definition = turns_.definition_of(record.task);
    auto synced = co_await turns_.sync_bodies(record);
    if (!definition || !synced) co_return ended(definition ? synced.error() : definition.error());
    const auto facts = co_await facts_of(world_, record, **definition, step.asked.to, step.asked.at);
    if (facts.unknown.empty() && facts.commit != step.asked.commit) {
        const Error moved(ErrorCode::gate_failed, "the branch has moved from " + short_of(step.asked.commit) + " to " +
                                                      short_of(facts.commit) + " since " + step.asked.to +
                                                      " was asked for. Ask again");
        co_return ended(drop(record, moved, is_waited_for));
    }
    const engine::TransitionFacts given{record.task, synced->artifacts, record.entry_sections, facts};
    const auto& by = step.asked.by;
    engine::Request request{step.asked.to, by.role, step.asked.force, by.through.empty()};
    auto outcome = engine::decide_request(**definition, given, request);
    if (auto* refusal = std::get_if<engine::Refusal>(&outcome)) {
        if (!refusal->checks) {
            co_return ended(drop(record, explained(*refusal, **definition, given, by), is_waited_for));
        }
        step.checks = std::move(refusal->checks->checks);
        co_return step;
    }
    auto caller = by;
    auto moved = co_await runner_.transitions.perform(
        record, *definition, std::get<engine::Decision>(std::move(outcome)), std::move(*synced), std::move(caller));
    // A failed write is tried again. Every other failure is reported.
    if (!moved && moved.error().code != ErrorCode::io) moved = drop(record, moved.error(), is_waited_for);
    co_return ended(std::move(moved));
}

Awaitable<Error> Gates::drop(TaskId id, AskedTransition asked, Error why, bool is_waited_for) {
    auto turn = co_await turns_.begin_turn(id);
    if (!turn) co_return turn.error();
    auto& record = turn->record;
    if (!record.asked || !(*record.asked == asked)) co_return no_longer_asked(id);  // another request has replaced it
    co_return drop(record, std::move(why), is_waited_for);
}

/// A caller that no longer waits for the answer gets a message or a notice.
Error Gates::drop(TaskRecord& record, Error why, bool is_waited_for) {
    const auto asked = *std::exchange(record.asked, std::nullopt);
    const auto text = "The task has not moved to " + asked.to + ": " + why.message;
    if (!is_waited_for && is_agent(asked.by.role)) {
        if (runner_.agents.alive(record, asked.by.role)) {
            add_message(world_, record, asked.by.role, Role::system, text);
        }  // a dead agent gets the text when its end is handled
    } else if (!is_waited_for) {
        raise(world_, record, NoticeKind::checks_failed, text, "orange task why " + record.task.id.value);
    }
    if (const auto saved = turns_.try_save(record); !saved) return saved.error();
    world_.journal.write(record, "status.dropped",
                         {{"to", asked.to}, {"commit", asked.commit}, {"why", std::string(first_line(why.message))}});
    return why;
}

void Gates::run_for_exit(const TaskId& id, engine::AwaitChecks wanted, std::function<void(std::string why)> then) {
    if (stopped_ || !ends_waiting_.insert(id).second) return;
    async::spawn(world_.executor, "gates", check_for_exit(id, std::move(wanted), std::move(then)));
}

Awaitable<void> Gates::check_for_exit(TaskId id, engine::AwaitChecks wanted,
                                      std::function<void(std::string why)> then) {
    CheckOrder order;
    order.commit = std::move(wanted.commit);
    order.checks = std::move(wanted.checks);
    order.beside_agent = true;
    const auto report = co_await runner_.checks.run(id, std::move(order));
    ends_waiting_.erase(id);
    if (stopped_ || runner_.checks.have_ended()) co_return;  // the next daemon sees the same end again
    // A conflict means that the task has changed or that other checks run: handle the end again without a reason.
    then(report || report.error().code == ErrorCode::conflict ? std::string() : report.error().message);
}

}  // namespace orange
