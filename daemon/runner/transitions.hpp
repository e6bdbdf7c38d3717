#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/engine/explain.hpp"
#include "daemon/runner/agent_control.hpp"
#include "daemon/runner/edits.hpp"
#include "daemon/runner/turns.hpp"
#include "daemon/runner/waiting.hpp"

namespace orange {

/// Performs changes of status. A caller that has a decision of the engine (for a request, an agent's end, a merge, the
/// queue) performs it here, in a turn of the task. engine/enter.hpp makes the record that the commit point writes.
///
///   prepare (take a workspace) → write status and intent in one rename (the commit point) → TASK.md shows it → run the
///   actions, each marked done → history → intent removed.
///
/// A failure before the commit point has changed nothing. After a failure behind it, the same call, the next turn, or
/// the next daemon finishes the transition, from the intent.
class Transitions {
  public:
    Transitions(World& world, AgentControl& agents, Turns& turns, Edits& edits, Waiting& waiting)
        : world_(world), agents_(agents), turns_(turns), edits_(edits), waiting_(waiting) {}

    /// Begins a turn of a task (Turns::begin_turn), and finishes an interrupted transition first: `record` has no
    /// intent.
    Awaitable<Result<TaskTurn>> begin_turn(TaskId id);
    /// The second half of it, for a turn that has begun.
    Awaitable<Result<void>> finish_interrupted(TaskRecord& record);

    /// `record` may differ from what is saved in what an edit changes; `moved_branch`: in git already.
    Awaitable<Result<Outcome>> perform(TaskRecord record, workflow::Library::DefinitionPtr definition,
                                       engine::Decision decision, Stepped stepped, Caller by,
                                       bool moved_branch = false);
    /// Does all that comes after the commit point. `record` has an intent.
    Awaitable<Outcome> finish(TaskRecord record, workflow::Library::DefinitionPtr definition);

    /// Releases the workspace that `record` has, which was taken for a transition that failed.
    Awaitable<void> give_back(TaskRecord record);

    /// Releases the workspace of a task whose agent could not be started: no agent has worked there, and other tasks
    /// may wait for it. The next start takes one again. Nothing if an agent runs, or will be started.
    Awaitable<void> release_unstarted(TaskRecord& record, const engine::Definition& definition);

    /// Returns every way out of the task's state, and what is missing for it.
    Awaitable<Result<std::vector<engine::EdgeExplanation>>> explain(TaskId id);

  private:
    /// A workspace that is ready for a transition that is not committed yet.
    struct Prepared {
        std::string workspace;  ///< empty: none was needed
        std::string task_file;
        std::string branch_start;
        std::optional<std::map<std::string, std::string>> programs;
        std::vector<std::string> notes;
    };
    /// Takes a workspace if the transition needs one and the task has none. A failure has changed nothing.
    Awaitable<Result<Prepared>> prepare(TaskRecord record, engine::Decision decision);
    static void take_over(TaskRecord& record, const Prepared& prepared);
    Awaitable<void> note_reviewed_commit(TaskRecord& record);
    /// Returns notes for the caller that asked for the transition.
    Awaitable<std::vector<std::string>> run_actions(TaskRecord& record, const engine::Definition& definition);
    /// Raises notices for actions that failed, and adds notes.
    void mark_failures(TaskRecord& record, const engine::Definition& definition, Outcome& outcome);
    /// Keeps the intent, because the history does not have the transition yet: the next poll, request or daemon tries
    /// again.
    void keep_intent(TaskRecord& record, const Error& not_told, Outcome& outcome);
    /// Removes the intent, because the history has the transition.
    Awaitable<void> conclude(TaskRecord& record, const engine::Definition& definition, Outcome& outcome);
    /// Drops the messages of a task that has ended; its history keeps those of humans.
    void drop_messages(TaskRecord& record, Outcome& outcome);
    /// Writes the transition into the history, once, even if it is called several times.
    Result<void> write_history(const TaskRecord& record, const Intent& intent);

    World& world_;
    AgentControl& agents_;
    Turns& turns_;
    Edits& edits_;
    Waiting& waiting_;
};

}  // namespace orange
