#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/engine/explain.hpp"
#include "daemon/runner/transitions/edits.hpp"

namespace orange {

/// Changes the status of tasks. A caller asks for a status, or has a decision of the engine already (for an agent's
/// end, a merge, passed checks). transitions.cpp tells the story of a transition in the order in which it happens.
///
/// A failure before the commit point has changed nothing. After a failure behind it, the same call, the next turn, or
/// the next daemon finishes the transition, from the intent.
class Transitions : Owner {
  public:
    using Owner::Owner;

    /// Begins a turn of a task (Turns::begin_turn), and finishes an interrupted transition first: `record` has no
    /// intent.
    Awaitable<Result<TaskTurn>> begin_turn(TaskId id);
    /// Finishes an interrupted transition, for a turn that has begun.
    Awaitable<Result<void>> finish_interrupted(TaskRecord& record);

    /// Decides on a request, and performs the transition, in a turn of a task without an intent. `edit` is applied
    /// first and saved with the transition; a refusal changes no field. If checks have to run first, the request is
    /// refused, and `checks` gets them.
    Awaitable<Result<Outcome>> request(TaskRecord record, engine::Request request, Caller by, Edit edit,
                                       std::optional<engine::AwaitChecks>* checks = nullptr);

    /// Performs a decision. `record` may differ from the saved one in what the cause of the transition changes.
    Awaitable<Result<Outcome>> perform(TaskRecord record, workflow::Library::DefinitionPtr definition,
                                       engine::Decision decision, SyncedBodies synced, Caller by) {
        return perform(std::move(record), std::move(definition), std::move(decision), std::move(synced), std::move(by),
                       Edit{});
    }

    /// Does all that comes after the commit point. `record` has an intent.
    Awaitable<Outcome> finish(TaskRecord record, workflow::Library::DefinitionPtr definition);

    /// Releases the workspace that `record` has, which was taken for a transition that failed.
    Awaitable<void> give_back(TaskRecord record);

    /// Releases the workspace of a task whose agent could not be started: no agent has worked there, and other tasks
    /// may wait for it. The next start takes one again. Does nothing if an agent runs, or will be started.
    Awaitable<void> release_unstarted(TaskRecord& record, const engine::Definition& definition);

    /// Returns every way out of the task's state, and what is missing for it.
    Awaitable<Result<std::vector<engine::EdgeExplanation>>> explain(TaskId id);

  private:
    /// A transition that can be committed: its record has the edit and the workspace.
    struct Prepared : Edited {
        std::string workspace;  ///< taken for the transition; empty: none was needed
        std::vector<std::string> notes;
    };
    Awaitable<Result<void>> send_comments(TaskRecord& record, Edit& edit, const Caller& by, std::string to,
                                          std::string body);
    Awaitable<Result<SyncedBodies>> read_bodies(TaskRecord& record, const engine::Definition& definition,
                                                const engine::Request& request);
    void remember_readiness(TaskRecord& record, const engine::Definition& definition, const Caller& by,
                            const engine::Refusal& refusal);
    /// Does everything that can fail and be undone. A failure has changed nothing.
    Awaitable<Result<Prepared>> prepare(TaskRecord record, const engine::Definition& definition,
                                        const engine::Decision& decision, const Edit& edit, Caller by);
    Awaitable<Result<void>> take_workspace(Prepared& prepared, const engine::Decision& decision);
    Awaitable<Result<void>> take_over_work(const TaskRecord& record);
    Awaitable<void> undo(Prepared prepared);
    Awaitable<Result<Outcome>> perform(TaskRecord record, workflow::Library::DefinitionPtr definition,
                                       engine::Decision decision, SyncedBodies synced, Caller by, Edit edit);
    Awaitable<void> note_handover(Prepared& prepared, const engine::Definition& definition);
    Awaitable<void> note_reviewed_commit(TaskRecord& record);
    Awaitable<void> take_workspace_again(TaskRecord& record);
    /// Returns notes for the caller that asked for the transition.
    Awaitable<std::vector<std::string>> run_actions(TaskRecord& record, const engine::Definition& definition);
    void put_off_starts(TaskRecord& record);
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
};

}  // namespace orange
