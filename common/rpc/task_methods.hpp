#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/rpc/fields.hpp"

/// Parameters and results of the `task.*` methods. A method is a struct with its name and its Reply; the daemon's
/// method table and the client are both written against it. `id` and `cwd` select a task: an id (or a prefix of one, at
/// least four characters), else the task whose workspace contains `cwd`.
namespace orange::rpc {

/// A task as programs see it: TASK.md's fields and what the daemon knows beside them.
struct TaskView {
    Json fields = Json::object();            ///< exactly the frontmatter (docs/files.md)
    std::string path;                        ///< its folder
    std::string worker;                      ///< "alive", "dead", "unknown", "none"
    std::string reviewer;                    ///< likewise
    std::int64_t queue_place = 0;            ///< 1 for the next to be spawned; 0: not queued
    std::optional<std::string> in_progress;  ///< a transition whose actions still run: "working → agent-review"
    std::optional<std::string> unreadable;   ///< why the task's files cannot be read
    template <class V>
    void describe(V& v) {
        v.required("fields", fields, "TASK.md's frontmatter");
        v.required("path", path, "the task's folder");
        v.required("worker", worker, "alive, dead, unknown or none");
        v.required("reviewer", reviewer, "alive, dead, unknown or none");
        v.optional("queue_place", queue_place, "place in the project's queue, 0 when not queued");
        v.optional("in_progress", in_progress, "a transition whose actions still run");
        v.optional("unreadable", unreadable, "why the task's files cannot be read");
    }
};

struct TaskSelector {
    std::optional<std::string> id;
    std::optional<std::string> cwd;
    template <class V>
    void describe_selector(V& v) {
        v.optional("id", id, "task id, or the beginning of one");
        v.optional("cwd", cwd, "the caller's directory: this task, where it is in a workspace");
    }
};

/// What a call that moves or changes a task answers.
struct TaskReply {
    TaskView task;
    std::vector<std::string> notes;  ///< sentences for a human: warnings, what happens next
    template <class V>
    void describe(V& v) {
        v.required("task", task, "the task as it is now");
        v.optional("notes", notes, "sentences for a human");
    }
};

struct TaskCreate {
    static constexpr const char* k_name = "task.create";
    using Reply = TaskReply;
    std::optional<std::string> project;
    std::optional<std::string> cwd;
    std::optional<std::string> branch;
    std::string summary;
    std::optional<std::string> context;
    std::optional<std::string> workflow;
    std::optional<std::string> harness;
    std::optional<std::string> review_harness;
    std::optional<std::string> effort;
    std::optional<std::string> review_effort;
    bool no_spawn = false;
    template <class V>
    void describe(V& v) {
        v.optional("project", project, "project name; else the one that cwd is in");
        v.optional("cwd", cwd, "the caller's directory");
        v.optional("branch", branch, "branch to work on; orange-tasks/<id> where absent");
        v.optional("summary", summary, "what is to be done, one line; empty: the agent asks");
        v.optional("context", context, "Markdown for the agent, stored under ## Context");
        v.optional("workflow", workflow, "workflow name; else the project's, else default");
        v.optional("harness", harness, "which agent works");
        v.optional("review_harness", review_harness, "which agent reviews");
        v.optional("effort", effort, "the worker's effort, as its harness names it");
        v.optional("review_effort", review_effort, "the reviewer's effort");
        v.optional("no_spawn", no_spawn, "only create; wait for task.spawn");
    }
};

struct TaskList {
    static constexpr const char* k_name = "task.list";
    std::optional<std::string> project;
    std::optional<std::string> cwd;
    std::optional<std::string> status;
    bool all = false;
    int limit = 0;
    template <class V>
    void describe(V& v) {
        v.optional("project", project, "only this project's");
        v.optional("cwd", cwd, "only the project's that this directory is in, where it is in one");
        v.optional("status", status, "only tasks of this status");
        v.optional("all", all, "ended tasks (done, cancelled) too");
        v.optional("limit", limit, "at most so many, newest first; 0: all");
    }
    struct Reply {
        std::vector<TaskView> tasks;
        std::int64_t hidden = 0;
        template <class V>
        void describe(V& v) {
            v.required("tasks", tasks, "newest first");
            v.optional("hidden", hidden, "how many ended tasks were left out");
        }
    };
};

struct TaskShow : TaskSelector {
    static constexpr const char* k_name = "task.show";
    template <class V>
    void describe(V& v) {
        describe_selector(v);
    }
    struct Reply {
        TaskView task;
        std::string body;
        Json history = Json::array();
        template <class V>
        void describe(V& v) {
            v.required("task", task, "the task");
            v.required("body", body, "TASK.md below the frontmatter");
            v.required("history", history, "the last 20 events");
        }
    };
};

struct TaskSpawn : TaskSelector {
    static constexpr const char* k_name = "task.spawn";
    using Reply = TaskReply;
    template <class V>
    void describe(V& v) {
        describe_selector(v);
    }
};

struct TaskRespawn : TaskSelector {
    static constexpr const char* k_name = "task.respawn";
    bool all = false;
    template <class V>
    void describe(V& v) {
        describe_selector(v);
        v.optional("all", all, "every task whose agent is dead");
    }
    struct Reply {
        std::vector<TaskView> tasks;
        std::vector<std::string> notes;
        template <class V>
        void describe(V& v) {
            v.required("tasks", tasks, "the tasks whose agents were started");
            v.optional("notes", notes, "what could not be respawned, and why");
        }
    };
};

struct TaskUpdate : TaskSelector {
    static constexpr const char* k_name = "task.update";
    using Reply = TaskReply;
    std::optional<std::string> status;
    std::optional<std::string> summary;
    std::optional<std::string> branch;
    bool sync_branch = false;
    std::optional<std::string> workflow;
    std::optional<std::string> harness;
    std::optional<std::string> review_harness;
    std::optional<std::string> effort;
    std::optional<std::string> review_effort;
    std::optional<std::string> feedback;
    bool force = false;
    template <class V>
    void describe(V& v) {
        describe_selector(v);
        v.optional("status", status, "a state of the workflow to move to");
        v.optional("summary", summary, "new summary, one line");
        v.optional("branch", branch, "rename the task's branch, or switch to that one where it exists");
        v.optional("sync_branch", sync_branch, "take over the branch that the workspace is on");
        v.optional("workflow", workflow, "move the task to another workflow (human)");
        v.optional("harness", harness, "which agent works, from its next start");
        v.optional("review_harness", review_harness, "which agent reviews, from its next start");
        v.optional("effort", effort, "the worker's effort; empty: none");
        v.optional("review_effort", review_effort, "the reviewer's effort; empty: none");
        v.optional("feedback", feedback, "text for ## Feedback, written before the worker is told");
        v.optional("force", force, "take a transition that wants a human's confirmation");
    }
};

struct TaskComplete : TaskSelector {
    static constexpr const char* k_name = "task.complete";
    using Reply = TaskReply;
    template <class V>
    void describe(V& v) {
        describe_selector(v);
    }
};

struct TaskStuck : TaskSelector {
    static constexpr const char* k_name = "task.stuck";
    using Reply = TaskReply;
    template <class V>
    void describe(V& v) {
        describe_selector(v);
    }
};

struct TaskMerge : TaskSelector {
    static constexpr const char* k_name = "task.merge";
    std::string strategy = "merge";
    bool force = false;
    template <class V>
    void describe(V& v) {
        describe_selector(v);
        v.optional("strategy", strategy, "merge (a merge commit) or ff (fast-forward only)");
        v.optional("force", force, "merge although it is not reviewed");
    }
    struct Reply {
        TaskView task;
        std::string commit;
        bool pushed = false;
        std::vector<std::string> notes;
        template <class V>
        void describe(V& v) {
            v.required("task", task, "the task as it is now");
            v.required("commit", commit, "where the default branch is now");
            v.required("pushed", pushed, "origin has it too");
            v.optional("notes", notes, "sentences for a human");
        }
    };
};

struct TaskCancel : TaskSelector {
    static constexpr const char* k_name = "task.cancel";
    using Reply = TaskReply;
    template <class V>
    void describe(V& v) {
        describe_selector(v);
    }
};

struct TaskDelete : TaskSelector {
    static constexpr const char* k_name = "task.delete";
    bool force = false;
    template <class V>
    void describe(V& v) {
        describe_selector(v);
        v.optional("force", force, "cancel it first where it has not ended");
    }
    struct Reply {
        std::string id;
        std::vector<std::string> notes;
        template <class V>
        void describe(V& v) {
            v.required("id", id, "the task that is gone");
            v.optional("notes", notes, "what was kept, and where");
        }
    };
};

struct TaskAttach : TaskSelector {
    static constexpr const char* k_name = "task.attach";
    template <class V>
    void describe(V& v) {
        describe_selector(v);
    }
    struct Reply {
        std::vector<std::string> argv;
        std::string session;
        template <class V>
        void describe(V& v) {
            v.required("argv", argv, "what to execute in the caller's terminal");
            v.required("session", session, "the tmux session's name");
        }
    };
};

struct TaskPeek : TaskSelector {
    static constexpr const char* k_name = "task.peek";
    int lines = 40;
    std::optional<std::string> role;
    template <class V>
    void describe(V& v) {
        describe_selector(v);
        v.optional("lines", lines, "how many lines, 1 to 5000");
        v.optional("role", role, "worker or reviewer; else whoever is at work");
    }
    struct Reply {
        std::string role;
        std::string text;
        template <class V>
        void describe(V& v) {
            v.required("role", role, "whose window it is");
            v.required("text", text, "the end of its screen and scrollback");
        }
    };
};

struct TaskSend : TaskSelector {
    static constexpr const char* k_name = "task.send";
    using Reply = TaskReply;
    std::string text;
    std::optional<std::string> role;
    template <class V>
    void describe(V& v) {
        describe_selector(v);
        v.required("text", text, "a message for the agent, one line");
        v.optional("role", role, "worker (default) or reviewer");
    }
};

struct TaskHistory : TaskSelector {
    static constexpr const char* k_name = "task.history";
    template <class V>
    void describe(V& v) {
        describe_selector(v);
    }
    struct Reply {
        Json events = Json::array();
        template <class V>
        void describe(V& v) {
            v.required("events", events, "history.jsonl, oldest first");
        }
    };
};

struct TaskAck : TaskSelector {
    static constexpr const char* k_name = "task.ack";
    using Reply = TaskReply;
    template <class V>
    void describe(V& v) {
        describe_selector(v);
    }
};

/// One outgoing edge of a task's state.
struct EdgeView {
    std::string to;
    std::vector<std::string> by;
    bool open = false;
    bool needs_force = false;
    std::string guard;
    bool guard_holds = true;
    std::string gate;
    std::optional<std::string> missing;
    template <class V>
    void describe(V& v) {
        v.required("to", to, "the state it leads to");
        v.required("by", by, "who may ask for it");
        v.required("open", open, "guard and gate hold now");
        v.required("needs_force", needs_force, "only with a human's confirmation");
        v.optional("guard", guard, "the condition on the task's counters");
        v.optional("guard_holds", guard_holds, "whether it holds");
        v.optional("gate", gate, "the section that TASK.md must have");
        v.optional("missing", missing, "what exactly is missing");
    }
};

struct TaskWhy : TaskSelector {
    static constexpr const char* k_name = "task.why";
    template <class V>
    void describe(V& v) {
        describe_selector(v);
    }
    struct Reply {
        TaskView task;
        std::string waiting_for;
        std::vector<EdgeView> edges;
        std::vector<std::string> hints;
        template <class V>
        void describe(V& v) {
            v.required("task", task, "the task");
            v.required("waiting_for", waiting_for, "what the task waits for, in a sentence");
            v.required("edges", edges, "every way out of its state");
            v.optional("hints", hints, "commands that help");
        }
    };
};

}  // namespace orange::rpc
