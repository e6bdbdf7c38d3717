#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/async/slots.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/runner/transitions/turns.hpp"

namespace orange {

/// Handles the ends of agents. Exit notifications and the poll both call agent_exited(). A death counts once, because
/// the write that counts it also removes the run from state.json. If TASK.md, the workflow or the disk cannot be used,
/// the run stays in the record, and the poll reports the same end again.
///
/// The meaning of an end is decided by engine/exit.cpp: an agent that leaves without what its status asks for has
/// crashed, also with exit status 0. It computes the number of crashes; handle_crash() or advance_after() saves it, and
/// each transition clears it.
class Exits : Owner {
  public:
    using Owner::Owner;

    /// Handles the end of a run. Changes nothing if the run still lives or was already handled.
    Awaitable<void> agent_exited(TaskId id, RunId run) { return agent_exited(std::move(id), std::move(run), {}); }

    /// Called after an agent was started. Waits until the agent's program has run for 20 ms, or at most 100 ms if that
    /// cannot be seen (an executor). If the agent has ended by then, handles the end, releases a workspace in which
    /// nothing has changed, and returns why the agent ended; empty if it lives. If a program needs longer to fail, only
    /// its notice reports that, and its task keeps the workspace.
    Awaitable<std::string> failed_start(TaskId id);
    /// Called when the program of one of the task's agents may have begun.
    void look_at_start(const TaskId& id);

    /// True while a crashed agent of the task is being started again, so that its notice does not ask for the human
    /// yet. The record is saved when that ends.
    bool is_restarting(const TaskId& id) const { return restarting_.contains(id); }

    /// True while it is not decided yet what follows the end of an agent.
    bool are_under_way() const { return under_way_.use_count() > 1; }

  private:
    /// An agent's end, as its shim, its window and the kernel report it.
    struct End {
        AgentRun run;
        agents::RunEnd how;
        bool is_lost = false;          ///< the tmux server ended with the agent
        bool by_itself = false;        ///< with an exit status from 1 to 127, and not by its executor
        bool moved_task = false;       ///< the task changed its state since the agent started
        Timestamp::duration age = {};  ///< age of the run at its end
        std::string ended_as;          ///< the state in which its executor ended it; empty if it did not
        std::string used_up;           ///< who ended the agent because of what it used, and why; empty if nobody did
        std::map<std::string, Scalar> fields;  ///< the fields of agent.exited
        std::shared_ptr<void> under_way;       ///< dropped when it is decided and saved what follows
    };

    /// `unchecked` is the reason why the checks that this end waited for cannot run; otherwise empty.
    Awaitable<void> agent_exited(TaskId id, RunId run, std::string unchecked);
    Awaitable<void> handle_exit(TaskRecord record, AgentRun run, std::string unchecked,
                                std::shared_ptr<void> under_way);
    /// Finds out whether the executor has ended the run itself, and saves the answer in the record, before Orange ends
    /// there what is left of it: from then on the executor would name that. Returns false if the end has to wait.
    Awaitable<bool> ask_executor(TaskRecord& record, AgentRun& run);
    Awaitable<End> reap(TaskRecord& record, AgentRun run, std::vector<process::StrayProcess> left);
    /// Undoes the start of a run whose executor ended before the agent had begun, for example because of a missing
    /// program. It does not count as a crash.
    Awaitable<void> undo_start(TaskRecord record, End end);
    void keep_for_later(const TaskId& id, Role role, const std::string& problem);
    void end_without_rule(TaskRecord& record, const End& end, const std::string& problem);
    Awaitable<void> apply_rules(TaskRecord record, workflow::Library::DefinitionPtr definition, SyncedBodies synced,
                                End end, std::string unchecked);
    std::optional<agents::Reading> limit_behind(const TaskRecord& record, const engine::Definition& definition,
                                                const End& end) const;
    /// True if the program could not continue its conversation.
    static bool has_failed_to_resume(const End& end);
    Awaitable<engine::ExitOutcome> decide(const TaskRecord& record, const engine::Definition& definition,
                                          const SyncedBodies& synced, const End& end, std::string unchecked);
    void wait_for_checks(const TaskId& id, const RunId& run, engine::AwaitChecks wanted);
    Awaitable<void> end_with_executor(TaskRecord record, End end);
    Awaitable<void> follow_rule(TaskRecord record, workflow::Library::DefinitionPtr definition,
                                engine::ExitOutcome outcome, SyncedBodies synced, End end);
    void explain_death(const TaskRecord& record, const End& end, engine::ExitOutcome& outcome) const;
    Awaitable<void> handle_crash(TaskRecord record, workflow::Library::DefinitionPtr definition, End end,
                                 engine::Crash crash);
    Awaitable<void> advance_after(TaskRecord record, workflow::Library::DefinitionPtr definition,
                                  engine::Advance advance, SyncedBodies synced, End end);
    Awaitable<void> wait_for_start(TaskId id, AgentRun run, Path run_folder);
    /// Returns the first and the last lines of a run's output, joined to one line.
    std::string lines_of(const TaskRecord& record, const AgentRun& run, std::size_t first, std::size_t last) const;
    /// True if the task's worktree has no changes, and no process works in it.
    Awaitable<bool> is_untouched(const TaskRecord& record);
    /// Releases the workspace of a task whose agent has not begun to work.
    Awaitable<void> give_back_untouched(TaskId id);
    std::optional<agents::Reading> usage_limit_of(const TaskRecord& record, const AgentRun& run) const;
    Awaitable<void> begin_anew(TaskRecord record, workflow::Library::DefinitionPtr definition, End end, bool fresh);
    /// Starts a dead agent again, as soon as few enough others are being started.
    Awaitable<Result<Role>> start_again(TaskRecord& record, const engine::Definition& definition, bool fresh);
    /// True if the run is in the record, and its agent has ended without Orange.
    bool is_unhandled(const TaskId& id, const RunId& run) const;

    /// The number of ends that are handled at a time, and of agents that are started again. Each starts programs, and a
    /// thousand agents may end at once.
    static constexpr std::size_t k_burials = 8;

    async::Slots burials_{world_.executor, k_burials}, restarts_{world_.executor, k_burials},
        placed_restarts_{world_.executor, k_burials};
    std::shared_ptr<void> under_way_ = std::make_shared<char>();  ///< each end that is being handled has a copy
    std::set<TaskId> restarting_;
    using Starts = std::multimap<TaskId, std::shared_ptr<async::Wakeup>>;
    /// The calls of failed_start() that wait. They may outlive this object.
    std::shared_ptr<Starts> starts_ = std::make_shared<Starts>();
};

}  // namespace orange
