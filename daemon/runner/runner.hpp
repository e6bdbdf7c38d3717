#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/edit.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/engine/explain.hpp"
#include "daemon/runner/agent_control.hpp"
#include "daemon/runner/merges.hpp"
#include "daemon/runner/task_mover.hpp"
#include "daemon/runner/world.hpp"

/// The one door through which a task changes. Requests (rpc) and events (monitor) end in the same path:
///
///   lock the task → bring both copies of TASK.md in step → parse the sections → engine::decide → prepare (take a
///   workspace) → write status and intent in one rename (the commit point) → run the actions, each marked done →
///   history → intent removed.
///
/// Whatever goes wrong before the commit point has changed nothing. Whatever goes wrong after it is resumed: by the
/// same call, or by resume() in the next daemon, from the intent. There is no third way to change a status.
namespace orange {

class Runner : private TaskMover {
  public:
    Runner(World& world, AgentControl& agents);

    /// Creates a task in the workflow's initial state and, unless `no_spawn`, starts it (or queues it): in
    /// `record.start` where that is set. A state that needs no agent is entered at once. Everything that can be refused
    /// is refused before anything is written; a daemon that is killed leaves no task, or a whole one.
    Awaitable<Result<Outcome>> create(TaskRecord record, std::string context, bool no_spawn, Caller by);

    /// Moves a task: steps 1–9 of a transition. `edit` is applied first; both or neither.
    Awaitable<Result<Outcome>> request(TaskId id, engine::Request request, Caller by, Edit edit);

    /// Changes fields without a transition.
    Awaitable<Result<Outcome>> edit(TaskId id, Edit edit, Caller by);

    /// Starts a pending task now, or puts it into its project's queue.
    Awaitable<Result<Outcome>> spawn(TaskId id, Caller by);

    /// Starts the dead agent of the task's state again. Not a transition.
    Awaitable<Result<Outcome>> respawn(TaskId id, Caller by);

    /// Whether the role's agent died without Orange ending it and was not started again since, or does not run although
    /// the task's state wants it.
    bool is_dead(const TaskRecord& record, Role role);

    /// Removes an ended task and its files.
    Awaitable<Result<Outcome>> remove(TaskId id, Caller by, bool force = false);

    Awaitable<Result<Outcome>> acknowledge(TaskId id);
    Awaitable<Result<Outcome>> send(TaskId id, Role to, std::string text);

    /// A run's process is gone, as far as somebody saw. Idempotent: one death counts once.
    Awaitable<void> agent_exited(TaskId id, RunId run);

    /// TASK.md changed somewhere, or might have: brings the copies in step.
    Awaitable<void> body_changed(TaskId id);

    /// Delivers what waits in the outbox. True where nothing is left.
    Awaitable<bool> deliver(TaskId id);

    /// Gives back workspaces of a project that no living task holds; those of ended tasks whose release had failed,
    /// too.
    Awaitable<Result<std::vector<std::string>>> collect_workspaces(Project project);

    /// Tries again to free the workspaces of ended tasks whose release was refused, where nobody works in them any
    /// more.
    Awaitable<void> release_left_over();

    /// Tries queues again that stand still because their repository did not answer or the disk was full.
    Awaitable<void> restart_queues();

    /// Asks for attention where a living agent waits for an answer in its window.
    Awaitable<void> look_for_dialogs(TaskId id);

    /// Finds out what became of agents that were being started when tmux did not answer.
    Awaitable<void> settle_starting(TaskId id);

    /// At start: finishes an interrupted transition, adopts what was being started.
    Awaitable<void> resume(TaskId id);

    /// Starts queued tasks of a project, first in first out, as workspaces allow. Returns at once.
    void kick(const std::string& project);
    /// The same, awaited.
    Awaitable<void> run_queue(std::string project);
    /// Its workspace is being made ready; that holds the task's lock, and may take minutes.
    bool is_starting(const TaskId& id) const { return starting_.contains(id); }

