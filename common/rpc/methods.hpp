#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/rpc/fields.hpp"

/// Parameters and results of the methods that are not about one task (task_methods.hpp has those).
namespace orange::rpc {

struct Empty {
    template <class V>
    void describe(V&) {}
};

struct DaemonPing {
    static constexpr const char* k_name = "daemon.ping";
    template <class V>
    void describe(V&) {}
    struct Reply {
        std::string version;
        std::int64_t pid = 0;
        template <class V>
        void describe(V& v) {
            v.required("version", version, "of the daemon");
            v.required("pid", pid, "of the daemon");
        }
    };
};

struct DaemonStatus {
    static constexpr const char* k_name = "daemon.status";
    template <class V>
    void describe(V&) {}
    struct Reply {
        std::string version;
        std::int64_t pid = 0;
        std::int64_t uptime_seconds = 0;
        std::map<std::string, std::int64_t> tasks;
        std::int64_t agents_alive = 0;
        std::int64_t attention = 0;
        std::int64_t memory_kib = 0;
        std::int64_t connections = 0;
        std::string home;
        std::optional<std::string> last_poll;
        std::vector<std::string> problems;
        template <class V>
        void describe(V& v) {
            v.required("version", version, "of the daemon");
            v.required("pid", pid, "of the daemon");
            v.required("uptime_seconds", uptime_seconds, "since it started");
            v.required("tasks", tasks, "how many, by status");
            v.required("agents_alive", agents_alive, "agent processes that run");
            v.required("attention", attention, "tasks that want a human");
            v.required("memory_kib", memory_kib, "resident memory");
            v.required("connections", connections, "open client connections");
            v.required("home", home, "ORANGE_HOME");
            v.optional("last_poll", last_poll, "when tmux was last looked at");
            v.optional("problems", problems, "files that could not be read, and why");
        }
    };
};

struct DaemonReload {
    static constexpr const char* k_name = "daemon.reload";
    template <class V>
    void describe(V&) {}
    struct Reply {
        std::vector<std::string> notes;
        template <class V>
        void describe(V& v) {
            v.required("notes", notes, "what was read anew, what was wrong with it");
        }
    };
};

struct DaemonShutdown {
    static constexpr const char* k_name = "daemon.shutdown";
    using Reply = Empty;
    template <class V>
    void describe(V&) {}
};

struct RpcDiscover {
    static constexpr const char* k_name = "rpc.discover";
    using Reply = Json;
    template <class V>
    void describe(V&) {}
};

struct ProjectView {
    std::string name;
    std::string path;
    std::string default_branch;
    int pool_size = 0;
    std::string workflow;
    std::optional<std::string> harness;
    std::vector<std::string> setup;
    std::map<std::string, std::string> env;
    std::int64_t active_tasks = 0;
    template <class V>
    void describe(V& v) {
        v.required("name", name, "its name");
        v.required("path", path, "the repository's main worktree");
        v.required("default_branch", default_branch, "what tasks begin at and are merged into");
        v.required("pool_size", pool_size, "at most so many workspaces");
        v.required("workflow", workflow, "workflow of new tasks");
        v.optional("harness", harness, "harness of new tasks");
        v.optional("setup", setup, "argv run in a workspace before its agent starts");
        v.optional("env", env, "environment of its agents");
        v.required("active_tasks", active_tasks, "tasks that have not ended");
    }
};

struct ProjectReply {
    ProjectView project;
    std::vector<std::string> notes;
    template <class V>
    void describe(V& v) {
        v.required("project", project, "the project as it is now");
        v.optional("notes", notes, "sentences for a human");
    }
};

struct ProjectAdd {
    static constexpr const char* k_name = "project.add";
    using Reply = ProjectReply;
    std::string path;
    std::optional<std::string> name;
    std::optional<std::string> default_branch;
    std::optional<int> pool_size;
    std::optional<std::string> workflow;
    std::optional<std::string> harness;
    std::vector<std::string> setup;
    template <class V>
    void describe(V& v) {
        v.required("path", path, "absolute path of a git repository, or of any directory in it");
        v.optional("name", name, "project name; the folder's name where absent");
        v.optional("default_branch", default_branch, "found where absent");
        v.optional("pool_size", pool_size, "at most so many workspaces, 1 to 64; 2 where absent");
        v.optional("workflow", workflow, "workflow of new tasks");
        v.optional("harness", harness, "harness of new tasks");
        v.optional("setup", setup, "argv run in a workspace before its agent starts");
    }
};

struct ProjectList {
    static constexpr const char* k_name = "project.list";
    template <class V>
    void describe(V&) {}
    struct Reply {
        std::vector<ProjectView> projects;
        template <class V>
        void describe(V& v) {
            v.required("projects", projects, "by name");
        }
    };
};

struct ProjectUpdate {
    static constexpr const char* k_name = "project.update";
    using Reply = ProjectReply;
    std::optional<std::string> name;
    std::optional<std::string> cwd;
    std::optional<std::string> path;
    std::optional<std::string> default_branch;
    std::optional<int> pool_size;
    std::optional<std::string> workflow;
    std::optional<std::string> harness;
    std::optional<std::vector<std::string>> setup;
    template <class V>
    void describe(V& v) {
        v.optional("name", name, "which project; else the one that cwd is in");
        v.optional("cwd", cwd, "the caller's directory");
        v.optional("path", path, "where the repository is now");
        v.optional("default_branch", default_branch, "what tasks begin at and are merged into");
        v.optional("pool_size", pool_size, "at most so many workspaces, 1 to 64");
        v.optional("workflow", workflow, "workflow of new tasks; empty: default");
        v.optional("harness", harness, "harness of new tasks; empty: first installed");
        v.optional("setup", setup, "argv run in a workspace before its agent starts; empty: none");
    }
};

struct ProjectRemove {
    static constexpr const char* k_name = "project.remove";
    std::string name;
    template <class V>
    void describe(V& v) {
        v.required("name", name, "which project; it must have no active task");
    }
    struct Reply {
        std::vector<std::string> notes;
        template <class V>
        void describe(V& v) {
            v.required("notes", notes, "what was removed, what was kept");
        }
    };
};

struct WorkspaceView {
    std::string name;
    std::string project;
    std::string path;
    std::string state;  ///< "free", "taken", "broken"
    std::optional<std::string> task;
    std::optional<std::string> branch;
    std::optional<std::string> problem;
    template <class V>
    void describe(V& v) {
        v.required("name", name, "<project>--<n>");
        v.required("project", project, "whose it is");
        v.required("path", path, "the worktree");
        v.required("state", state, "free, taken or broken");
        v.optional("task", task, "who has it");
        v.optional("branch", branch, "that task's branch");
        v.optional("problem", problem, "what is wrong with it");
    }
};

struct WorkspaceReply {
    std::vector<WorkspaceView> workspaces;
    std::vector<std::string> notes;
    template <class V>
    void describe(V& v) {
        v.required("workspaces", workspaces, "by name");
        v.optional("notes", notes, "what was done");
    }
};

struct WorkspaceInit {
    static constexpr const char* k_name = "workspace.init";
    using Reply = WorkspaceReply;
    std::optional<std::string> project;
    std::optional<std::string> cwd;
    template <class V>
    void describe(V& v) {
        v.optional("project", project, "which project; else the one that cwd is in");
        v.optional("cwd", cwd, "the caller's directory");
    }
};

struct WorkspaceList {
    static constexpr const char* k_name = "workspace.list";
    using Reply = WorkspaceReply;
    std::optional<std::string> project;
    template <class V>
    void describe(V& v) {
        v.optional("project", project, "only this project's");
    }
};

struct WorkspaceGc {
    static constexpr const char* k_name = "workspace.gc";
    using Reply = WorkspaceReply;
    std::optional<std::string> project;
    template <class V>
    void describe(V& v) {
        v.optional("project", project, "only this project's");
    }
};

struct WorkflowView {
    std::string name;
    std::string path;
    bool shipped = false;
    bool valid = false;
    std::optional<std::string> problem;
    std::vector<std::string> states;
    template <class V>
    void describe(V& v) {
        v.required("name", name, "its name");
        v.required("path", path, "its file");
        v.required("shipped", shipped, "comes with Orange");
        v.required("valid", valid, "can be used");
        v.optional("problem", problem, "what is wrong with it, a line each");
        v.optional("states", states, "its states in order");
    }
};

struct WorkflowList {
    static constexpr const char* k_name = "workflow.list";
    template <class V>
    void describe(V&) {}
    struct Reply {
        std::vector<WorkflowView> workflows;
        template <class V>
        void describe(V& v) {
            v.required("workflows", workflows, "by name");
        }
    };
};

struct WorkflowShow {
    static constexpr const char* k_name = "workflow.show";
    std::string name;
    template <class V>
    void describe(V& v) {
        v.required("name", name, "which workflow");
    }
    struct TransitionView {
        std::string from;
        std::string to;
        std::string by;
        std::string gate;
        std::string when;
        std::string hooks;
        template <class V>
        void describe(V& v) {
            v.required("from", from, "source state");
            v.required("to", to, "target state");
            v.required("by", by, "who may ask");
            v.required("gate", gate, "the section that TASK.md must have");
            v.required("when", when, "the condition on counters");
            v.required("hooks", hooks, "its actions in order");
        }
    };
    struct Reply {
        WorkflowView workflow;
        std::vector<TransitionView> transitions;
        std::string text;
        template <class V>
        void describe(V& v) {
            v.required("workflow", workflow, "which it is");
            v.required("transitions", transitions, "in the file's order");
            v.required("text", text, "the file");
        }
    };
};

struct WorkflowValidate {
    static constexpr const char* k_name = "workflow.validate";
    std::string text;
    std::string file;
    template <class V>
    void describe(V& v) {
        v.required("text", text, "a definition in YAML");
        v.required("file", file, "its file name; the stem is the name it must have");
    }
    struct ProblemView {
        int line = 0;
        int column = 0;
        std::string message;
        template <class V>
        void describe(V& v) {
            v.required("line", line, "1-based");
            v.required("column", column, "1-based");
            v.required("message", message, "what is wrong, and what would be right");
        }
    };
    struct Reply {
        bool valid = false;
        std::vector<ProblemView> problems;
        template <class V>
        void describe(V& v) {
            v.required("valid", valid, "no problems");
            v.required("problems", problems, "all of them");
        }
    };
};

struct HarnessList {
    static constexpr const char* k_name = "harness.list";
    template <class V>
    void describe(V&) {}
    struct HarnessView {
        std::string name;
        std::string path;
        bool installed = false;
        std::string program;
        std::string mode;
        std::optional<std::string> problem;
        template <class V>
        void describe(V& v) {
            v.required("name", name, "its name");
            v.required("path", path, "its definition");
            v.required("installed", installed, "its program is on PATH");
            v.required("program", program, "what is run");
            v.required("mode", mode, "persistent or oneshot");
            v.optional("problem", problem, "what is wrong or missing");
        }
    };
    struct Reply {
        std::vector<HarnessView> harnesses;
        template <class V>
        void describe(V& v) {
            v.required("harnesses", harnesses, "by name");
        }
    };
};

struct EventsSubscribe {
    static constexpr const char* k_name = "events.subscribe";
    std::optional<std::string> since;
    std::optional<std::string> task;
    std::optional<std::string> project;
    template <class V>
    void describe(V& v) {
        v.optional("since", since, "a cursor: everything after it is sent first; absent: only what comes");
        v.optional("task", task, "only this task's");
        v.optional("project", project, "only this project's");
    }
    struct Reply {
        std::string cursor;
        bool resync = false;
        template <class V>
        void describe(V& v) {
            v.required("cursor", cursor, "where the stream is now");
            v.required("resync", resync, "`since` is no longer known: read the state anew");
        }
    };
};

struct EventsUnsubscribe {
    static constexpr const char* k_name = "events.unsubscribe";
    using Reply = Empty;
    template <class V>
    void describe(V&) {}
};

/// The notification `event` of a subscription: a history line, where it belongs, and the cursor after it.
struct EventNotification {
    static constexpr const char* k_name = "event";
    std::string cursor;
    std::string task;
    std::string project;
    Json event = Json::object();
    template <class V>
    void describe(V& v) {
        v.required("cursor", cursor, "pass as `since` to continue after this event");
        v.required("task", task, "whose event it is");
        v.required("project", project, "its project");
        v.required("event", event, "as in history.jsonl");
    }
};

}  // namespace orange::rpc
