#pragma once

#include <functional>
#include <string>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/definition.hpp"
#include "daemon/runner/turns.hpp"
#include "daemon/runner/world.hpp"

namespace orange {

/// Which of its harness's permissions the role's agent of this task gets: "full", "reduced" or "review". `ordered`:
/// what the action says; empty: as at the role's first spawn.
std::string permissions_of(const engine::Definition& definition, const Task& task, Role role,
                           const std::string& ordered = {});

/// How a role's agent is to be started.
struct SpawnOrder {
    Role role = Role::worker;
    std::string prompt;       ///< key of the workflow's prompts
    std::string permissions;  ///< "full" or "reduced"; empty: those of the role's first spawn
    std::string intent;       ///< id of the intent that asks, empty for a respawn
    bool respawn = false;     ///< history says agent.respawned
    bool resume = false;      ///< continues the program's own conversation, if it is known and can be continued
};

/// A task's worker and reviewer: started and ended. Every function is called under the task's lock with the
/// task's record, changes it, and saves it at the points where a crash must find the truth:
/// a run is saved as `starting` before its window opens, so that the next daemon adopts it instead of starting another.
class AgentControl {
  public:
    AgentControl(World& world, Turns& turns) : world_(world), turns_(turns) {}

    /// Called with each run that has begun or was adopted: the monitor watches its exit.
    void on_started(std::function<void(const TaskId&, const AgentRun&)> observer) { started_ = std::move(observer); }

    /// Starts the role's agent; where one is alive, the prompt is delivered to it as a message instead.
    Awaitable<Result<void>> spawn(TaskRecord& record, const engine::Definition& definition, SpawnOrder order);

    /// An agent calls: where its program chooses the name of its conversation, the caller's environment has it.
    Awaitable<void> learn_session(Caller caller);

    /// Ends the role's agent: marked first, so that its death reaches no rule; scrollback kept; processes gone when
    /// done.
    Awaitable<Result<void>> end(TaskRecord& record, Role role);

    /// Ends both agents and the task's tmux session.
    Awaitable<Result<void>> end_session(TaskRecord& record);

    /// After a restart: a run that was `starting` is adopted or forgotten.
    Awaitable<void> settle_starting(TaskRecord& record);

    /// Also where it cannot be looked at just now: two of one role must never be.
    bool alive(const TaskRecord& record, Role role) const;
    agents::Liveness liveness(const TaskRecord& record, Role role) const;

    /// Empty where it has none.
    Path worktree_of(const TaskRecord& record) const {
        if (!record.task.workspace || world_.pool.is_replaced(*record.task.workspace)) return {};
        return world_.pool.path_of(*record.task.workspace);
    }
    Path run_folder(const TaskRecord& record) const { return world_.tasks.folder(record) / "run"; }
    Path log_file(const TaskRecord& record, const AgentRun& run) const;

    /// The whole environment of a task's agent (docs/files.md, "An agent's environment"). `program_path`: the PATH that
    /// its program was found in.
    std::map<std::string, std::string> environment(const TaskRecord& record, std::map<std::string, std::string> harness,
                                                   Role role, const RunId& run,
                                                   const std::string& program_path = {}) const;

  private:
    Awaitable<Result<std::string>> prompt_text(const TaskRecord& record, const engine::Definition& definition,
                                               std::string key);
    Awaitable<Result<agents::StartRequest>> prepare(const TaskRecord& record, const engine::Definition& definition,
                                                    const SpawnOrder& order);
    void forget_run(TaskRecord& record, Role role);
    bool can_resume(const TaskRecord& record, const agents::HarnessEntry& harness, const agents::LaunchRequest& launch,
                    Role role) const;
    Awaitable<void> close_dead_windows(const TaskRecord& record);
    void tell_started(const TaskRecord& record, const AgentRun& run, bool respawn);

    World& world_;
    Turns& turns_;
    std::function<void(const TaskId&, const AgentRun&)> started_ = [](const TaskId&, const AgentRun&) {};
};

}  // namespace orange