    /// Every way out of the task's state, and what is missing for it.
    Awaitable<Result<std::vector<engine::EdgeExplanation>>> explain(TaskId id);

    Result<workflow::Library::DefinitionPtr> definition_of(const Task& task);

    /// Called after each change of a task: the monitor adjusts its watches.
    void on_changed(std::function<void(const TaskId&)> observer) { changed_ = std::move(observer); }

    World& world() { return world_; }
    AgentControl& agents() { return agents_; }
    Merges& merges() { return merges_; }

  private:
    /// A workspace that is ready for a transition that is not committed yet.
    struct Prepared {
        std::string workspace;  ///< empty: none was needed
        std::string task_file;
        std::string branch_start;
        std::vector<std::string> notes;
    };

    Result<TaskRecord> record_of(const TaskId& id) const;
    store::Copies copies_of(const TaskRecord& record) const;
    Awaitable<Result<Stepped>> step_bodies(TaskRecord& record) override;

    /// Whether the task's workflow lets this caller do that now, sections apart.
    bool is_open(const TaskId& id, engine::Request request, const Caller& by);
    Result<void> authorize(const TaskRecord& record, const Caller& by, const engine::Request& request) const;
    Awaitable<Result<Outcome>> request_locked(TaskRecord record, engine::Request request, Caller by, Edit edit);
    static Intent intent_of(const engine::Decision& decision, const Caller& by, Timestamp at);
    /// Steps 5 to 9. `record` may differ from what is saved in what an edit changes; `moved_branch`: in git already.
    Awaitable<Result<Outcome>> perform(TaskRecord record, workflow::Library::DefinitionPtr definition,
                                       engine::Decision decision, Stepped stepped, Caller by, bool moved_branch);
    Awaitable<Result<Outcome>> perform(TaskRecord record, workflow::Library::DefinitionPtr definition,
                                       engine::Decision decision, Stepped stepped, Caller by) override;
    void changed(const TaskId& id) override { changed_(id); }
    /// Step 5. Nothing where the transition needs no workspace, or the task has one. Failing has changed nothing.
    Awaitable<Result<Prepared>> prepare(TaskRecord record, engine::Decision decision);
    Awaitable<void> give_back(TaskRecord record, Prepared prepared);
    /// All fields of an edit, in `record` alone, but for the branch of a task with a workspace: that is git's too.
    Awaitable<Result<void>> set_fields(TaskRecord& record, const Edit& edit, Caller by);
    Awaitable<void> note_reviewed_commit(TaskRecord& record);
    Awaitable<Outcome> finish(TaskRecord record, workflow::Library::DefinitionPtr definition);
    /// An ended task has nobody left to read them: what a human said is kept in its history.
    void drop_messages(TaskRecord& record, Outcome& outcome);
    /// The transition into history, once, however often it is tried.
    Result<void> tell(const TaskRecord& record, const Intent& intent);
    Awaitable<Result<TaskRecord>> settled(TaskId id) override;
    Awaitable<std::vector<std::string>> run_actions(TaskRecord& record, const engine::Definition& definition);
    void remember_readiness(TaskRecord& record, const Caller& by, const Error& refused);

    /// Brings TASK.md in step with what was changed.
    Awaitable<void> show(TaskRecord& record, Outcome& outcome);
    /// The commit point: writes the record, and into history what differs from `before` beside the status. Failing
    /// leaves the branch as it was, where an edit has `moved_branch`. Returns notes for the caller.
    Awaitable<Result<std::vector<std::string>>> commit(TaskRecord before, TaskRecord& changed, Caller by,
                                                       bool moved_branch);
    /// What set_fields() did to the branch in git, undone.
    Awaitable<void> take_back_branch(TaskRecord before, TaskRecord changed);
    Awaitable<Result<void>> change_branch(TaskRecord& record, std::string branch);
    Awaitable<Result<void>> take_over_branch(TaskRecord& record);
    /// The definition that the task would be moved over to, or why not.
    Result<workflow::Library::DefinitionPtr> workflow_for(const TaskRecord& record, const std::string& name,
                                                          const Caller& by);
    Result<void> change_workflow(TaskRecord& record, const std::string& name, const Caller& by);
    /// A transition cannot be finished without its definition: where that is lost, moving over comes before it.
    Result<void> leave_lost_workflow(const TaskId& id, const Edit& edit, const Caller& by);
    void tell_workflow(const TaskRecord& record, const std::string& from);
    Result<void> set_harnesses(TaskRecord& record, const Edit& edit);
    Awaitable<void> rename_session(TaskRecord& record);

