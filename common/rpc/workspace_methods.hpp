#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/model/fields.hpp"

/// Parameters and results of `workspace.*`.
namespace orange::rpc {

struct WorkspaceView {
    std::string name;
    std::string project;
    std::string path;
    std::string state;  ///< "free", "taken", "surplus" (free, but the pool is smaller now), "broken"
    std::optional<std::string> task;
    std::optional<std::string> short_id;
    std::optional<std::string> branch;
    std::optional<std::string> problem;
    void describe(auto& v) {
        v.required("name", name, "<project>--<n>");
        v.required("project", project, "whose it is");
        v.required("path", path, "the worktree");
        v.required("state", state, "free, taken, surplus or broken");
        v.optional("task", task, "who has it");
        v.optional("short_id", short_id, "that task's id as people type it");
        v.optional("branch", branch, "that task's branch");
        v.optional("problem", problem, "what is wrong with it");
    }
};

struct WorkspaceReply {
    std::vector<WorkspaceView> workspaces;
    std::vector<std::string> notes;
    void describe(auto& v) {
        v.required("workspaces", workspaces, "by name");
        v.optional("notes", notes, "what was done, and what becomes of surplus ones");
    }
};

struct WorkspaceInit {
    static constexpr const char* k_name = "workspace.init";
    using Reply = WorkspaceReply;
    std::optional<std::string> project;
    std::optional<std::string> cwd;
    void describe(auto& v) {
        v.optional("project", project, "which project; else the one that cwd is in");
        v.optional("cwd", cwd, "the caller's directory");
    }
};

struct WorkspaceList {
    static constexpr const char* k_name = "workspace.list";
    using Reply = WorkspaceReply;
    std::optional<std::string> project;
    void describe(auto& v) { v.optional("project", project, "only this project's"); }
};

struct WorkspaceGc {
    static constexpr const char* k_name = "workspace.gc";
    using Reply = WorkspaceReply;
    std::optional<std::string> project;
    void describe(auto& v) { v.optional("project", project, "only this project's"); }
};

}  // namespace orange::rpc
