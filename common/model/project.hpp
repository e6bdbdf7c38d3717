#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace orange {

/// An entry of projects.json (seed 001): a repository that tasks work on.
inline constexpr int k_largest_pool = 64;

struct Project {
    std::string name;
    std::string path;
    std::string default_branch;
    int pool_size = 4;
    std::optional<std::string> workflow;
    std::optional<std::string> harness;
    std::vector<std::string> setup;
    std::map<std::string, std::string> env;
    std::vector<std::string> trusted;

    template <class V>
    void describe(V& v) {
        v.required("name", name, "the project's name, in paths and in names of tmux sessions");
        v.required("path", path, "absolute path of the repository's main worktree");
        v.optional("default_branch", default_branch, "what tasks begin at and are merged into");
        v.optional("pool_size", pool_size, "how many workspaces at most");
        v.sparse("workflow", workflow, "workflow for new tasks; absent: default");
        v.sparse("harness", harness, "harness for new tasks; absent: the first installed");
        v.sparse("setup", setup, "argv run in a workspace before its agent starts; absent: none");
        v.sparse("env", env, "variables for its agents");
        v.sparse("trusted", trusted, "harnesses that a human let trust the repository");
    }
    bool operator==(const Project&) const = default;

    /// A human consented that this harness's program trusts the repository.
    bool lets_trust(const std::string& name_of_harness) const {
        return std::find(trusted.begin(), trusted.end(), name_of_harness) != trusted.end();
    }
};

}  // namespace orange
