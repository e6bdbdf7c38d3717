#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/runner/activity.hpp"
#include "daemon/runner/agent_control.hpp"
#include "daemon/runner/turns.hpp"

namespace orange {

/// Why no agent of this role takes a message or shows a screen, and the command that starts one or says more.
Error not_running(const engine::Definition& definition, const Task& task, Role role);

/// Messages to agents, from the durable outbox in state.json into their windows.
class Outbox {
  public:
    Outbox(World& world, AgentControl& agents, Turns& turns, Activities& activities, const UsageHolds& usage)
        : world_(world), agents_(agents), turns_(turns), activities_(activities), usage_(usage) {}

    /// What a human says to a living agent.
    Awaitable<Result<Outcome>> send(TaskId id, Role to, std::string text);

    /// The same for an agent that may not run yet: it is told when it does.
    Awaitable<Result<void>> leave(TaskId id, Role to, std::string text);

    /// Delivers what waits in the outbox. True where nothing is left.
    Awaitable<bool> deliver(TaskId id);

    /// True if the role's agent waits for a human's answer in its window.
    Awaitable<bool> shows_dialog(const TaskRecord& record, Role role);

    /// Whether the agents have taken what was typed. A message that an idle program swallowed is typed once more, then
    /// its human is told. True where nothing is open any more.
    Awaitable<bool> acknowledge(TaskId id);

    /// A typed message is not acknowledged, and its agent has nothing to do.
    bool may_be_seen(const TaskId& id) const;

    /// Its human has seen that a message cannot be delivered. It is waited for as long again, or, if nothing is typed
    /// into that window, nobody is told of it again.
    void was_acknowledged(const TaskRecord& record);

  private:
    /// Tries to deliver what is in the outbox, in order. True where nothing is left.
    Awaitable<bool> deliver_all(TaskRecord& record);
    Awaitable<bool> deliver_one(const TaskRecord& record, const AgentRun& run, const Message& message);
    bool is_outdated(const TaskRecord& record, const Message& message) const;
    void was_typed(TaskRecord& record, const Message& message);
    Awaitable<bool> acknowledge_one(TaskRecord& record, Message& message);
    Awaitable<bool> is_held_by_limit(AgentRun run);
    void mark_undelivered(TaskRecord& record);
    bool waits_too_long(const TaskRecord& record, const Message& message);

    /// The message that a task's outbox is held up by, and since when this daemon has tried it. By the steady clock: a
    /// wall clock that is set, or a machine that slept, is no patience of an agent's.
    struct Undelivered {
        std::string message;
        async::Moment since;
        agents::Typing typing = agents::Typing::later;  ///< what the window was like at the last try
    };

    World& world_;
    AgentControl& agents_;
    Turns& turns_;
    Activities& activities_;
    const UsageHolds& usage_;
    std::map<TaskId, Undelivered> undelivered_;
    std::set<std::string> typed_;         ///< messages whose delivery could not be written down yet
    std::set<std::string> told_;          ///< messages that were not taken or not typed, and whose human was told
    std::set<std::string> acknowledged_;  ///< those of them that were acknowledged
};

}  // namespace orange
