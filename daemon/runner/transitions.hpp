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

/// The way of a status change; engine/enter.hpp makes the record that the commit point writes. Whoever has a decision
/// of the engine's (a request, an agent's end, a merge, the queue) performs it here, in a turn of the task's:
///
///   prepare (take a workspace) → write status and intent in one rename (the commit point) → TASK.md shows it → run the
///   actions, each marked done → history → intent removed.
///
/// Whatever goes wrong before the commit point has changed nothing. Whatever goes wrong after it is finished by the
/// same call, by the next turn, or by the next daemon, from the intent.
class Transitions {
  public:
    Transitions(World& world, AgentControl& agents, Turns& turns, Edits& edits, Waiting& waiting)
        : world_(world), agents_(agents), turns_(turns), edits_(edits), waiting_(waiting) {}

    /// A turn of a task without an intent: what was interrupted is finished first.
    Awaitable<Result<TaskTurn>> take(TaskId id);
    /// The same for a turn that was taken.
    Awaitable<Result<void>> settle(TaskRecord& record);

    /// `record` may differ from what is saved in what an edit changes; `moved_branch`: in git already.
    Awaitable<Result<Outcome>> perform(TaskRecord record, workflow::Library::DefinitionPtr definition,
                                       engine::Decision decision, Stepped stepped, Caller by,
                                       bool moved_branch = false);
    /// All that comes after the commit point. `record` has an intent.
    Awaitable<Outcome> finish(TaskRecord record, workflow::Library::DefinitionPtr definition);

    /// A workspace that was taken for what did not come about. `record` has it.
    Awaitable<void> give_back(TaskRecord record);

    /// Releases the workspace of a task whose agent could not be started: no agent has worked there, and other tasks
    /// may wait for it. The next start takes one again. Nothing if an agent runs, or will be started.
    Awaitable<void> release_unstarted(TaskRecord& record, const engine::Definition& definition);

    /// Every way out of the task's state, and what is missing for it.
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
    /// Nothing where the transition needs no workspace, or the task has one. Failing has changed nothing.
    Awaitable<Result<Prepared>> prepare(TaskRecord record, engine::Decision decision);
    static void take_over(TaskRecord& record, const Prepared& prepared);
    Awaitable<void> note_reviewed_commit(TaskRecord& record);
    /// Returns notes for whoever asked for the transition.
    Awaitable<std::vector<std::string>> run_actions(TaskRecord& record, const engine::Definition& definition);
    /// Actions that failed, as an attention mark and notes.
    void mark_failures(TaskRecord& record, const engine::Definition& definition, Outcome& outcome);
    /// History misses no transition: the intent stays, and the next poll, request or daemon tries again.
    void keep_intent(TaskRecord& record, const Error& not_told, Outcome& outcome);
    /// History has the transition: the intent goes.
    Awaitable<void> conclude(TaskRecord& record, const engine::Definition& definition, Outcome& outcome);
    /// An ended task has nobody left to read them: what a human said is kept in its history.
    void drop_messages(TaskRecord& record, Outcome& outcome);
    /// The transition into history, once, however often it is tried.
    Result<void> tell(const TaskRecord& record, const Intent& intent);

    World& world_;
    AgentControl& agents_;
    Turns& turns_;
    Edits& edits_;
    Waiting& waiting_;
};

}  // namespace orange
