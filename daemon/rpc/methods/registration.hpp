#pragma once

#include <string>
#include <vector>

#include "common/rpc/project_methods.hpp"
#include "daemon/rpc/api.hpp"

/// Checks a new or changed project.
namespace orange::rpc {

struct NewProject {
    Project project;
    std::vector<std::string> notes;  ///< about its branch and its remotes, for the human
};

/// Builds the project that `params` asks for, with defaults for everything left out, but does not store it. conflict if
/// the repository is registered already, or the name is taken.
Awaitable<Result<NewProject>> new_project(Api& api, ProjectAdd params);

/// Returns `wanted`, or the first of wanted-2, wanted-3 … that no project has.
std::string unused_project_name(Api& api, const std::string& wanted);

/// Returns the main worktree of the repository that contains `path`.
Awaitable<Result<std::string>> repository_at(Api& api, std::string path);

Awaitable<Result<void>> check_default_branch(Api& api, std::string repo, std::string branch);
Result<void> check_pool_size(int size);
/// Checks the setup and dev commands of a project. Clears one that is a single empty word. Refuses one that begins with
/// an empty word, and a whole command in one word if no program has that name. `command`: what a person runs to change
/// the project, for the message.
Result<void> check_commands(FileSystem& files, Project& project, const std::string& command);

}  // namespace orange::rpc
