#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/names.hpp"
#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/blocking.hpp"
#include "daemon/engine/children.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/engine/next.hpp"
#include "daemon/runner/transitions/turns.hpp"

/// The relatives of a task: the tasks that it waits for (its *blockers*), and the tasks that it was split into (its
/// *sub-tasks*).
///
/// A task that waits stays in the first state until all its blockers are done; then the queue may start it. A task that
/// was split waits in a state of its workflow until its sub-tasks have ended; what follows is decided by
/// engine/children.hpp. Each of the two notes in its own record which relatives are done, so that a deleted relative
/// counts on, and so that a killed daemon leaves the step to the next one. A task that ends wakes its parent and those
/// that wait for it (loop/reconciler.hpp).
///
/// A branch may stand on a relative's: see put_on_base().
namespace orange {

// The list of blockers in a record. These functions save nothing.

using engine::BlockerState;

/// Returns the state of a task that another one waits for.
BlockerState blocker_state(const World& world, const TaskId& id);
/// Returns what became of a task that will never be done: "is deleted".
std::string fate_of(const World& world, const TaskId& id);
/// Returns the blockers that the task still waits for, with the state of each.
std::vector<engine::Blocker> blockers_of(const World& world, const TaskRecord& record);

/// Appends the named tasks to the blockers of `record`. TaskStore::resolve() defines the names. conflict if a name is
/// the task itself, a task that has ended without success, or a task that waits for this one, or if the task has
/// started. invalid_argument above 100 blockers. On failure the record may be half changed; the caller drops it.
Result<void> add_blockers(const World& world, TaskRecord& record, const std::vector<std::string>& names);
/// Removes the named tasks from the blockers; the one that it is built on as build_on_none() does. A deleted task has
/// only its id. invalid_argument if the task does not wait for one of them.
Result<void> drop_blockers(const World& world, TaskRecord& record, const std::vector<std::string>& names);
/// Returns conflict, with the cycle in `details`, if the task waits for itself.
Result<void> check_cycle(const World& world, const TaskRecord& record);

/// Returns the blockers that the task still waits for, as people type them: "4f2a,7b1c".
std::string waits_text(const World& world, const TaskRecord& record);
/// Returns them for people: "4f2a,7b1c, and for 9c3d to be in review", where the last is the one that it is built on.
std::string waits_shown(const World& world, const TaskRecord& record);
/// Returns the blockers that will never be done, in the form of waits_text(); empty if there are none.
std::string gone_text(const World& world, const TaskRecord& record);
/// Returns a sentence with the blockers and the command that starts the task without them.
std::string waits_sentence(const World& world, const TaskRecord& record);

// The task that another one is built on (`--on`). Its branch begins at the commit of that one that was reviewed, and is
// compared with that commit (Task::base) until that one is done and its work is in the default branch.

/// Returns that task as it is now; nullopt if the task is built on none. No I/O.
std::optional<engine::Below> below_of(const World& world, const TaskRecord& record);

/// Makes the named task the one that `record`, a new task, is built on. invalid_argument if it is one of another
/// project; conflict if it is the task itself, waits for it, or will never be done.
Result<void> build_on(const World& world, TaskRecord& record, const std::string& name);
/// Makes the task built on none: its branch stays as it is, and is compared with the default branch.
void build_on_none(TaskRecord& record);
/// Called when the task is built on none any more, with the commit that it stood on. If its target lacks that commit,
/// the review, or that of its human, does not cover all that a merge brings: from then on it covers only what the
/// target has.
Awaitable<void> void_review(World& world, TaskRecord& record, std::string base);

/// Returns the commit with which the branch is compared as long as the other task is not done: the one that was
/// reviewed, or the tip of its branch if none was, or if its review is void. Empty if there is none yet.
Awaitable<Result<std::string>> commit_below(World& world, TaskRecord record);

/// Returns conflict as long as the task may not be merged, because the one that it is built on is not merged.
Result<void> check_below_is_merged(const World& world, const TaskRecord& record);

/// A step of the reconciler: lets the branch follow the task that it is built on. `record` is that of the task's turn.
///
/// - That one is in review again with another commit: the commit is merged into the branch.
/// - It is done, and the default branch has its commits: from now on the branch is compared with the default branch. If
///   the default branch has its changes in other commits (a squash), those of this task are made again on top of them.
///   The verdict of its review stays if the patch is the same (git patch-id); else it has to be reviewed again.
/// - It was sent back, or will never be done: the worker and the human are told.
///
/// Changes nothing while an agent works, or if files are edited or conflict: then the worker is told, its human too if
/// no agent works, and the result is a Hold. The move is written down before the branch moves, so each call may be
/// repeated after a crash.
Awaitable<Result<std::optional<engine::Hold>>> follow_below(Runner& runner, TaskRecord& record, engine::Below below);

// The sub-tasks of a task, and the transition of their parent when they have ended.

/// Returns the sub-tasks, oldest first. Those that were done and are deleted now come before the others, those with
/// unreadable files after them.
engine::Children children_of(const World& world, const TaskRecord& record);

/// Returns all tasks below this one that have not ended, each before its own sub-tasks.
std::vector<TaskId> open_below(const World& world, const TaskId& id);

/// Makes a new task a sub-task of `parent`, in its project. conflict if the parent has ended, has as many sub-tasks or
/// is as deep as the settings allow, or is a task that the new one waits for.
Result<void> adopt(const World& world, TaskRecord& record, const TaskRecord& parent);

/// Decides the transition of a task that waited for its sub-tasks (engine::decide_children). The decision may depend on
/// the commits of the branch, so git is asked in the task's turn; fails if git does.
Awaitable<Result<engine::ChildrenOutcome>> decide_after_children(Runner& runner, const TaskRecord& record);

/// True if the task needs a workspace for that transition and has none. The queue then performs it when one is free.
bool wants_workspace(const TaskRecord& record, const engine::ChildrenOutcome& outcome);

/// Performs that transition, once. If no transition is due any more, removes the task from the queue.
Awaitable<Result<Outcome>> move_after_children(Runner& runner, TaskRecord record);

// Steps of the reconciler for a task that waits for other tasks.

/// Notes in the record which blockers are done, and raises a notice about those that will never be done. If no blocker
/// is left, the queue may start the task. `record` is that of the task's turn. The call can be repeated after a crash:
/// history is written first, and an event that it already has is not written again.
Awaitable<Result<void>> note_blockers(Runner& runner, TaskRecord& record, engine::step::NoteBlockers ended);

// Steps of the reconciler for a task that was split into sub-tasks. `record` is that of the task's turn. A step can be
// repeated after a crash and then changes nothing a second time.

/// Notes in the record that sub-tasks are done. The note stays even if a sub-task is deleted later.
Awaitable<Result<void>> note_children(Runner& runner, TaskRecord& record, engine::step::NoteChildren ended);

/// Updates the notices about the sub-tasks.
Awaitable<Result<void>> tell_of_children(Runner& runner, TaskRecord& record, engine::step::TellOfChildren tell);

/// Removes the task from the queue if it has to wait again, and clears the notice that it could not continue.
Awaitable<Result<void>> wait_for_children(Runner& runner, TaskRecord& record, engine::step::WaitForChildren wait);

/// Performs the transition that follows the end of all sub-tasks, or puts the task into the queue if the transition
/// needs a workspace. An Error is tried again. A permanent failure raises a notice that waits for `orange task ack`.
Awaitable<Result<void>> go_on_after_children(Runner& runner, TaskRecord& record);

/// Makes the branch of a pending task that was created with the branch of a blocker as its --base. Called in the task's
/// turn, before the task starts. Saves the record.
///
/// - The branch begins where the blocker's branch is, or was when it was merged. The default branch is merged into it
///   (merged, not rebased: other people may have seen the commits). From then on it is compared with the default
///   branch.
/// - If the task starts although the blocker is not done, the branch begins at the blocker's, and nothing is merged.
/// - The branch of a sub-task begins at its parent's in the same way. The default branch is merged if the sub-task has
///   waited for other tasks.
/// - For a sub-task that is merged into its parent's branch, that branch takes the place of the default branch, unless
///   the sub-task has waited for a task that is merged elsewhere.
///
/// The branch of a task that is built on another one (Task::on) begins at commit_below(), when it is made.
///
/// conflict, with `details["files"]`, if the merge conflicts: the branch then exists without the merge, and a person
/// has to make it. The call may be repeated after a crash.
Awaitable<Result<void>> put_on_base(World& world, Turns& turns, TaskRecord& record);

}  // namespace orange
