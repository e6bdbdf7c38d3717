#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/model/fields.hpp"
#include "common/rpc/task_view.hpp"

/// Parameters and results of `task.wait` and `task.log`.
namespace orange::rpc {

struct TaskWait : TaskSelector {
    static constexpr const char* k_name = "task.wait";
    std::vector<std::string> until;
    std::optional<std::int64_t> timeout;
    void describe(auto& v) {
        TaskSelector::describe(v);
        v.optional("for", until, "states, or: ended, attention, human (needs one; what is waited for by default)");
        v.optional("timeout", timeout, "seconds after which the call answers anyway");
    }
    struct Reply {
        TaskView task;
        bool reached = false;
        bool timed_out = false;
        std::string why;
        void describe(auto& v) {
            v.required("task", task, "the task as it is now");
            v.required("reached", reached, "it is what was waited for, and the actions of getting there have ended");
            v.required("timed_out", timed_out, "the time passed");
            v.required("why", why, "what was reached, or why it never will be, in a sentence");
        }
    };
};

/// The window of one agent's run.
struct WindowView {
    std::string window;
    std::string run;
    std::string role;
    bool alive = false;
    std::optional<std::string> ended_at;
    std::optional<std::int64_t> exit_status;
    std::int64_t size = 0;
    void describe(auto& v) {
        v.required("window", window, "its name: worker, worker-2, review-1 …");
        v.required("run", run, "the run's id");
        v.required("role", role, "worker or reviewer");
        v.required("alive", alive, "the agent still runs; what it shows is not in a file yet");
        v.optional("ended_at", ended_at, "when what it showed was saved");
        v.optional("exit_status", exit_status, "of the agent, where it is known");
        v.optional("size", size, "bytes that were saved");
    }
};

struct TaskLog : TaskSelector {
    static constexpr const char* k_name = "task.log";
    std::optional<std::string> role;
    std::optional<std::string> window;
    int lines = 200;
    bool list = false;
    void describe(auto& v) {
        TaskSelector::describe(v);
        v.optional("role", role, "the last window of the worker or of the reviewer");
        v.optional("window", window, "a window's name (the last of it), a run's id, or <window>-<run>");
        v.optional("lines", lines, "how many of the last lines, 1 to 5000");
        v.optional("list", list, "only which windows there are");
    }
    struct Reply {
        std::vector<WindowView> windows;
        std::optional<WindowView> shown;
        std::string text;
        void describe(auto& v) {
            v.required("windows", windows, "newest first");
            v.optional("shown", shown, "whose text it is");
            v.optional("text", text, "the last lines, as they were shown: bytes of an agent");
        }
    };
};

}  // namespace orange::rpc
