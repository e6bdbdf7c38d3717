#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/agents/events.hpp"
#include "daemon/engine/definition.hpp"
#include "daemon/runner/transitions/turns.hpp"

/// The agents of tasks: a worker and a reviewer, each a *run* of a program in a window of the task's tmux session.
///
/// AgentControl starts and ends runs; the record has them, and a run is saved before its window opens. While a run
/// lives, Activities (activity.hpp) knows what its program does, Outbox (outbox.hpp) types messages into its window
/// when the program reads them, and UsageHolds (usage_holds.hpp) knows the harnesses at their limit. When a run has
/// ended, Exits (exits.hpp) buries it: the write that removes the run is the one that counts its end, and the
/// workflow's exit rules say what follows. Respawns (respawns.hpp) starts a dead agent again. No agent is believed
/// about its own end: the shim's exit record, the kernel and the executor are.
namespace orange {

/// Returns the permissions that the role's agent of this task gets from its harness: "full", "reduced" or "review".
/// `ordered` is the value of the action; if it is empty, the permissions of the role's first spawn apply.
std::string permissions_of(const engine::Definition& definition, const Task& task, Role role,
                           const std::string& ordered = {});

/// Returns the name of the harness with which the role's agent of this task starts in a status: as the workflow says
/// there (engine::harness_word), with the settings of now.
std::string harness_of(const World& world, const engine::Definition& definition, const Task& task, Role role,
                       std::string_view status);
/// Returns each harness that may start for the task, once: the worker's and the reviewer's, then what else its workflow
/// names.
std::vector<std::string> harnesses_of(const World& world, const engine::Definition& definition, const Task& task);
/// Returns the harnesses of the workflow's reviewers, each once, in the order of the states; none without a reviewer.
std::vector<std::string> reviewers_of(const World& world, const engine::Definition& definition, const Task& task);

/// Notes that the run has not begun: if it was to continue a copy of a conversation, the next run does.
inline void forget_copy(TaskRecord& record, const RunId& run) {
    if (!record.forked || record.forked->run != run) return;
    record.forked->run = {};
    std::erase_if(record.sessions, [](const NativeSession& each) { return each.role == Role::worker; });
}

/// An order to start a role's agent. Its harness is that of the task's status.
struct SpawnOrder {
    Role role = Role::worker;
    std::string prompt;       ///< key of the workflow's prompts
    std::string permissions;  ///< "full" or "reduced"; empty: those of the role's first spawn
    std::string intent;       ///< id of the intent that asks; empty for a respawn
    bool respawn = false;     ///< history gets agent.respawned
    bool resume = false;      ///< continue the program's own conversation if that is possible
};

/// Returns the order with which an agent that waits for room is started.
inline SpawnOrder order_of(const DeferredStart& held) {
    return {held.role, held.prompt, held.permissions, held.intent, held.respawn, held.resume};
}

/// Returns the order of an action that starts an agent. `intent`: id of the transition.
inline SpawnOrder order_of(const Action& action, Role role, const std::string& intent) {
    return {role, action.param("prompt"), action.param("permissions"), intent, false, false};
}

/// Starts and ends a task's worker and reviewer. Except for learn_session(), every function that changes a record is
/// called under the task's lock with that record. It saves the record wherever a crash must leave the truth: a run is
/// saved as `starting` before its window opens, so that the next daemon adopts it instead of starting another agent.
class AgentControl : Owner {
  public:
    using Owner::Owner;

    /// Registers the function that is called with each run that was started or adopted. The monitor then watches its
    /// exit.
    void on_started(std::function<void(const TaskId&, const AgentRun&)> observer) { started_ = std::move(observer); }

    /// Starts the role's agent. If one is alive, it gets the prompt as a message instead. If a limit leaves no room,
    /// the record keeps the order in `held`, the call succeeds, and the agent is started when there is room. Fails with
    /// conflict without a workspace, with not_found if the program or something that it needs is missing, and with
    /// unavailable if tmux does not answer.
    Awaitable<Result<void>> spawn(TaskRecord& record, const engine::Definition& definition, SpawnOrder order);

    /// Lets an agent whose start failed wait in `held` like one without room, so that it is started later. Does not
    /// save.
    void put_off(TaskRecord& record, const SpawnOrder& order) const;

    /// Saves the id of the calling agent's conversation if it is not known yet. The id is in the caller's environment,
    /// or in the program's list of conversations. Takes the task's lock.
    Awaitable<void> learn_session(Caller caller);

