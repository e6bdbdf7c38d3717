#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/agents/executor.hpp"
#include "daemon/git/own.hpp"
#include "daemon/runner/world.hpp"

/// These functions look after what is behind the wall of a task besides its agent: the agent's own repository
/// (daemon/git/own.hpp), and the commands of the project that run files of the agent. All of it is for executors with
/// `repository: own`; for the others these functions do nothing.
namespace orange::walls {

/// A worktree, and the wall that commands in it run behind.
struct WalledWorktree {
    Task task;
    agents::Executor executor;
    std::string worktree;
    std::string key;  ///< of its repository: the task's id, or a name for the place of a project's checks
    git::OwnPlace own;
    std::string git_common;  ///< the project's .git
};

/// Returns the executor of the task, if its agents have a repository of their own.
std::optional<agents::Executor> wall_of(const World& world, const Task& task);
/// Returns the place of the task's commands in its worktree; nullopt if there is no wall.
std::optional<WalledWorktree> place_of(const World& world, const Task& task, const git::Pinned& worktree);
/// Returns likewise the place of the task's commands in the place of its project's checks.
std::optional<WalledWorktree> place_of_checks(const World& world, const Task& task, const git::Pinned& worktree);
std::string key_of_checks(const std::string& project);
/// Returns the folder of the repository, and the file that stands in place of the worktree's `.git` behind the wall.
std::string repository_of(const World& world, const std::string& key);
std::string link_of(const World& world, const std::string& key);
/// Returns the words that run a command behind the wall, in the place of which they have the word {inner}.
std::vector<std::string> inside(const World& world, const WalledWorktree& place, bool has_network);
/// Returns such words with the command.
std::vector<std::string> around(const std::vector<std::string>& inside, const std::vector<std::string>& inner);

/// conflict if the task's agent has a repository of its own, and its wall is not known: nothing of it may run then.
Result<void> check(const World& world, const Task& task);

/// Fails if commands in the place could not be kept to the network of their project (networks.hpp).
Result<void> check_network(const World& world, const WalledWorktree& place);

/// Makes the repository of the place as its worktree is, if it is not there.
Awaitable<Result<void>> make_ready(World& world, WalledWorktree place, git::Pinned worktree);
/// Returns argv, a command of the project's, as it runs behind the wall of the task, whose repository is made ready;
/// itself if there is no wall, or if its executor has such commands outside.
Awaitable<Result<std::vector<std::string>>> behind(World& world, Task task, git::Pinned worktree,
                                                   std::vector<std::string> argv);
/// Brings a repository that is there to where the project's branches are.
Awaitable<Result<void>> hand_over(World& world, WalledWorktree place, git::Pinned worktree);

/// Takes over what the agent has committed; nothing if the workspace has no such repository. The Error says why git or
/// the wall refuse it.
Awaitable<Result<void>> take_over(World& world, Task task, git::Pinned worktree);

/// Renames the agent's branch, after the worktree's was renamed.
Awaitable<Result<void>> rename_there(World& world, WalledWorktree place, std::string from, std::string to);

/// Merges a commit of the project in the agent's repository, and takes the result over. conflict, and nothing is
/// changed, if git cannot merge by itself.
Awaitable<Result<std::string>> merge_there(World& world, WalledWorktree place, git::Pinned worktree, std::string commit,
                                           std::string message);

/// Moves the agent's branch and the worktree's files from one commit to another one of the project, and takes that
/// over. Fails, and changes nothing, if the branch is not at `from`, or if an uncommitted change is in the way.
Awaitable<Result<void>> reset_there(World& world, WalledWorktree place, git::Pinned worktree, std::string from,
                                    std::string to);

/// Keeps what else the agent has in its repository, and removes it. If that fails, the repository is moved to
/// workspaces/.found. Returns sentences about both.
Awaitable<std::vector<std::string>> give_up(World& world, Task task);

/// Removes what commands after give_up() have made again, once the workspace is given back.
Awaitable<void> sweep(World& world, Task task);

/// Removes the repository of a place of checks.
Awaitable<Result<void>> remove(World& world, WalledWorktree place);

/// Lets a task whose executor was recorded when it had no repository of its own use the definition of today.
void use_current(const World& world, Task& task);

}  // namespace orange::walls
