#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/model/activity.hpp"
#include "common/model/check.hpp"
#include "common/model/clash.hpp"
#include "common/model/comment.hpp"
#include "common/model/fields.hpp"
#include "common/model/needs.hpp"
#include "common/model/notice.hpp"
#include "common/model/pull_request.hpp"
#include "common/model/start_wait.hpp"
#include "common/model/task.hpp"
#include "common/rpc/usage_methods.hpp"

namespace orange {
// Compiled once, in common/model/json.cpp.
extern template Result<Task> read_as<Task>(const Json&, const std::string&, UnknownKeys);
extern template Json written<Task>(const Task&);
extern template Json schema_of<Task>();
}  // namespace orange

/// The selection of a task, and its form in the replies of the `task.*` methods. `id` selects a task by any of its
/// names (TaskStore::resolve), otherwise `cwd` selects the task whose workspace contains it.
namespace orange::rpc {

struct LargeFile {
    std::string path;
    std::int64_t bytes = 0;
    void describe(auto& v) {
        v.required("path", path, "in the worktree");
        v.required("bytes", bytes, "its size");
    }
};

/// The size of a branch's changes since its base.
struct ChangeCounts {
    std::int64_t commits = 0;
    std::int64_t files = 0;
    std::int64_t added = 0;
    std::int64_t removed = 0;
    bool uncommitted = false;
    std::optional<Timestamp> counted_at = {};
    std::vector<LargeFile> large = {};
    void describe(auto& v) {
        v.required("commits", commits, "commits of its own");
        v.required("files", files, "files that differ");
        v.required("added", added, "lines added");
        v.required("removed", removed, "lines removed");
        v.required("uncommitted", uncommitted, "some of it is not committed");
        v.optional("counted_at", counted_at, "in lists: when git said last that the branch has not moved since");
        v.sparse("large", large, "uncommitted files that are too large to be read: neither counted nor shown");
    }
};

/// A blocker or a sub-task of a task.
struct RelatedTask {
    std::string id;
    std::string short_id;
    std::string state;
    std::string status;
    std::string project;
    std::string summary;
    void describe(auto& v) {
        v.required("id", id, "the task's id");
        v.optional("short_id", short_id, "enough of it to name the task");
        v.required("state", state,
                   "open: not done yet; done: nothing waits for it any more; gone: it was cancelled or deleted, and "
                   "will never be done");
        v.optional("status", status, "its status; empty: it is deleted");
        v.optional("project", project, "the project that it belongs to");
        v.optional("summary", summary, "what is to be done, one line");
    }
};

/// The place in which the executor of a task has one of its agents.
struct PlacedRun {
    std::string role;
    std::string executor;
    std::string name;
    std::string state;
    std::optional<Timestamp> since;
    std::string place;
    std::string network;
    void describe(auto& v) {
        v.required("role", role, "worker or reviewer");
        v.required("executor", executor, "name of the executor");
        v.required("name", name, "what the executor calls the run");
        v.required("state", state,
                   "starting: nothing is known of it yet; queued: it waits for the executor's resources; running");
        v.optional("since", since, "since when");
        v.sparse("place", place, "where it is, as the executor says");
        v.sparse("network", network, "none, or the places that it may connect to; absent: full");
    }
};

/// The state of the command with which a task's human tries its work (`task.try`).
struct PreviewView {
    std::string state;
    std::string url;
    std::optional<Timestamp> since;
    void describe(auto& v) {
        v.required("state", state, "starting, running (something listens at its URL) or ended");
        v.sparse("url", url, "where it can be opened on the daemon's machine; absent: nothing listens yet");
        v.optional("since", since, "since when it is in this state");
    }
};

/// A task as programs see it: TASK.md's fields and what the daemon knows beside them.
struct TaskView {
    Task fields;                                     ///< the frontmatter (docs/files.md)
    std::string short_id;                            ///< the short id, for commands that people read
    std::string path;                                ///< the task's folder
    std::string worktree;                            ///< the agents' worktree; empty: it has no workspace
    Needs needs;                                     ///< what the task needs from its human
    std::vector<std::string> can;                    ///< methods that its human can call now, without "task."
    std::vector<Notice> notices;                     ///< notices for its human, most urgent first
    std::string means;                               ///< "initial", "done", "cancelled", "stuck", "clarification" or ""
    std::string worker;                              ///< "alive", "queued", "starting", "dead", "unknown", "none"
    std::string reviewer;                            ///< likewise
    std::optional<AgentActivity> worker_activity;    ///< what a living one does; absent: nobody has looked yet
    std::optional<AgentActivity> reviewer_activity;  ///< likewise
    std::vector<PlacedRun> places = {};              ///< of its agents, if its executor is not local
    std::int64_t queue_place = 0;                    ///< 1 for the next to be spawned; 0: not queued
    std::optional<StartWait> start_wait;     ///< why its agent has not started yet, if the reason is not the workspace
    std::optional<std::string> in_progress;  ///< a transition whose actions still run: "working → agent-review"
    /// Present after a change of the programs that git runs in its repository, or of its addresses, until it is
    /// acknowledged.
    std::optional<std::string> alarm;
    std::optional<PullRequest> pull_request;  ///< as the forge showed it last
    std::optional<ChangeCounts> committed;    ///< the changes of its branch's commits; only in lists that ask for them
    std::optional<std::string> unreadable;    ///< why the task's files cannot be read
    std::vector<RelatedTask> blockers = {};   ///< its blockers, including done ones
    std::optional<CheckRecord> checked;       ///< the last result of its checks, without their output
    std::string checking;                     ///< the check that is running; empty: none
    std::string asked;                        ///< the status that it moves to when its checks pass
    std::vector<std::string> children = {};   ///< ids of its sub-tasks, oldest first
    std::int64_t children_done = 0;           ///< the number of done sub-tasks
    std::optional<TaskUsage> usage = {};      ///< absent: nothing is known
    std::string merges_into;                  ///< its parent's branch, if it is or was merged into that
    std::optional<PreviewView> preview = {};  ///< absent: its human has not tried its work
    std::optional<CommentCounts> comments = {};  ///< absent: there are none that are not resolved
    std::vector<Clash> clashes = {};             ///< with active tasks, and with the branch that it is merged into
    std::string attempt = {};                    ///< its name among the attempts of its parent; empty: it is none
    bool unpicked = false;                       ///< an attempt, and another one was picked
    std::int64_t attempts = 0;                   ///< how many agents try it, each in a sub-task
    std::string picked = {};                     ///< the id of the attempt that was picked
    void describe(auto& v) {
        v.required("fields", fields, "TASK.md's frontmatter");
        v.optional("short_id", short_id, "the shortest beginning of its id, at least four characters, that names it");
        v.required("path", path, "the task's folder");
        v.optional("worktree", worktree, "the worktree that its agents work in; empty: it has none");
        v.optional("needs", needs, "what the task needs from its human");
        v.optional("can", can,
                   "what its human can do with it in its present state: names of methods without `task.`; force_merge "
                   "if task.merge needs force");
        v.optional("notices", notices, "what its human should know, most urgent first");
        v.optional("means", means,
                   "what its status stands for: initial, done, cancelled, stuck or clarification; empty: another one");
        v.required("worker", worker,
                   "alive, queued (it waits for the resources of its executor), starting, dead, unknown or none");
        v.required("reviewer", reviewer, "likewise");
        v.sparse("places", places, "the places of its agents, if its executor is not local");
        v.optional("worker_activity", worker_activity, "what a living worker does, and since when");
        v.optional("reviewer_activity", reviewer_activity, "what a living reviewer does, and since when");
        v.optional("queue_place", queue_place, "place in the project's queue, 0 when not queued");
        v.sparse("start_wait", start_wait,
                 "why its agent is not started yet, if a limit is the reason; Orange starts it when there is room");
        v.optional("in_progress", in_progress, "a transition whose actions still run");
        v.optional("alarm", alarm, "what somebody changed of what git runs in the repository");
        v.optional("pull_request", pull_request, "its pull request, as its forge showed it last");
        v.optional("committed", committed,
                   "what the commits of its branch change, in a list with `changes`; absent: nothing is known");
        v.optional("unreadable", unreadable, "why the task's files cannot be read");
        v.sparse("blockers", blockers, "the tasks of `blocked_by`, and what is known of each");
        v.optional("checked", checked, "how its checks ended last, without their output");
        v.sparse("checking", checking, "the check that runs at the moment");
        v.sparse("asked", asked, "the status that the task moves to when its checks pass");
        v.sparse("children", children,
                 "ids of its sub-tasks, oldest first; one that is deleted counts if it had been done, and an attempt "
                 "does not if another one was picked");
        v.sparse("children_done", children_done, "how many of them are done");
        v.optional("usage", usage, "what its agents have used, and how long it took; absent: nothing is known");
        v.sparse("merges_into", merges_into,
                 "the branch of its parent, if it is merged into that, or was; absent: into the default branch");
        v.optional("preview", preview, "the command with which its human tries the work; absent: none was started");
        v.optional("comments", comments, "comments on its lines that are not resolved; absent: there are none");
        v.sparse("clashes", clashes, "where git could not merge its work after that of others, as it is known now");
        v.sparse("attempt", attempt, "of an attempt: its name among those of its parent, as claude:high or claude 2");
        v.sparse("unpicked", unpicked, "of an attempt: its human has picked another one");
        v.sparse("attempts", attempts, "how many agents try it, each in a sub-task; absent: it has no attempts");
        v.sparse("picked", picked, "of a task with attempts: the id of the one that its human has picked");
    }
};

struct TaskSelector {
    std::optional<std::string> id;
    std::optional<std::string> cwd;
    void describe(auto& v) {
        v.optional("id", id, "task id, the beginning of one, a branch, or words of the summary joined by dashes");
        v.optional("cwd", cwd, "the caller's directory: this task, where it is in a workspace");
    }
};

/// The reply of methods that move or change a task.
struct TaskReply {
    TaskView task;
    std::vector<std::string> notes;  ///< sentences for a human: warnings, what happens next
    std::optional<std::string> spawn_error;
    void describe(auto& v) {
        v.required("task", task, "the task as it is now");
        v.optional("notes", notes, "sentences for a human");
        v.optional("spawn_error", spawn_error,
                   "why an agent that was to start did not; the task is there all the same");
    }
};

}  // namespace orange::rpc
