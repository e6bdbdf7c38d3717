#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/model/settings.hpp"

namespace orange {

/// The largest number of workspaces that a project may have.
inline constexpr int k_largest_pool = 64;

/// An entry of projects.json: a repository that tasks work on.
struct Project {
    std::string name;
    std::string path;
    std::string default_branch;
    int pool_size = 8;
    std::optional<std::string> workflow;
    std::optional<std::string> harness;
    std::vector<std::string> setup;
    std::map<std::string, std::string> env;
    std::vector<std::string> trusted;
    ProjectSettings settings = {};
    std::vector<std::string> dev = {};

    void describe_but_settings(auto& v) {
        v.required("name", name, "the project's name, in paths and in names of tmux sessions");
        v.required("path", path, "absolute path of the repository's main worktree");
        v.optional("default_branch", default_branch, "what tasks begin at and are merged into");
        v.optional("pool_size", pool_size, "how many workspaces at most");
        v.sparse("workflow", workflow, "workflow for new tasks; absent: default");
        v.sparse("harness", harness, "harness for new tasks; absent: the first installed");
        v.sparse("setup", setup, "argv run in a workspace before its agent starts; absent: none");
        v.sparse("dev", dev, "argv with which a human tries a task's work; absent: none");
        v.sparse("env", env, "variables for its agents");
        v.sparse("trusted", trusted, "harnesses that a human let trust the repository");
    }
    void describe(auto& v) {
        describe_but_settings(v);
        v.sparse("settings", settings, "what it does otherwise than config.yml says");
    }
    bool operator==(const Project&) const = default;

    /// Returns the command that allows one more workspace; empty if the pool has the maximum size.
    std::string command_for_more_room() const {
        if (pool_size >= k_largest_pool) return {};
        return "orange project update " + name + " --pool-size " + std::to_string(pool_size + 1);
    }
    /// Returns true if a human agreed that this harness's program trusts the repository.
    bool lets_trust(const std::string& name_of_harness) const {
        return std::find(trusted.begin(), trusted.end(), name_of_harness) != trusted.end();
    }
};

}  // namespace orange