    /// Records the conversation that the run's program has named last: a person may have begun another one in its
    /// window. Does not save.
    void learn_conversation(TaskRecord& record, const AgentRun& run,
                            const std::optional<agents::Conversation>& told) const;
    /// Does the same for a run that has ended or is ended, from the file of its events. It has to be called before that
    /// is removed.
    void learn_last_conversation(TaskRecord& record, const AgentRun& run) const;

    /// Remembers an ended run whose conversation is not known. spawn() asks the program for it when it has to be
    /// continued.
    void has_ended(const TaskRecord& record, const AgentRun& run);

    /// Ends the role's agent. The run is saved as ending first, so that its exit triggers no rule. The window's
    /// scrollback goes to the log. When the call returns successfully, the agent's processes are gone.
    Awaitable<Result<void>> end(TaskRecord& record, Role role);

    /// Ends both agents and the task's tmux session.
    Awaitable<Result<void>> end_session(TaskRecord& record);

    /// Adopts or forgets runs that an interrupted start has left as `starting`. Changes nothing if tmux does not
    /// answer.
    Awaitable<void> settle_starting(TaskRecord& record);

    /// True if the role has an agent that lives, or may live because that cannot be determined now: a role must never
    /// have two agents.
    bool alive(const TaskRecord& record, Role role) const;
    agents::Liveness liveness(const TaskRecord& record, Role role) const;

    /// Returns the task's worktree; empty if it has none or another directory has replaced it.
    Path worktree_of(const TaskRecord& record) const {
        if (!record.task.workspace || world_.pool.is_replaced(*record.task.workspace)) return {};
        return world_.pool.path_of(*record.task.workspace);
    }
    Path run_folder(const TaskRecord& record) const { return world_.tasks.folder(record) / "run"; }
    /// Returns true if an agent of the task lives, or its end has begun and not come to an end.
    bool any_may_live(const TaskRecord& record) const {
        return std::ranges::any_of(record.runs,
                                   [&](const AgentRun& run) { return agents::may_live(liveness(record, run.role)); });
    }
    Path log_file(const TaskRecord& record, const AgentRun& run) const;

    /// Returns the whole environment of a task's agent (docs/files.md, "An agent's environment"). `program_path` is the
    /// PATH in which its program was found.
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
    /// True if the living agent is not the one that this order of a transition means: its workflow names another
    /// harness, or another choice of one, for the new status.
    bool is_anothers(const TaskRecord& record, const engine::Definition& definition, const SpawnOrder& order) const;
    /// Returns the folder of the task's workspace, if there is one to start an agent in.
    Result<Path> existing_workspace(const Task& task) const;
    void choose_session(const TaskRecord& record, agents::StartRequest& request) const;
    Result<void> note_starting(TaskRecord& record, const agents::StartRequest& request);
    Awaitable<Result<agents::Started>> open_window(TaskRecord& record, const agents::StartRequest& request);
    Result<void> note_started(TaskRecord& record, const SpawnOrder& order, const agents::Started& started);
    /// Writes the prompt to a file, and queues a message that names the file.
    Result<void> hand_over_prompt(TaskRecord& record, Role role, const std::string& prompt, const std::string& id);
    /// Returns the id of the run's conversation as its program lists it; empty if it is unknown.
    Awaitable<std::string> listed_session(const TaskRecord& record, const agents::HarnessEntry& entry, AgentRun run);
    Awaitable<void> find_session(TaskRecord& record, Role role);
    static void drop_held(TaskRecord& record, Role role);
    void forget_run(TaskRecord& record, Role role);
    /// Forgets a run that has never begun, also in the conversation that it was to continue.
    void forget_unbegun(TaskRecord& record, Role role);
    Result<void> continue_copy(const TaskRecord& record, const agents::HarnessEntry& harness, Role role,
                               agents::LaunchRequest& launch) const;
    Awaitable<bool> reap_dead(TaskRecord& record, Role role);
    Result<void> hold(TaskRecord& record, const SpawnOrder& order);
    bool can_resume(const TaskRecord& record, const agents::HarnessEntry& harness, const agents::LaunchRequest& launch,
                    Role role) const;
    Awaitable<void> close_dead_windows(const TaskRecord& record, const TmuxState& state);
    void tell_started(const TaskRecord& record, const AgentRun& run, bool respawn);

    std::function<void(const TaskId&, const AgentRun&)> started_ = [](const TaskId&, const AgentRun&) {};
    std::set<std::string> listing_;                              ///< runs for which listed_session() has been called
    std::map<std::pair<std::string, Role>, AgentRun> unlisted_;  ///< last runs with an unknown conversation, by task
};

}  // namespace orange
