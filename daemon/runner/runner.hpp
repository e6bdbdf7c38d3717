#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/engine/explain.hpp"
#include "daemon/git/merge.hpp"
#include "daemon/runner/agent_control.hpp"
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

/// What a call tells its human beside the task itself.
struct Outcome {
    std::vector<std::string> notes;
    std::string spawn_error;  ///< why an agent that was to start did not; empty: all did
};

/// Fields that may be changed outside transitions; all or nothing.
struct Edit {
    std::optional<std::string> summary;
    std::optional<std::string> branch;  ///< rename to a new name, or switch to an existing branch
    bool sync_branch = false;           ///< take over what the workspace is on
    std::optional<std::string> workflow;
    std::optional<std::string> harness;
    std::optional<std::string> review_harness;
    std::optional<std::string> effort;  ///< empty: none
    std::optional<std::string> review_effort;
    std::optional<std::string> feedback;
    bool any() const {
        return summary || branch || sync_branch || workflow || harness || review_harness || effort || review_effort ||
               feedback;
    }
};

/// What a human asks for with `orange task merge`.
struct MergeOrder {
    git::MergeStrategy strategy = git::MergeStrategy::merge;
    bool force = false;             ///< merge although something has to be confirmed
    bool push = true;               ///< to origin, if there is one
    bool keep_branch = false;       ///< leave the local branch when the task is done
    bool include_unpushed = false;  ///< publish the user's own commits of the target with it
    std::string tip = {};           ///< the commit that the human was shown; empty: whichever
};

/// Something that a human has to confirm before a merge.
struct MergeConcern {
    std::string text;         ///< the fact, as the merge commit and the history repeat it
    std::string question;     ///< for a terminal
    std::string advice = {};  ///< what to do instead
};

struct MergeOutcome {
    std::string commit;      ///< what the target is at, or the commit that brought the work
    bool pushed = false;     ///< origin has it too
    bool elsewhere = false;  ///< it was there already: nothing was merged
    std::string forced;      ///< what was confirmed; empty: nothing had to be
    std::vector<std::string> notes;
};

class Runner {
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

    /// Merges the task's branch and moves it to `done`; finishes a merge that was interrupted; success for a task that
    /// was merged already. needs_force names what a human has to confirm (`details`: facts, question, tip).
    Awaitable<Result<MergeOutcome>> merge(TaskId id, MergeOrder order, Caller by);

    /// The same needs_force for a task that could be merged otherwise, without beginning anything.
    Awaitable<Result<void>> check_merge(TaskRecord record);

    /// A sentence about a merge that was begun and not finished; empty if there is none.
    static std::string merge_under_way(const TaskRecord& record);

    /// Removes what merges of killed daemons left in the project's repository and beside its workspaces.
    Awaitable<void> remove_left_merges(Project project);

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

  private:
    struct Stepped {
        engine::Artifacts artifacts;
        std::string body;
        std::optional<std::string> attention_before;  ///< what a transition clears; what came with this look stays
    };

    /// A workspace that is ready for a transition that is not committed yet.
    struct Prepared {
        std::string workspace;  ///< empty: none was needed
        std::string task_file;
        std::string branch_start;
        std::vector<std::string> notes;
    };

    Result<TaskRecord> record_of(const TaskId& id) const;
    store::Copies copies_of(const TaskRecord& record) const;
    Awaitable<Result<Stepped>> step_bodies(TaskRecord& record);