    Awaitable<void> handle_exit(TaskRecord record, AgentRun run);
    Awaitable<void> handle_crash(TaskRecord record, workflow::Library::DefinitionPtr definition, AgentRun run,
                                 engine::Crash crash, std::map<std::string, Scalar> exited);
    /// A workspace for a task that has none, saved at once.
    Awaitable<Result<void>> take_workspace(TaskRecord& record, Outcome& outcome);
    /// The agent that the task's state needs, where it is not alive; which one that is.
    Awaitable<Result<Role>> start_again(TaskRecord& record, const engine::Definition& definition);
    Awaitable<void> advance_after(TaskRecord record, workflow::Library::DefinitionPtr definition,
                                  engine::Advance advance, Stepped stepped, AgentRun run,
                                  std::map<std::string, Scalar> exited);
    bool many_die(const RunId& run);

    Awaitable<Result<Outcome>> enter_at_once(TaskRecord record, workflow::Library::DefinitionPtr definition);
    Result<void> tell_created(const TaskRecord& record);
    Awaitable<Result<Outcome>> start_pending(TaskRecord record, Caller by);
    Awaitable<Result<Outcome>> start_now(TaskRecord record, Caller by);
    Awaitable<void> run_queue_soon(std::string project);
    /// What was done, or why not; empty where nothing was to be done.
    Awaitable<std::string> make_workspace_anew(TaskId id);
    Awaitable<Result<void>> remake_workspace(TaskRecord& record);
    bool has_its_folder(const TaskRecord& record) const;
    void tell_mended(const TaskId& id, const std::string& workspace, const git::Mended& mended);
    Awaitable<Result<void>> release_ended(TaskRecord& record);
    Awaitable<void> sync_soon(TaskId id);
    std::string waits(const TaskRecord& record) const;
    void enqueue(TaskRecord& record);
    bool is_next(const TaskRecord& record) const;

    /// Starts of one turn of the queue that have not ended.
    struct Starts {
        explicit Starts(const async::Executor& executor) : ended(executor) {}
        int under_way = 0;
        async::Notifier ended;
    };
    Awaitable<void> mark_dialogs(TaskRecord& record);
    bool waits_too_long(const TaskId& id, const Message& message);
    bool has_room(const Project& project) const;
    Awaitable<bool> repository_answers(std::string project);
    Awaitable<void> start_queued(TaskId id, std::shared_ptr<Starts> starts);

    World& world_;
    AgentControl& agents_;
    Merges merges_;
    std::function<void(const TaskId&)> changed_ = [](const TaskId&) {};
    std::map<TaskId, Outcome> starts_;  ///< of tasks that create() waits for
    /// The message that a task's outbox is held up by, and since when this daemon has tried it. By the steady clock: a
    /// wall clock that is set, or a machine that slept, is no patience of an agent's.
    struct Undelivered {
        std::string message;
        std::chrono::steady_clock::time_point since;
    };
    std::map<TaskId, Undelivered> undelivered_;
    std::set<TaskId> syncing_soon_;
    std::map<TaskId, std::chrono::steady_clock::time_point> release_tried_;  ///< of ended tasks, that failed
    std::set<std::string> stalled_;  ///< projects whose queue stands still: no task of theirs could be started
    std::set<TaskId> starting_;      ///< tasks whose start is under way
    std::map<std::string, std::chrono::steady_clock::time_point> recent_crashes_;  ///< by run
    std::int64_t next_seq_ = 0;
};

}  // namespace orange
