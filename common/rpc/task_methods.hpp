#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/forges.hpp"
#include "common/model/edit.hpp"
#include "common/model/fields.hpp"
#include "common/rpc/caller_environment.hpp"
#include "common/rpc/task_view.hpp"

/// Parameters and results of the `task.*` methods that change something.
namespace orange::rpc {

struct TaskCreate : Choices {
    static constexpr const char* k_name = "task.create";
    using Reply = TaskReply;
    std::optional<std::string> id;
    std::optional<std::string> key;
    std::optional<std::string> project;
    std::optional<std::string> cwd;
    std::optional<std::string> branch;
    std::string summary;
    std::optional<std::string> context;
    std::vector<std::string> files;
    std::optional<std::string> parent;
    std::optional<std::string> like;
    std::optional<std::string> permissions;
    bool ask_trust = false;
    std::vector<std::string> trust;
    bool no_spawn = false;
    std::optional<std::string> status;
    std::optional<std::string> base;
    std::optional<std::string> on;
    std::vector<std::string> attempts;
    std::optional<std::string> from_session;
    bool name_branch = false;
    bool add_project = false;
    CallerEnvironment caller;
    void describe(auto& v) {
        v.optional("id", id, "the task's id, made by the caller: a call repeated with it makes no second task");
        v.optional("key", key,
                   "instead of id: a text from which the id is made; in one project the same text is the same task");
        v.optional("project", project, "project name; else the one that cwd is in");
        v.optional("cwd", cwd, "the caller's directory");
        v.optional("branch", branch, "branch to work on; orange-tasks/<id> where absent");
        v.optional("summary", summary, "what is to be done, one line; empty: the agent asks");
        v.optional("context", context, "Markdown for the agent, stored under ## Context");
        v.sparse("files", files, "uploads (file.put) that the agent gets");
        Choices::describe(v);
        v.optional("parent", parent, "the task that it is a part of; its project is where the new one belongs");
        v.sparse(
            "like", like,
            "a task; what is not given is as there: project, summary, ## Context, workflow, agents, executor, budget "
            "(human)");
        v.optional("permissions", permissions, "full or reduced: what its agents may do without asking");
        v.sparse("ask_trust", ask_trust,
                 "refuse with needs_force while a harness has no consent to trust the repository; its name is the "
                 "detail trust");
        v.sparse("trust", trust, "harnesses that the human lets trust the repository");
        v.optional("no_spawn", no_spawn, "only create; wait for task.spawn");
        v.optional("status", status, "begin there: clarification, agent-review, reviewing (what the workflow has)");
        v.optional("base", base,
                   "where a new branch begins: a branch, tag or commit, or the branch of a task in blocked_by; else "
                   "the parent's branch, if there is one, or the default branch");
        v.optional("on", on,
                   "a task of the same project on which the new one is built: it starts when that one is in review, "
                   "from its reviewed commit, and is merged after it (human)");
        v.sparse("attempts", attempts,
                 "several agents try the same task, each in a sub-task: at least two of HARNESS[/MODEL][:EFFORT] "
                 "(human)");
        v.optional("from_session", from_session,
                   "id of a conversation that was begun without Orange in cwd: the worker continues a copy of it, and "
                   "the branch begins with the files of cwd's worktree (human)");
        v.optional("name_branch", name_branch, "where no branch is given: name it after the summary");
        v.optional("add_project", add_project, "register the repository that cwd is in, where it is not");
        caller.describe(v);
    }
};

struct TaskSpawn : TaskSelector {
    static constexpr const char* k_name = "task.spawn";
    using Reply = TaskReply;
};

struct TaskRespawn : TaskSelector {
    static constexpr const char* k_name = "task.respawn";
    bool all = false;
    bool fresh = false;
    void describe(auto& v) {
        TaskSelector::describe(v);
        v.optional("all", all, "every task whose agent is dead");
        v.optional("fresh", fresh, "a new conversation instead of the agent's previous one");
    }
    struct Reply {
        std::vector<TaskView> tasks;
        std::vector<std::string> notes;
        void describe(auto& v) {
            v.required("tasks", tasks, "the tasks whose agents were started");
            v.optional("notes", notes, "what could not be respawned, and why");
        }
    };
};

struct TaskUpdate : TaskSelector, Edit {
    static constexpr const char* k_name = "task.update";
    using Reply = TaskReply;
    std::optional<std::string> status;
    bool force = false;
    void describe(auto& v) {
        TaskSelector::describe(v);
        v.optional("status", status, "a state of the workflow to move to");
        Edit::describe(v);
        v.optional("force", force, "take a transition that wants a human's confirmation");
    }
};

struct TaskComplete : TaskSelector {
    static constexpr const char* k_name = "task.complete";
    using Reply = TaskReply;
};

struct TaskStuck : TaskSelector {
    static constexpr const char* k_name = "task.stuck";
    using Reply = TaskReply;
};

/// The options of a merge, of one task or of several.
struct MergeOptions {
    std::optional<std::string> strategy;
    std::optional<std::string> via;
    bool local = false;
    bool force = false;
    std::optional<bool> no_push;
    std::optional<bool> keep_branch;
    bool include_unpushed = false;
    bool run_checks = false;
    void describe(auto& v) {
        v.optional("strategy", strategy,
                   "merge (a merge commit), ff (fast-forward only) or squash (one commit); absent: merge, or what the "
                   "repository prefers for its pull requests");
        v.optional("via", via, k_doc_of_via);
        v.sparse("local", local, "merge here without asking for a pull request");
        v.optional("force", force, "merge although something has to be confirmed: not reviewed, commits since then …");
        v.optional("no_push", no_push, "move the local default branch only; absent: as the setting push says");
        v.optional("keep_branch", keep_branch,
                   "do not delete the local branch; absent: as the setting keep_branch says");
        v.optional("include_unpushed", include_unpushed, "push your own commits of the default branch with it");
        v.optional("run_checks", run_checks, "run the project's checks although force is given");
    }
};

struct TaskMerge : TaskSelector, MergeOptions {
    static constexpr const char* k_name = "task.merge";
    std::optional<std::string> confirmed;
    std::optional<std::string> tip;
    void describe(auto& v) {
        TaskSelector::describe(v);
        MergeOptions::describe(v);
        v.optional("confirmed", confirmed,
                   "`confirms` of task.diff, which was shown: only what is not in it is asked again; not `force`");
        v.optional("tip", tip, "the commit that was shown: another one is not merged");
    }
    struct Reply {
        TaskView task;
        std::string commit;
        bool pushed = false;
        bool elsewhere = false;
        std::int64_t pull = 0;
        std::string forced;
        std::vector<std::string> notes;
        void describe(auto& v) {
            v.required("task", task, "the task as it is now");
            v.required("commit", commit,
                       "the merge; if it was made elsewhere, the commit that brought the work; empty: nothing is "
                       "merged yet, a "
                       "pull request was opened");
            v.required("pushed", pushed, "this call has pushed it to origin");
            v.optional("elsewhere", elsewhere, "the work was there already; nothing was merged");
            v.sparse("pull", pull, "the pull request that brought it; absent: none");
            v.optional("forced", forced, "what was confirmed with force; empty if nothing had to be");
            v.optional("notes", notes, "sentences for a human");
        }
    };
};

struct TaskCheck : TaskSelector {
    static constexpr const char* k_name = "task.check";
    struct Reply {
        TaskView task;
        std::string commit;
        bool passed = false;
        std::string failed;
        std::string why;
        int exit_status = 0;
        std::string output;
        std::string log;
        std::int64_t seconds = 0;
        void describe(auto& v) {
            v.required("task", task, "the task as it is now");
            v.required("commit", commit, "what was checked");
            v.required("passed", passed, "all of the project's checks succeeded");
            v.optional("failed", failed, "the command that did not; those after it were not run");
            v.optional("why", why, "how that command ended, as a sentence");
            v.optional("exit_status", exit_status, "of that command; 124: its time was over, 127: it was not found");
            v.optional("output", output, "the last lines of the last command");
            v.required("log", log, "the file with all of their output");
            v.required("seconds", seconds, "how long they took");
        }
    };
};

/// The command with which a task's human tries its work.
struct PreviewReply {
    TaskView task;
    std::string state;
    std::string command;
    std::int64_t port = 0;
    std::string url;
    std::optional<Timestamp> since;
    std::optional<int> exit_status;
    std::string why;
    std::string output;
    std::int64_t printed = 0;
    std::vector<std::string> notes;
    void describe(auto& v) {
        v.required("task", task, "the task as it is now");
        v.required("state", state, "none, starting, running or ended");
        v.sparse("command", command, "the command, as a shell reads it");
        v.sparse("port", port, "ORANGE_PORT of the command; absent: the workspace has no ports");
        v.sparse("url", url, "where it can be opened on the daemon's machine; absent: nothing listens yet");
        v.optional("since", since, "since when it is in this state");
        v.optional("exit_status", exit_status, "of a command that has ended by itself");
        v.sparse("why", why, "how it ended, as a clause");
        v.sparse("output", output, "its last lines, without colours");
        v.sparse("printed", printed, "how many bytes of its output this reply knows, for `after`");
        v.sparse("notes", notes, "sentences for a human: what was done");
    }
};

struct TaskTry : TaskSelector {
    static constexpr const char* k_name = "task.try";
    using Reply = PreviewReply;
    bool stop = false;
    int lines = 20;
    void describe(auto& v) {
        TaskSelector::describe(v);
        v.sparse("stop", stop, "end the command");
        v.optional("lines", lines, "how many of its last lines, 0 to 5000");
    }
};

struct TaskPreview : TaskSelector {
    static constexpr const char* k_name = "task.preview";
    using Reply = PreviewReply;
    bool wait = false;
    std::optional<std::int64_t> after;
    int lines = 20;
    void describe(auto& v) {
        TaskSelector::describe(v);
        v.sparse("wait", wait,
                 "reply when something listens at its URL or it has ended; with `after`, when it has printed more");
        v.optional("after", after, "the output behind so many bytes (`printed`), instead of the last lines");
        v.optional("lines", lines, "how many of its last lines, 0 to 5000");
    }
};

struct TaskCreatePr : TaskSelector {
    static constexpr const char* k_name = "task.create_pr";
    using Reply = TaskReply;
    std::optional<std::string> title;
    std::optional<std::string> body;
    bool draft = false;
    void describe(auto& v) {
        TaskSelector::describe(v);
        v.optional("title", title, "its title; else the task's summary");
        v.optional("body", body,
                   "its text, Markdown; else the summary, ## Context of TASK.md and the repository's template");
        v.sparse("draft", draft, "open it as a draft");
    }
};

struct TaskUpdateBranch : TaskSelector {
    static constexpr const char* k_name = "task.update_branch";
    using Reply = TaskReply;
};

struct TaskRestore : TaskSelector {
    static constexpr const char* k_name = "task.restore";
    std::optional<std::string> branch;
    bool create = false;
    void describe(auto& v) {
        TaskSelector::describe(v);
        v.sparse("create", create,
                 "also create a task that goes on there, like the old one; ## Plan and ## Handoff are in its context");
        v.optional("branch", branch, "the branch to make; else the task's own with -restored");
    }
    struct Reply {
        std::string branch;
        std::string commit;
        std::optional<TaskView> task;
        std::vector<std::string> notes;
        void describe(auto& v) {
            v.optional("task", task, "with `create`: the new task");
            v.required("branch", branch, "the branch that has the work now");
            v.required("commit", commit, "its commit; \"\" if a task goes on there already");
            v.optional("notes", notes, "sentences for a human");
        }
    };
};

struct TaskFork : TaskSelector {
    static constexpr const char* k_name = "task.fork";
    using Reply = TaskReply;
    std::optional<std::string> new_id;
    std::optional<std::string> harness;
    std::optional<std::string> review_harness;
    std::optional<std::string> effort;
    std::optional<std::string> review_effort;
    std::optional<std::string> model;
    std::optional<std::string> review_model;
    std::string summary;
    std::optional<std::string> message;
    bool no_spawn = false;
    CallerEnvironment caller;
    void describe(auto& v) {
        TaskSelector::describe(v);
        v.optional("new_id", new_id, "the new task's id, made by the caller: a repeated call makes no second task");
        v.optional("harness", harness, "which agent works; else the same as there");
        v.optional("review_harness", review_harness, "which agent reviews; else the same as there");
        v.optional("effort", effort, "the worker's effort; else, with the same harness, as there");
        v.optional("review_effort", review_effort, "the reviewer's effort; likewise");
        v.optional("model", model, "the worker's model; likewise");
        v.optional("review_model", review_model, "the reviewer's model; likewise");
        v.optional("summary", summary, "what is to be done, one line; empty: as there");
        v.optional("message", message, "Markdown for the agent, in front of the other task's context");
        v.sparse("no_spawn", no_spawn, "only create; wait for task.spawn");
        caller.describe(v);
    }
};

struct TaskCancel : TaskSelector {
    static constexpr const char* k_name = "task.cancel";
    using Reply = TaskReply;
    bool force = false;
    bool with_children = false;
    bool ask_children = false;
    bool next = false;
    void describe(auto& v) {
        TaskSelector::describe(v);
        v.optional("force", force, "give up an unfinished merge without knowing whether it was published");
        v.sparse("with_children", with_children, "its sub-tasks that have not ended, too, and theirs; else they go on");
        v.sparse("ask_children", ask_children,
                 "refuse with needs_force while it has such sub-tasks; the detail children has their ids");
        v.sparse("next", next, "start the task of its project that waits longest, if there is room for it then");
    }
};

struct TaskDelete : TaskSelector {
    static constexpr const char* k_name = "task.delete";
    bool force = false;
    void describe(auto& v) {
        TaskSelector::describe(v);
        v.optional("force", force, "cancel it first where it has not ended");
    }
    struct Reply {
        std::string id;
        std::string short_id;
        std::vector<std::string> notes;
        void describe(auto& v) {
            v.required("id", id, "the task that is gone");
            v.optional("short_id", short_id, "the beginning of its id that named it");
            v.optional("notes", notes, "what was kept, and where");
        }
    };
};

struct TaskSend : TaskSelector {
    static constexpr const char* k_name = "task.send";
    using Reply = TaskReply;
    std::string text;
    std::vector<std::string> files;
    std::optional<std::string> role;
    void describe(auto& v) {
        TaskSelector::describe(v);
        v.required("text", text, "a message for the agent, one line");
        v.sparse("files", files, "uploads (file.put) that the agent gets");
        v.optional("role", role, "worker (default) or reviewer");
    }
};

/// Answers the question of a task's agent.
struct TaskAnswer : TaskSelector {
    static constexpr const char* k_name = "task.reply";
    using Reply = TaskReply;
    std::string text;
    std::vector<std::string> files;
    void describe(auto& v) {
        TaskSelector::describe(v);
        v.required("text", text, "the answer, one line");
        v.sparse("files", files, "uploads (file.put) that the agent gets");
    }
};

struct TaskReject : TaskSelector {
    static constexpr const char* k_name = "task.reject";
    using Reply = TaskReply;
    std::string feedback;
    std::vector<std::string> files;
    void describe(auto& v) {
        TaskSelector::describe(v);
        v.optional("feedback", feedback,
                   "what to change; it becomes ## Feedback of TASK.md, above the comments that are not sent yet; may "
                   "be empty if there are some");
        v.sparse("files", files, "uploads (file.put) that the agent gets");
    }
};

struct TaskStop : TaskSelector {
    static constexpr const char* k_name = "task.stop";
    using Reply = TaskReply;
};

struct TaskRestart : TaskSelector {
    static constexpr const char* k_name = "task.restart";
    using Reply = TaskReply;
};

/// Lets tasks start that an agent has created. For other tasks, approves what the task has handed over, such as its
/// plan.
struct TaskApprove : TaskSelector {
    static constexpr const char* k_name = "task.approve";
    using Reply = TaskReply;
};

struct TaskAck : TaskSelector {
    static constexpr const char* k_name = "task.ack";
    using Reply = TaskReply;
};

}  // namespace orange::rpc