    /// Whether the task's workflow lets this caller do that now, sections apart.
    bool is_open(const TaskId& id, engine::Request request, const Caller& by);
    Result<void> authorize(const TaskRecord& record, const Caller& by, const engine::Request& request) const;
    Awaitable<Result<Outcome>> request_locked(TaskRecord record, engine::Request request, Caller by, Edit edit);
    static Intent intent_of(const engine::Decision& decision, const Caller& by, Timestamp at);
    /// Steps 5 to 9. `record` may differ from what is saved in what an edit changes; `moved_branch`: in git already.
    Awaitable<Result<Outcome>> perform(TaskRecord record, workflow::Library::DefinitionPtr definition,
                                       engine::Decision decision, Stepped stepped, Caller by,
                                       bool moved_branch = false);
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
    /// The task's record without an intent: what was interrupted is finished first.
    Awaitable<Result<TaskRecord>> settled(TaskId id);
    Awaitable<void> run_actions(TaskRecord& record, const engine::Definition& definition);
    Error explained(Error error, const engine::Definition& definition, const engine::Situation& situation,
                    const Caller& by) const;
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

    struct MergeRun;  ///< one merge at work
    enum class MergeStart { asked, forced, resumed };
    Awaitable<Result<std::string>> commits_since_review(std::string repo, std::string seen, std::string tip,
                                                        std::string branch, std::string target);
    /// All that a human has to confirm before this commit is merged, but for a state that is not reviewed.
    Awaitable<Result<std::vector<MergeConcern>>> merge_concerns(TaskRecord record, std::string tip);
    static Error confirmation(const TaskId& id, const std::vector<MergeConcern>& concerns, const std::string& tip);
    /// The commit that may be merged; `forced`: what had to be confirmed, and was.
    Awaitable<Result<std::string>> confirmed_tip(TaskRecord& record, const engine::Definition& definition,
                                                 MergeOrder order, Caller by, std::string& forced);
    Awaitable<Result<std::vector<std::string>>> notes_before_merge(TaskRecord record);
    std::map<std::string, std::string> unpushed_merges(const std::string& project) const;
    git::MergeRequest merge_request(const TaskRecord& record, const Project& project) const;
    Awaitable<Result<MergeOutcome>> run_merge(TaskRecord record, std::vector<std::string> notes, MergeStart start);
    Awaitable<Result<void>> merge_steps(MergeRun& run);
    Awaitable<Result<void>> publish_merge(MergeRun& run);
    Awaitable<Result<bool>> is_published(MergeRun& run);
    Awaitable<Result<void>> build_merge(MergeRun& run);
    Awaitable<Result<void>> find_elsewhere(MergeRun& run, std::string target);
    Awaitable<Result<void>> check_tip(MergeRun& run);
    static Result<void> check_own_commits(MergeRun& run);
    Awaitable<Result<std::string>> commit_on(MergeRun& run, std::string base);
    Awaitable<Result<git::PushAnswer>> push_once(MergeRun& run);
    static Error not_landed(MergeRun& run, const git::PushAnswer& answer);
    Error with_next_step(MergeRun& run, Error conflict);
    Awaitable<Result<void>> complete_merge(MergeRun& run);
    Awaitable<void> follow_locally(MergeRun& run);
    Awaitable<Error> merge_failed(MergeRun& run, Error error, bool resumed);
    /// A merge of an earlier call that is not finished: undone if nothing was published, else finished.
    Awaitable<Result<MergeOutcome>> finish_merge(TaskRecord record);
    Awaitable<void> resume_merge(TaskRecord record);
    Awaitable<Result<bool>> was_published(MergeRecord merge, Project project);
    /// Before something else is done to the task: undoes an unfinished merge in `record`, which the caller saves.
    /// conflict if it is published; unavailable if nobody can say so, unless `force`. Returns notes.
    Awaitable<Result<std::vector<std::string>>> give_up_merge(TaskRecord& record, bool force);

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
    async::KeyedMutex merges_;  ///< one a repository, taken after a task's lock and before the repository's own
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
    std::map<TaskId, std::chrono::steady_clock::time_point> merge_tried_;    ///< of unfinished merges
    std::set<std::string> stalled_;  ///< projects whose queue stands still: no task of theirs could be started
    std::set<TaskId> starting_;      ///< tasks whose start is under way
    std::map<std::string, std::chrono::steady_clock::time_point> recent_crashes_;  ///< by run
    std::int64_t next_seq_ = 0;
};

}  // namespace orange
