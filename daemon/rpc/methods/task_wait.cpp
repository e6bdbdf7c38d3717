#include <algorithm>
#include <memory>
#include <set>

#include "common/base/try.hpp"
#include "common/rpc/watch_methods.hpp"
#include "daemon/rpc/api.hpp"

/// `task.wait`: looks at the task again after each save, and replies as soon as it is in the wanted state or can no
/// longer get there. The call ends with its connection.
namespace orange::rpc {
namespace {

using engine::Definition;

constexpr const char* k_ended = "ended";
constexpr const char* k_attention = "attention";
constexpr const char* k_human = "human";
constexpr int k_most_waiters = 256;
constexpr std::int64_t k_longest_wait = 30LL * 86400;

/// The state that a waiting call shares with the observers that wake it.
struct WaitingCall {
    explicit WaitingCall(const async::Executor& executor) : changed(executor) {}
    async::Wakeup changed;
    bool over = false;  ///< the client no longer waits, or the daemon stops
};

bool wants(const std::vector<std::string>& until, std::string_view what) {
    return std::find(until.begin(), until.end(), what) != until.end();
}

/// Returns true if the workflow leaves the task to a human in that state: a final state, one without an agent, or one
/// whose entry notifies a human.
bool needs_human(const Definition& definition, const std::string& name) {
    const auto* state = definition.state(name);
    if (!state || state->terminal) return true;
    if (!state->agent && name != definition.initial().name) return true;
    return std::any_of(definition.transitions.begin(), definition.transitions.end(), [&](const auto& transition) {
        return transition.to == name && std::any_of(transition.hooks.begin(), transition.hooks.end(),
                                                    [](const Action& hook) { return hook.name == "notify"; });
    });
}

bool holds(const Definition& definition, const std::vector<std::string>& until, const std::string& state) {
    const auto* known = definition.state(state);
    return wants(until, state) || (wants(until, k_ended) && (!known || known->terminal)) ||
           (wants(until, k_human) && needs_human(definition, state));
}

/// Returns true if the state that the task is in is wanted. Whether the task needs a human follows from its needs
/// instead.
bool is_reached(const Definition& definition, const std::vector<std::string>& until, const std::string& state) {
    const auto* known = definition.state(state);
    const bool ended = !known || known->terminal;
    return wants(until, state) || (ended && (wants(until, k_ended) || wants(until, k_human)));
}

/// Returns true if transitions of the workflow lead from this state to a wanted one.
bool can_reach(const Definition& definition, const std::vector<std::string>& until, const std::string& from) {
    std::set<std::string> seen = {from};
    std::vector<std::string> next = {from};
    while (!next.empty()) {
        const auto state = next.back();
        next.pop_back();
        if (holds(definition, until, state)) return true;
        const auto* known = definition.state(state);
        if (!known || known->terminal) continue;
        for (auto& to : definition.targets_from(state)) {
            if (seen.insert(to).second) next.push_back(std::move(to));
        }
    }
    return false;
}

Result<void> check(const Definition& definition, const TaskWait& params) {
    if (params.timeout && (*params.timeout < 0 || *params.timeout > k_longest_wait)) {
        return {ErrorCode::invalid_argument, "timeout must be from 0 to 2592000 seconds (30 days)"};
    }
    for (const auto& name : params.until) {
        if (name == k_ended || name == k_attention || name == k_human || definition.state(name)) continue;
        std::string known;
        for (const auto& state : definition.states) known += state.name + ", ";
        return {ErrorCode::invalid_argument, "workflow " + definition.name + " has no status \"" + name +
                                                 "\" to wait for; known: " + known + "ended, attention, human"};
    }
    return {};
}

/// Returns the reply if the wait is over; nothing otherwise.
Result<std::optional<TaskWait::Reply>> look(Api& api, const TaskId& id, const std::vector<std::string>& until) {
    if (!api.world().tasks.brief(id)) return Error(ErrorCode::not_found, "task " + id.value + " was deleted");
    TRY(const auto record, api.world().tasks.read(id));
    TRY(const auto definition, api.runner().turns.definition_of(record->task));
    if (record->intent)
        return std::optional<TaskWait::Reply>{};  // a transition is under way, and the next state is not known yet
    const auto& task = record->task;
    const auto* state = definition->state(task.status);
    TaskWait::Reply reply;
    reply.task = api.view(*record);
    const auto& needs = reply.task.needs;
    // A queued task is about to start, even if the queue has not run yet.
    const bool starts = needs.kind == Need::start && (task.status == definition->initial().name || record->queued);
    const bool help = needs.kind != Need::nothing && !starts;
    if (help && (wants(until, k_human) || (wants(until, k_attention) && !reply.task.notices.empty()))) {
        reply.reached = true;
        reply.why = "the task has the status " + task.status + " and needs you: " + needs.text;
    } else if (is_reached(*definition, until, task.status)) {
        reply.reached = true;
        reply.why = "the task has the status " + task.status;
    } else if (!state || state->terminal) {
        reply.why = "the task has ended with the status " + task.status;
    } else if (!wants(until, k_attention) && !can_reach(*definition, until, task.status)) {
        reply.why =
            "the task has the status " + task.status + ", from which its workflow cannot reach what you wait for";
    } else {
        return std::optional<TaskWait::Reply>{};
    }
    return std::optional<TaskWait::Reply>{std::move(reply)};
}

Awaitable<Result<TaskWait::Reply>> sleep_until(Api& api, TaskId id, TaskWait params,
                                               std::shared_ptr<WaitingCall> waiting) {
    const auto until =
        params.timeout ? std::optional(async::now() + std::chrono::seconds(*params.timeout)) : std::nullopt;
    for (;;) {
        CO_TRY(auto answer, look(api, id, params.until));
        if (answer) co_return std::move(*answer);
        const auto left = until ? std::chrono::ceil<std::chrono::milliseconds>(*until - async::now())
                                : std::chrono::milliseconds::max();
        if (left.count() <= 0) {
            TaskWait::Reply reply;
            CO_TRY(reply.task, api.view(id));
            reply.timed_out = true;
            reply.why = "timed out after " + std::to_string(*params.timeout) + " s; the task has the status " +
                        reply.task.fields.status;
            co_return reply;
        }
        if (until) {
            co_await waiting->changed.wait(left);
        } else {
            co_await waiting->changed.wait();
        }
        if (waiting->over) {
            co_return Error(ErrorCode::unavailable, "the daemon stopped while task.wait was waiting; ask again");
        }
    }
}

Awaitable<Result<TaskWait::Reply>> wait(Api& api, TaskWait params, Call call, std::shared_ptr<int> waiters) {
    CO_TRY(const auto id, api.select(params, call));
    auto& world = api.world();
    CO_TRY(const auto record, world.tasks.read(id));
    CO_TRY(const auto definition, api.runner().turns.definition_of(record->task));
    if (params.until.empty()) params.until.emplace_back(k_human);
    CO_TRY(check(*definition, params));
    if (*waiters >= k_most_waiters) {
        co_return Error(ErrorCode::conflict, "256 calls are waiting for tasks already; events.subscribe has no limit");
    }
    const auto& task = id;
    auto waiting = std::make_shared<WaitingCall>(world.executor);
    const int observer = world.tasks.observe([waiting, task](const TaskId& changed) {
        if (changed == task) waiting->changed.notify();
    });
    const int end = call.sink->on_end([waiting] {
        waiting->over = true;
        waiting->changed.notify();
    });
    ++*waiters;
    auto reply = co_await sleep_until(api, task, std::move(params), waiting);
    --*waiters;
    call.sink->forget(end);
    world.tasks.unobserve(observer);
    if (reply) api.hide(reply->task, call);
    co_return reply;
}

}  // namespace

void add_task_wait(MethodTable& table, Api& api) {
    using enum ErrorCode;
    const auto waiters = std::make_shared<int>(0);
    table.add<TaskWait>(Access::read, "Answers when the task is what is waited for, or never will be.",
                        {not_found, conflict, unavailable}, [&api, waiters](TaskWait params, Call call) {
                            return wait(api, std::move(params), std::move(call), waiters);
                        });
}

}  // namespace orange::rpc
