#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/async/async.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/runner/agent_control.hpp"
#include "daemon/runner/checks.hpp"
#include "daemon/runner/transitions.hpp"

namespace orange {

/// Transitions that wait for checks. What was asked for is in the record (`asked`), so that the next daemon goes on
/// with it: checks run without the task's lock, and what they have found is remembered before anything follows from it.
class Gates {
  public:
    Gates(World& world, AgentControl& agents, Turns& turns, Transitions& transitions, Checks& checks)
        : world_(world), agents_(agents), turns_(turns), transitions_(transitions), checks_(checks) {}

    /// The time that a caller waits: an agent's shell may give a command no more than a minute.
    void set_patience(std::chrono::milliseconds patience) { patience_ = patience; }

    /// In a turn: from now on the task is asked to move to the status that `checks` are for. The same again changes
    /// nothing; another one takes its place.
    Result<void> ask(TaskRecord& record, const engine::AwaitChecks& checks, const engine::Request& request,
                     const Caller& by);

    /// Goes on with what the task is asked for, unless somebody does so already.
    void go_on(const TaskId& id);

    /// The same, and what becomes of it; after a while only that the checks still run.
    Awaitable<Result<Outcome>> wait(TaskId id);

    /// Stops the checks of a request that was replaced.
    void stop_checks(const TaskId& id) { checks_.stop(id); }

    /// Runs the checks that the end of an agent waits for, and calls `then`; with why not if they cannot be run.
    void run_for_exit(const TaskId& id, engine::AwaitChecks wanted, std::function<void(std::string why)> then);

    /// Checks run for the end of an agent of the task.
    bool end_waits(const TaskId& id) const { return ends_waiting_.contains(id); }

    /// Ends all waits; the requests stay in the records.
    void stop();

  private:
    /// The request of a task while it is worked on.
    struct Pursuit {
        std::optional<Result<Outcome>> end;
        std::vector<std::shared_ptr<async::Notifier>> waiting;
        bool sent_away = false;  ///< somebody was told to expect a message

        bool is_heard() const { return !waiting.empty() && !sent_away; }
    };
    /// The checks that have to run before the next step, or the end.
    struct Step {
        std::optional<Result<Outcome>> end;
        Asked asked;
        engine::Argvs checks;
    };

    class AtWork;

    Awaitable<void> pursue(TaskId id, std::shared_ptr<Pursuit> pursuit);
    Awaitable<Result<Outcome>> follow(TaskId id, std::shared_ptr<Pursuit> pursuit);
    Awaitable<Step> step(TaskId id, bool is_waited_for);
    Awaitable<Error> drop(TaskId id, Asked asked, Error why, bool is_waited_for);
    Error drop(TaskRecord& record, Error why, bool is_waited_for);
    Awaitable<void> check_for_exit(TaskId id, engine::AwaitChecks wanted, std::function<void(std::string why)> then);

    World& world_;
    AgentControl& agents_;
    Turns& turns_;
    Transitions& transitions_;
    Checks& checks_;
    std::chrono::milliseconds patience_ = std::chrono::seconds(45);
    using Pursuits = std::map<TaskId, std::shared_ptr<Pursuit>>;
    std::shared_ptr<Pursuits> pursuits_ = std::make_shared<Pursuits>();  ///< what is cut off may outlive its owner
    std::set<TaskId> ends_waiting_;                                      ///< for checks
    bool stopped_ = false;
};

}  // namespace orange
