#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/definition.hpp"
#include "daemon/runner/room.hpp"
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

/// How an agent that waits for room is started.
inline SpawnOrder order_of(const HeldStart& held) {
    return {held.role, held.prompt, held.permissions, held.intent, held.respawn, held.resume};
}

/// A task's worker and reviewer: started and ended. Every function is called under the task's lock with the
/// task's record, changes it, and saves it at the points where a crash must find the truth:
/// a run is saved as `starting` before its window opens, so that the next daemon adopts it instead of starting another.
class AgentControl {
  public:
    AgentControl(World& world, Turns& turns, Room& room) : world_(world), turns_(turns), room_(room) {}

    /// Called with each run that has begun or was adopted: the monitor watches its exit.
    void on_started(std::function<void(const TaskId&, const AgentRun&)> observer) { started_ = std::move(observer); }

    /// Starts the role's agent; where one is alive, the prompt is delivered to it as a message instead. If there is no
    /// room for it, the record says how it is to be started, and Queue does that when there is.
    Awaitable<Result<void>> spawn(TaskRecord& record, const engine::Definition& definition, SpawnOrder order);

    /// An agent calls: where its program chooses the name of its conversation, the caller's environment has it, or the
    /// program lists it.
    Awaitable<void> learn_session(Caller caller);

    /// The run has ended. If its conversation is not known by then, its program is asked when it is to be continued.
    void has_ended(const TaskRecord& record, const AgentRun& run);

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
    Awaitable<Result<bool>> use_existing(TaskRecord& record, const engine::Definition& definition,
                                         const SpawnOrder& order);
    Awaitable<Result<agents::StartRequest>> prepare(const TaskRecord& record, const engine::Definition& definition,
                                                    const SpawnOrder& order);
    Awaitable<Result<agents::LaunchRequest>> launch_request(const TaskRecord& record,
                                                            const engine::Definition& definition,
                                                            const SpawnOrder& order,
                                                            const agents::HarnessEntry& harness,
                                                            const Project& project);
    Awaitable<Result<void>> complete_environment(agents::StartRequest& request, const agents::HarnessEntry& harness,
                                                 const git::Pinned& worktree, const std::string& permissions);
    Result<void> note_starting(TaskRecord& record, const agents::StartRequest& request);
    Awaitable<Result<agents::Started>> open_window(TaskRecord& record, const agents::StartRequest& request);
    Result<void> note_started(TaskRecord& record, const SpawnOrder& order, const agents::Started& started);
    /// The prompt as a message: a file, and a line that names it.
    Result<void> hand_over_prompt(TaskRecord& record, Role role, const std::string& prompt, const std::string& id);
    /// The id of the run's conversation, as its program lists it.
    Awaitable<std::string> listed_session(const TaskRecord& record, const agents::HarnessEntry& entry, AgentRun run);
    Awaitable<void> find_session(TaskRecord& record, Role role);
    static void drop_held(TaskRecord& record, Role role);
    void forget_run(TaskRecord& record, Role role);
    Awaitable<bool> bury_dead(TaskRecord& record, Role role);
    Result<void> hold(TaskRecord& record, const SpawnOrder& order);
    bool can_resume(const TaskRecord& record, const agents::HarnessEntry& harness, const agents::LaunchRequest& launch,
                    Role role) const;
    Awaitable<void> close_dead_windows(const TaskRecord& record);
    void tell_started(const TaskRecord& record, const AgentRun& run, bool respawn);

    World& world_;
    Turns& turns_;
    Room& room_;
    std::function<void(const TaskId&, const AgentRun&)> started_ = [](const TaskId&, const AgentRun&) {};
    std::set<std::string> listing_;  ///< runs whose programs are asked for their conversations
    std::map<std::pair<std::string, Role>, AgentRun> unlisted_;  ///< of tasks: the last run, if nobody knows its
                                                                 ///< conversation; only while the task is active
};

}  // namespace orange
