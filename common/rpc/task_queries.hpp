#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/model/fields.hpp"
#include "common/model/group_use.hpp"
#include "common/model/history_chain.hpp"
#include "common/rpc/comment_methods.hpp"
#include "common/rpc/task_view.hpp"

/// Parameters and results of the `task.*` methods that only read.
namespace orange::rpc {

struct TaskList {
    static constexpr const char* k_name = "task.list";
    std::optional<std::string> project;
    std::optional<std::string> cwd;
    std::optional<std::string> status;
    bool all = false;
    bool needs = false;
    bool changes = false;
    bool count = false;
    std::optional<std::string> search;
    int limit = 0;
    std::optional<std::string> after;
    void describe(auto& v) {
        v.optional("project", project, "only this project's");
        v.optional("cwd", cwd, "only the project's that this directory is in, where it is in one");
        v.optional("status", status, "only tasks of this status");
        v.optional("all", all, "ended tasks (done, cancelled) too");
        v.optional("needs", needs, "only tasks that need their human");
        v.sparse("changes", changes, "add what the commits of their branches change, as it was counted last");
        v.sparse("count", count, "only say how many tasks need their human; the reply has no tasks");
        v.optional("search", search,
                   "only tasks with this text in branch, summary, id or project; capitals matter if it has one");
        v.optional("limit", limit, "at most this many; 0: all; a page has its own size");
        v.optional(
            "after", after,
            "only one page: the tasks behind this `next` of a reply, newest first, or, if it is empty, the first "
            "page, which has all tasks that have not ended. Later pages may repeat tasks of the first one");
    }
    struct Reply {
        std::vector<TaskView> tasks;
        std::int64_t hidden = 0;
        std::int64_t beyond_limit = 0;
        std::optional<std::int64_t> count;
        bool counting = false;
        std::optional<std::string> next;
        /// Written by the daemon in pieces, since there may be thousands.
        static constexpr const char* k_pieces = "tasks";
        std::vector<TaskView>& pieces() { return tasks; }
        void describe(auto& v) {
            v.required(
                "tasks", tasks,
                "those that need their human first, most urgent and longest waiting on top; then those that work, "
                "oldest first; then those that wait; then those that have ended, newest first");
            v.optional("hidden", hidden, "how many ended tasks were left out");
            v.sparse("beyond_limit", beyond_limit, "how many other tasks `limit` left out");
            v.sparse("count", count, "how many tasks need their human, if count was asked for");
            v.sparse("counting", counting, "a branch may have moved and is being counted; only with changes");
            v.optional("next", next, "with `after`: the `after` of the next page; absent: this is the last one");
        }
    };
};

struct TaskDiff : TaskSelector {
    static constexpr const char* k_name = "task.diff";
    bool patch = false;
    bool since_review = false;
    bool merge = false;
    bool comments = false;
    void describe(auto& v) {
        TaskSelector::describe(v);
        v.sparse("comments", comments, "also the comments on files, and what the reviewer says about lines");
        v.sparse("merge", merge, "also what its merge would ask and where it would conflict, as far as is known here");
        v.sparse("since_review", since_review, "only what came after the commit that was reviewed last");
        v.sparse("patch", patch, "show the changes, too: `stat` and `text`");
    }
    struct Reply {
        std::string repository;
        std::string base;
        std::string tip;
        std::string commit;
        ChangeCounts changes;
        std::string stat;
        std::string text;
        bool cut = false;
        std::string alarm;
        std::string concerns;
        std::string confirms;
        std::vector<std::string> conflicts;
        std::vector<CommentView> comments;
        std::vector<RemarkView> remarks;
        void describe(auto& v) {
            v.sparse("comments", comments, "with `comments`: those on files, at their places between `base` and `tip`");
            v.sparse("remarks", remarks, "with `comments`: lines of ## Review that name lines, and are not taken over");
            v.sparse("concerns", concerns, "with `merge`: what a human has to confirm before `commit` is merged");
            v.sparse("confirms", confirms,
                     "with `merge`: what task.merge takes as `confirmed`, once `concerns` were shown");
            v.sparse("conflicts", conflicts, "with `merge`: the files in which `commit` conflicts with its target");
            v.required("repository", repository, "where to run git diff: the project's own repository");
            v.required("base", base, "the commit that the branch began at, or the one that was reviewed");
            v.required("tip", tip, "a tree of the worktree as it is now, uncommitted and untracked files included");
            v.sparse("commit", commit, "the branch's newest commit, which a merge would take");
            v.required("changes", changes, "how much that is");
            v.sparse("stat", stat, "with `patch`: the files, as git diff --stat shows them");
            v.sparse("text", text, "with `patch`: what git diff shows, without colours; at most 512 KiB");
            v.sparse("cut", cut, "`text` is not all of it");
            v.sparse("alarm", alarm, "what was changed that git or an agent runs, and how to acknowledge it");
        }
    };
};

/// A message to an agent.
struct MessageView {
    std::string to;
    std::string from;
    std::string text;
    std::string state;
    Timestamp at{};
    void describe(auto& v) {
        v.required("to", to, "worker or reviewer");
        v.required("from", from, "human or system");
        v.required("text", text, "what is typed into its window");
        v.required("state", state, "queued, typed, or seen: its window shows that its program took it");
        v.required("at", at, "when it was typed last; of a queued one, when it was sent");
    }
};

/// The memory, processor time and disk that a living agent uses, and its limits.
struct AgentUse {
    std::string role;
    std::optional<GroupUse> use;
    std::int64_t limit = 0;
    bool enforced = false;
    std::int64_t processes_limit = 0;
    bool processes_enforced = false;
    std::int64_t disk_limit = 0;
    std::int64_t disk = 0;
    void describe(auto& v) {
        v.required("role", role, "worker or reviewer");
        v.optional("use", use, "of the agent and all that it has started; absent: it has no control group of its own");
        v.sparse("limit", limit, "limits.memory in bytes, as it was when the agent started; absent: none");
        v.sparse("enforced", enforced, "the kernel holds the agent and all that it has started to the limit");
        v.sparse("processes_limit", processes_limit,
                 "limits.processes, as it was when the agent started; absent: none");
        v.sparse("processes_enforced", processes_enforced, "the agent is held to that one");
        v.sparse("disk_limit", disk_limit, "limits.disk in bytes, as it was when the agent started; absent: none");
        v.sparse("disk", disk, "bytes that its worktree had when it was measured last; absent: it was not");
    }
};

/// A request of an agent's program that waits for its human's answer (permit_methods.hpp).
struct PermitView {
    std::int64_t number = 0;
    Role role = Role::worker;
    std::string harness;
    std::string tool;
    std::string line;
    std::string request;
    bool whole = false;
    Timestamp since{};
    void describe(auto& v) {
        v.required("number", number, "the number of the request in its task; never used again");
        v.required("role", role, "whose program asks");
        v.required("harness", harness, "the program");
        v.required("tool", tool, "the tool that the agent wants to use, as the program names it");
        v.required("line", line, "what it asks for, in one line, perhaps cut");
        v.required("request", request, "all that it asks for, for people, with line breaks; text of an agent");
        v.optional("whole", whole, "`request` is complete: it can be allowed, not only denied");
        v.required("since", since, "when it came");
    }
    /// True if `line` says all of it.
    bool is_short() const { return whole && line == request; }
};

struct TaskShow : TaskSelector {
    static constexpr const char* k_name = "task.show";
    bool changes = false;
    bool comments = false;
    void describe(auto& v) {
        TaskSelector::describe(v);
        v.sparse("comments", comments, "also the comments on sections of TASK.md");
        v.optional("changes", changes, "count what its branch changes, too, which asks git");
    }
    struct Reply {
        TaskView task;
        std::string body;
        std::vector<std::string> kept;
        std::optional<ChangeCounts> changes;
        std::vector<MessageView> messages;
        std::optional<RelatedTask> parent;
        std::optional<RelatedTask> fork_of;
        std::vector<RelatedTask> children;
        std::vector<AgentUse> agents;
        std::map<std::string, std::string> harnesses;
        Json history = Json::array();
        std::vector<CommentView> comments;
        std::vector<PermitView> permits;
        void describe(auto& v) {
            v.required("task", task, "the task");
            v.required("body", body, "TASK.md below the frontmatter");
            v.sparse("comments", comments, "with `comments`: those on sections, at their places in `body`");
            v.sparse("permits", permits, "requests of its agents' programs that wait for their human, oldest first");
            v.sparse("kept", kept, "files with lines that went from TASK.md, oldest first");
            v.optional("messages", messages, "the last messages to its agents, oldest first");
            v.optional("changes", changes, "what its branch changes, committed and not; absent: git cannot say");
            v.optional("parent", parent, "the task that it is a part of");
            v.optional("fork_of", fork_of, "the task with whose work it began");
            v.sparse("children", children, "its sub-tasks, oldest first");
            v.sparse("agents", agents, "what its living agents use of the machine");
            v.sparse("harnesses", harnesses, "which agent works in a status for which its workflow names another one");
            v.required("history", history, "the last 20 events");
        }
    };
};

/// An outgoing edge of a task's state.
struct EdgeView {
    std::string to;
    std::string means;
    std::vector<std::string> by;
    bool open = false;
    bool needs_force = false;
    std::string guard;
    bool guard_holds = true;
    std::string gate;
    std::optional<std::string> missing;
    void describe(auto& v) {
        v.required("to", to, "the state it leads to");
        v.sparse("means", means, "what that state stands for: initial, done, cancelled, stuck or clarification");
        v.required("by", by, "who may ask for it");
        v.required("open", open, "guard and gate hold now");
        v.required("needs_force", needs_force, "only with a human's confirmation");
        v.optional("guard", guard, "the condition on the task's counters");
        v.optional("guard_holds", guard_holds, "whether it holds");
        v.optional("gate", gate, "the section that TASK.md must have");
        v.optional("missing", missing, "what exactly is missing");
    }
};

/// The next step that Orange takes for a task by itself.
struct NextStep {
    std::string what;
    std::int64_t in_ms = 0;
    std::string why;
    void describe(auto& v) {
        v.required("what", what, "an infinitive: \"remind the agent\"");
        v.required("in_ms", in_ms, "when, in milliseconds from now, if nothing changes before");
        v.sparse("why", why, "why it was tried in vain; absent: it was not tried yet");
    }
};

struct TaskWhy : TaskSelector {
    static constexpr const char* k_name = "task.why";
    struct Reply {
        TaskView task;
        std::string waiting_for;
        std::optional<NextStep> next;
        std::vector<EdgeView> edges;
        std::vector<std::string> hints;
        std::vector<AgentUse> agents;
        void describe(auto& v) {
            v.required("task", task, "the task");
            v.required("waiting_for", waiting_for, "what the task waits for, in a sentence");
            v.sparse("next", next, "what Orange will do for the task by itself; absent: nothing without a change");
            v.required("edges", edges, "every way out of its state");
            v.optional("hints", hints, "commands that help");
            v.sparse("agents", agents, "what its living agents use of the machine");
        }
    };
};

struct TaskHistory : TaskSelector {
    static constexpr const char* k_name = "task.history";
    int limit = 0;
    void describe(auto& v) {
        TaskSelector::describe(v);
        v.optional("limit", limit, "maximum number, the last ones; 0: all that one call gives");
    }
    struct Reply {
        Json events = Json::array();
        bool left_out = false;
        static constexpr const char* k_pieces = "events";
        Json& pieces() { return events; }
        void describe(auto& v) {
            v.required("events", events, "history.jsonl, oldest first");
            v.optional("left_out", left_out, "there are older ones, too many for one call");
        }
    };
};

struct TaskVerify : TaskSelector {
    static constexpr const char* k_name = "task.verify";
    using Reply = ChainReport;
};

struct TaskAttach : TaskSelector {
    static constexpr const char* k_name = "task.attach";
    struct Reply {
        std::vector<std::string> argv;
        std::string session;
        std::string detach_key;
        void describe(auto& v) {
            v.required("argv", argv, "what to execute in the caller's terminal");
            v.required("session", session, "the tmux session's name");
            v.optional("detach_key", detach_key, "the key that leaves it, such as Ctrl-q; else tmux's prefix and d");
        }
    };
};

struct TaskPeek : TaskSelector {
    static constexpr const char* k_name = "task.peek";
    int lines = 40;
    bool colours = false;
    std::optional<std::string> role;
    void describe(auto& v) {
        TaskSelector::describe(v);
        v.optional("lines", lines, "how many lines, 1 to 5000");
        v.sparse("colours", colours, "keep colours and attributes, as SGR sequences");
        v.optional("role", role, "worker or reviewer; default: the active agent");
    }
    struct Reply {
        std::string role;
        std::string text;
        void describe(auto& v) {
            v.required("role", role, "whose window it is");
            v.required("text", text, "the end of its screen and scrollback");
        }
    };
};

}  // namespace orange::rpc
