#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace orange {

/// An entry of projects.json (seed 001): a repository that tasks work on.
struct Project {
    std::string name;
    std::string path;  ///< absolute path of the repository's main worktree
    std::string default_branch;
    int pool_size = 2;
    std::optional<std::string> workflow;     ///< name of the workflow for new tasks; `default` where unset
    std::optional<std::string> harness;      ///< harness for new tasks; first installed where unset
    std::vector<std::string> setup;          ///< argv run in a workspace before its agent starts; empty: none
    std::map<std::string, std::string> env;  ///< for its agents

    bool operator==(const Project&) const = default;
};

}  // namespace orange
