#pragma once

#include <string>
#include <vector>

#include "daemon/git/git.hpp"
#include "daemon/git/pinned.hpp"

/// The repository of an agent behind a wall (`repository: own` of its executor).
///
/// The agent has two things only: its worktree, and a repository of its own, which reads the objects of the project's
/// (alternates) and has a copy of its branches. The project's repository is read-only to it. The daemon goes on to see
/// the worktree as one of the project's repository, and runs no git in the agent's: it takes over what the agent has
/// committed by a fetch whose far side, upload-pack, runs behind the wall. Git hashes every object that comes in. So
/// what the agent does to its own objects, refs, configuration and hooks stays behind the wall.
namespace orange::git {

/// Names the repositories and refs that make_own() and take_over() work on.
struct OwnPlace {
    std::string repo;  ///< the project's repository
    std::string path;  ///< the agent's repository
    std::string refs;  ///< below which the project keeps what the agent's repository stands on: refs/orange/<task>/own
};

/// Makes the agent's repository as the worktree is now: with the branches `names` ("main"), origin's branches and tags,
/// and with what the project's configuration says about identity, filters, line ends and hooks, but no secret of it.
/// Replaces one that is there.
Awaitable<Result<void>> make_own(Git& git, OwnPlace place, Pinned worktree, std::vector<std::string> names);

/// Takes over what the agent has committed. `upload_pack` is the command, for a shell, that runs `git upload-pack`
/// behind the wall. The worktree's HEAD and index follow the agent's HEAD; its branch follows, unless somebody else
/// has moved it meanwhile: then conflict, and the agent's commits are kept in a ref that the message names. A branch
/// that the agent has made or renamed is made; one of the project is never moved, and while the agent is on it, or on
/// none, HEAD is at the commit alone. Can be repeated after an end at any point.
Awaitable<Result<void>> take_over(Git& git, OwnPlace place, Pinned worktree, std::string upload_pack);

/// Refuses the name of a new branch that git could take for another ref of the project, such as origin/main: a person
/// who names that ref would get the agent's commits.
Awaitable<Result<void>> check_agents_branch(Git& git, std::string repo, std::string name);

/// Returns a script for a shell behind the wall, in the worktree, that brings the agent's repository to where the
/// worktree and the branches `names` are; empty if it is there already. The caller has called take_over().
Awaitable<Result<std::string>> to_hand_over(Git& git, OwnPlace place, Pinned worktree, std::string upload_pack,
                                            std::vector<std::string> names);

/// A script for a shell behind the wall that makes a commit of what is staged and differs from the files, and names
/// each stash.
inline constexpr const char* k_keep_staged =
    "git diff --quiet || git diff --cached --quiet || git update-ref refs/orange/staged "
    "$(git commit-tree $(git write-tree) -p HEAD -m 'what was staged')\n"
    "for each in $(git rev-list -g --max-count=50 refs/stash 2>/dev/null); do "
    "git update-ref refs/orange/stash-$each $each; done";

/// Fetches the agent's other branches, its stash and what k_keep_staged has kept, as refs below `below`
/// (refs/orange/<task>), unless a ref of the project has them. Returns the new refs.
Awaitable<Result<std::vector<std::string>>> keep_own(Git& git, OwnPlace place, std::string upload_pack,
                                                     std::string below);

/// Returns true if the repository has what keep_own() does not keep: repositories of submodules, files of Git LFS.
bool holds_more(const OwnPlace& place);

/// Moves the agent's repository to `aside`, which has to be on the same disk.
Result<void> set_own_aside(const std::string& path, const std::string& aside);

/// Removes the agent's repository, and the refs that kept what it stood on.
Awaitable<Result<void>> remove_own(Git& git, OwnPlace place);

}  // namespace orange::git
