#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/model/fields.hpp"

/// Parameters and results of `daemon.doctor`.
namespace orange::rpc {

/// The result of one check: what was found and, if there is a problem, how to fix it.
struct Finding {
    std::string check;
    std::string level =
        "ok";  ///< or "warning" (it works, but a human should know) or "error" (something does not work)
    std::string text;
    std::optional<std::string> file;     ///< the file with the problem, with ":line" if it is known
    std::optional<std::string> command;  ///< the command that fixes it; words in capitals have to be filled in
    void describe(auto& v) {
        v.required("check", check, "what was looked at: tasks, worktrees, tmux …");
        v.required("level", level, "ok, warning or error");
        v.required("text", text, "a sentence");
        v.optional("file", file, "the file at fault, with :line where that is known");
        v.optional("command", command, "the command that fixes it");
    }
};

struct DaemonDoctor {
    static constexpr const char* k_name = "daemon.doctor";
    std::optional<std::string> project;
    bool histories = false;
    void describe(auto& v) {
        v.optional("project", project, "look at this one alone; absent: at all of them");
        v.optional("histories", histories, "also verify the chain of every history, as task.verify does");
    }
    struct Reply {
        std::vector<Finding> findings;
        void describe(auto& v) { v.required("findings", findings, "in the order in which it was looked"); }
    };
};

}  // namespace orange::rpc
