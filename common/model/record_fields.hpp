#pragma once

#include "common/model/record.hpp"

/// The fields of the records (fields.hpp). Included only where a whole record is read or written: json.cpp, and
/// tests.
namespace orange {

void PlannedAction::describe(auto& v) {
    v.optional("action", action.name, "name of the action");
    v.optional("params", action.params, "its parameters");
    v.sparse("argv", action.argv, "run_command's program and its arguments");
    v.optional("done", done, "it needs not be run any more");
    v.sparse("failure", failure, "why it is done without effect");
    v.sparse("later", later, "a shortage was the cause: the agent that it starts is started later");
}

void Caller::describe(auto& v) {
    v.optional("role", role, "worker, reviewer, human, system or unknown");
    v.sparse("task", task, "an agent's own task");
    v.sparse("run", run, "the agent's run");
    v.optional("pid", pid, "of the peer; 0 for the daemon itself");
    v.optional("evidence", evidence, "\"ancestor orange-agent 4711\", \"terminal\", \"exit monitor\" …");
    v.sparse("programs", programs, "of an agent's: \"claude > bash > orange\", from its own program to the peer");
    v.sparse("through", through, "the build or test runner, or program of a worktree, in between");
}

void Intent::describe(auto& v) {
    v.optional("id", id, "unique; keys the effects, so that a resumed spawn adopts what it started");
    v.optional("from", from, "the state that is left");
    v.optional("to", to, "the state that is entered");
    v.optional("by", by, "who asked");
    v.optional("auto_reason", auto_reason, "not empty: an auto-advance, and why");
    v.optional("attested", attested, "false: a verdict that nobody can say the reviewer has given");
    v.optional("actions", actions, "what the transition asks for, in order");
    v.optional("at", at, "when it was committed");
    v.sparse("workspace", workspace, "the one that it took; the history says so");
    v.sparse("tokens", tokens, "what the task had used when it was committed; the history says so");
}

void RunPlace::describe(auto& v) {
    v.required("executor", executor, "name of the executor");
    v.sparse("stop", stop, "argv that ends what the run may leave; absent: it can leave nothing");
    v.sparse("probe", probe, "argv that says which runs the executor has; absent: it cannot be asked");
    v.sparse("queued", queued, "the states of a run that has not begun, as `probe` prints them");
    v.sparse("started_at", started_at, "when the agent began; absent: not yet, as far as is known");
    v.sparse("queued_since", queued_since, "since when the executor says that it waits; absent: it does not");
    v.sparse("place", place, "where the executor runs it, as `probe` says");
    v.sparse("ended", ended, "the states of a run that the executor has ended itself, as `probe` prints them");
    v.sparse("token", token, "of a run on another machine: what its calls prove to the daemon");
    v.sparse("ended_as", ended_as, "the state in which the executor ended it; empty: it did not; absent: not asked");
    v.sparse("hides", hides, "the executor hides files from it, and so the tasks of others");
    v.sparse("over", over, "the states of a run that has ended, as `probe` prints them, besides `ended`");
    v.sparse("network", network, "none, or the places that it may connect to; absent: full");
    v.sparse("limits_processes", limits_processes, "the executor has the words for its limit of processes");
}

void LeftRun::describe(auto& v) {
    v.required("run", run, "the run's id");
    v.required("executor", executor, "name of its executor");
    v.required("stop", stop, "argv that ends what is left of it");
    v.optional("since", since, "when the run ended");
    v.sparse("probe", probe, "argv that says which runs the executor has");
    v.sparse("over", over, "the states in which the run has ended, as `probe` prints them; absent: it is not asked");
}

void AgentRun::describe(auto& v) {
    v.optional("run", run, "the run's id");
    v.optional("role", role, "worker or reviewer");
    v.optional("harness", harness, "which agent it is");
    v.sparse("harness_hash", harness_hash, "of that definition when the run began; absent in older records");
    v.sparse("model", model, "the model that it was started with; absent: its program's own");
    v.optional("prompt", prompt, "key of the prompt that it was started with");
    v.optional("intent", intent, "id of the intent that started it; empty for a respawn");
    v.optional("window_name", window_name, "\"worker\", \"review-1\", \"worker-2\" …");
    v.optional("session_id", session_id, "tmux \"$3\"");
    v.optional("window_id", window_id, "tmux \"@7\"");
    v.optional("pane_id", pane_id, "tmux \"%7\"");
    v.optional("server_pid", server_pid, "of the tmux server that gave those ids");
    v.sparse("server_start", server_start, "start time of that pid; absent: unknown, as in older records");
    v.optional("pid", pid, "of the shim (orange-agent) in the pane");
    v.optional("start_time", start_time, "of that pid, in clock ticks since boot: pids are reused");
    v.optional("ending", ending, "Orange is ending it: its death reaches no rule");
    v.sparse("resumed", resumed, "it continues the conversation of the run before it");
    v.optional("spawned_at", spawned_at, "when it was started");
    v.sparse("memory_limit", memory_limit, "bytes that it and all that it starts may use; absent: any");
    v.sparse("oom_kills", oom_kills, "how many processes that it had started were ended because memory was used up");
    v.sparse("processes_limit", processes_limit, "processes that it may be with all it starts; absent: any number");
    v.sparse("forks_refused", forks_refused, "it had as many processes as it may, and its human was told");
    v.sparse("disk_limit", disk_limit, "bytes that its worktree may have on the disk; absent: any");
    v.sparse("disk_used", disk_used,
             "bytes for which Orange ends it, since they are more than that; absent: it does not");
    v.sparse("place", place, "where its executor runs it; absent: here, as a child of its shim");
    v.sparse("usage", usage, "what it has used so far, as its program says; saved at most once a minute");
}

void DeferredStart::describe(auto& v) {
    v.required("role", role, "worker or reviewer");
    v.optional("prompt", prompt, "key of the prompt that it is started with");
    v.sparse("permissions", permissions, "as its transition says; absent: those of the role's first start");
    v.sparse("intent", intent, "id of the transition that wants it; absent: a respawn");
    v.sparse("respawn", respawn, "it is started again");
    v.sparse("resume", resume, "it continues the conversation of the run before it");
    v.optional("since", since, "since when it waits: those that wait longest start first");
}

void Reminder::describe(auto& v) {
    v.required("text", text, "what it has forgotten");
    v.optional("entered", entered, "when the task came into the status that it was about");
    v.optional("times", times, "how often it was told");
    v.optional("at", at, "when it was told last");
}

void NativeSession::describe(auto& v) {
    v.required("role", role, "worker or reviewer");
    v.required("harness", harness, "whose program it is of");
    v.required("id", id, "the program's own name of it");
    v.optional("worktree", worktree, "where it was");
    v.sparse("transcript", transcript, "the program's file of it, where an event named one");
}

void ForkedWork::describe(auto& v) {
    v.sparse("task", task, "the task whose work it was; absent: it was in a person's worktree");
    v.required("commit", commit, "with what was not committed; the branch begins there");
    v.optional("base", base, "the last commit that is not of that work");
    v.sparse("talk", talk, "the conversation of which the first worker continues a copy; absent: none came along");
    v.sparse("run", run, "the run that continues the copy; absent: none has begun");
}

void Message::describe(auto& v) {
    v.optional("id", id, "the message's id");
    v.optional("to", to, "worker or reviewer");
    v.optional("from", from, "whose it is; a human's outlives the agent that it was for");
    v.optional("text", text, "what is typed into its window");
    v.optional("queued_at", queued_at, "when it was sent");
    v.sparse("typed_at", typed_at, "when it was typed last");
    v.sparse("times", times, "how often it was typed");
    v.sparse("seen", seen, "the agent's window shows that its program took it");
    v.sparse("lasts", lasts, "Orange's own, and for the agent's next run if this one has ended");
    v.sparse("told", told, "the human was told that it was not typed, or that the agent did not take it");
    v.sparse("acknowledged", acknowledged, "the human has acknowledged that");
}

void MergeRecord::describe(auto& v) {
    v.required("phase", phase, "planned, merged, pushed, done or failed");
    v.optional("tx", tx, "unique; its `task.merged` is recognized by it");
    v.optional("target", target, "the default branch, or the branch of the task's parent");
    v.optional("strategy", strategy, "merge, ff or squash; of a pull request merge, squash or rebase");
    v.optional("tip", tip, "the commit of the task's branch that is merged");
    v.optional("base", base, "the commit of `target` that `commit` was built on");
    v.optional("commit", commit, "the result; if it was made elsewhere, the commit that brought it");
    v.optional("push", push, "false: published means the local branch");
    v.sparse("include_unpushed", include_unpushed, "publishes the user's own commits of the target with it");
    v.sparse("keep_branch", keep_branch, "leaves the local branch when the task is done");
    v.sparse("elsewhere", elsewhere, "somebody else had merged it: nothing was merged or pushed");
    v.sparse("pull", pull, "the pull request that is merged at its forge; absent: the branch is merged here");
    v.sparse("forced", forced, "what a human confirmed, in words; absent: nothing had to be");
    v.sparse("checks", checks, "hash of the commands that must have passed on the result; absent: none");
    v.sparse("train", train, "id of the train that it was merged in, with other tasks; absent: it was merged alone");
    v.optional("attempts", attempts, "pushes that were begun");
    v.optional("by", by, "who asked");
    v.optional("at", at, "when it was asked for");
    v.sparse("failure", failure, "why it was undone");
}

void AskedTransition::describe(auto& v) {
    v.required("to", to, "the state that was asked for");
    v.required("commit", commit, "what the branch was at");
    v.optional("by", by, "who asked");
    v.optional("at", at, "when; a check that had failed before is run again");
    v.sparse("force", force, "with force");
}

void PermitAnswer::describe(auto& v) {
    v.required("number", number, "the number of the request");
    v.required("run", run, "whose program asked");
    v.required("role", role, "likewise");
    v.required("key", key, "the id of the request in the events of the program");
    v.required("tool", tool, "what the agent wanted to use");
    v.required("line", line, "what it asked for, in one line");
    v.optional("allowed", allowed, "or denied");
    v.optional("text", text, "what the agent was told");
    v.optional("evidence", evidence, "how the human was identified");
    v.required("at", at, "when");
    v.sparse("before", before, "how many events of the asking agent had come since the request");
}

void AttemptRow::describe(auto& v) {
    v.required("id", id, "the sub-task");
    v.required("name", name, "what its human calls it: claude, claude:high, claude 2");
    v.required("harness", harness, "which agent works");
    v.sparse("effort", effort, "the worker's effort");
    v.sparse("model", model, "the worker's model");
    v.required("review_harness", review_harness, "which agent reviews");
    v.sparse("review_effort", review_effort, "the reviewer's effort");
    v.sparse("review_model", review_model, "the reviewer's model");
    v.sparse("made", made, "the sub-task was created");
}

void TaskRecord::describe(auto& v) {
    v.required("fields", task, "the task");
    v.nullable("intent", intent, "the transition that is committed but not finished");
    v.sparse("merge", merge, "the last merge that was asked for");
    v.sparse("checked", checked, "how the project's checks, or those of a gate, went last");
    v.sparse("merge_checked", merge_checked, "how the project's checks went last when a merge waited for them");
    v.sparse("pull_request", pull_request, "its pull request, as its forge showed it last");
    v.sparse("pull_told", pull_told, "what of it its human or its agent was told (daemon/runner/pulls/pull_sync.cpp)");
    v.optional("runs", runs, "the agents alive or not yet dealt with, at most one of each role");
    v.sparse("held", held, "agents that start when there is room for them, at most one of each role");
    v.sparse("left", left, "runs that have ended, and whose executors could not be told so yet");
    v.sparse("died", died, "roles whose last run died without Orange ending it, until one is started or released");
    v.optional("outbox", outbox, "messages that are not delivered yet");
    v.sparse("typed", typed, "the last messages that were typed");
    v.sparse("sessions", sessions, "conversations of the agents' own programs, at most one of each role");
    v.sparse("reminder", reminder, "what its idle agent was reminded of last");
    v.optional("entry_sections", entry_sections,
               "heading → hash of the section when the current state was entered: what `fresh` gates compare with");
    v.sparse("reviewed_commit", reviewed_commit,
             "the commit that the worktree was on when it was last given to a reviewer; \"none\": on none");
    v.sparse("branch_start", branch_start,
             "the commit that the branch was at when the task began on it, if it had no work of its own then");
    v.sparse("programs", programs,
             "what the repository made git run when that was last looked at, name → hash; none before a workspace");
    v.sparse("programs_changed", programs_changed, "names of those that somebody changed, until a human has looked");
    v.sparse("harness_hashes", harness_hashes,
             "harness → hash of its definition when it was last started or chosen for the task");
    v.sparse("harnesses_changed", harnesses_changed, "names of those that changed since, until a human has looked");
    v.sparse("unwritten_feedback", unwritten_feedback, "feedback that is not yet in ## Feedback of TASK.md");
    v.sparse("unwritten_files", unwritten_files, "lines that are not yet in ## Files of TASK.md");
    v.sparse("imported", imported, "made from a TASK.md that had no state.json");
    v.optional("body_hash", body_hash, "of the body that both copies of TASK.md last agreed on");
    v.optional("task_file", task_file,
               "the mirror in the worktree; \".orange/TASK.md\" if the repository has a TASK.md of its own");
    v.sparse("ended", ended, "its state is terminal in its workflow");
    v.optional("queued", queued, "it is spawned as soon as a workspace is free");
    v.optional("queued_seq", queued_seq, "place in the project's queue: lower is earlier");
    v.sparse("start", start, "the state that it is started in, if it was created for one; else the workflow's choice");
    v.sparse("notices", notices, "what its human should know, most urgent first");
    v.sparse("entered_at", entered_at, "when it came into its status");
    v.sparse("moved_because", moved_because, "why Orange or an agent has moved it there; a human knows");
    v.sparse("continued_by", continued_by, "the task that goes on with its work (`restore --create`)");
    v.sparse("failed_reviews", failed_reviews,
             "the first point of each review that failed since one passed or its human moved the task");
    v.sparse("questions", questions, "hash of ## Questions");
    v.sparse("question", question, "the first of them, as its human is told of it");
    v.sparse("answered", answered, "`questions` when a human's answer was delivered; else the question stands");
    v.sparse("stopped", stopped, "a human stopped its agent, and nothing starts it by itself");
    v.sparse("notified", notified, "`since` of the need that its human was last notified of");
    v.sparse("to_tell", to_tell, "what a `notify` of its workflow says, until the human is notified");
    v.sparse("blockers_done", blockers_done,
             "those of `blocked_by` that were seen done, and `on` once it was seen reviewed");
    v.sparse("blockers_gone", blockers_gone, "those of `blocked_by` that will never be done, as its human was told");
    v.sparse("stacked_on", stacked_on, "the blocker or parent whose branch `base` names, until the task starts");
    v.sparse("asked", asked, "the transition that is taken when the checks pass");
    v.sparse("children_done", children_done, "its sub-tasks that were seen done, and count as such for ever");
    v.sparse("unapproved_told", unapproved_told, "its sub-tasks that wait for an approval, as its human was told");
    v.sparse("trouble_told", trouble_told, "its sub-tasks that need its human's help, as its human was told");
    v.sparse("unapproved", unapproved, "an agent created it, and it does not start until a human approves it");
    v.sparse("told_of", told_of, "tasks whose plans name files of this one's plan, as its worker was told");
    v.sparse("into_parent", into_parent, "it is merged into its parent's branch while its parent has not ended");
    v.sparse("usage", usage, "what its agents used whose runs have ended, by day, role, harness and model");
    v.sparse("times", times, "how long it was worked on, and waited, by day");
    v.sparse("time_open", time_open, "what it does since when, as far as `times` has not counted it yet");
    v.sparse("budget_pass", budget_pass, "its human started something for it although its budget was used up");
    v.sparse("reviews", reviews, "section with a verdict → the commit that it is about, and the hash of its text");
    v.sparse("comment_step", comment_step,
             "the last step of its comments that has happened: the texts and answers of comments.json with a higher "
             "one do not count yet");
    v.sparse("permits_asked", permits_asked, "the number of the last request of an agent's program");
    v.sparse("permits_answered", permits_answered,
             "answers to such requests, until an event of the program shows what became of them");
    v.sparse("on_seen", on_seen, "what became of the task that it is built on, as far as its branch has followed");
    v.sparse("on_told", on_told, "the same, as its worker and its human were told that the branch has to follow");
    v.sparse("on_move", on_move, "commits of a move of its branch that is not finished: old, new, new base");
    v.sparse("attempts", attempts, "the agents that try it, each in a sub-task");
    v.sparse("picked", picked, "the one of them that its human has picked");
    v.sparse("picked_by", picked_by, "who has picked it");
    v.sparse("attempt", attempt, "its name, if it is one of the attempts of its parent");
    v.sparse("unpicked", unpicked, "another one of these attempts was picked");
    v.sparse("near_told", near_told, "the budget of which its human was told that 80 % is used");
    v.sparse("forked", forked, "the work of another task, or of a person's worktree, with which it began");
    v.sparse("disk_over", disk_over, "bytes of its worktree when an agent was ended for limits.disk; absent: none was");
}

}  // namespace orange
