#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/git/git.hpp"
#include "daemon/git/pinned.hpp"

/// Repositories inside a worktree: submodules, and repositories that agents create. Git keeps the repository of a
/// submodule below `modules/` in its own folder for the worktree, and removes it together with the worktree.
namespace orange::git {

/// A repository below a worktree, opened and held by descriptors: a different repository at the same path later is
/// neither read nor changed.
struct Nested {
    Pinned outer;  ///< the worktree's git, run in this repository's folder
    std::optional<Pinned>
        repository;             ///< the repository, if its .git is a folder, or leads to a module of the worktree
    bool is_whole = false;      ///< all of it lies in that folder; otherwise Orange writes nothing there
    bool is_module = false;     ///< its .git leads to a module of the worktree
    std::string recorded = {};  ///< the commit that HEAD records for it as a submodule; empty: none

    bool is_submodule() const { return is_module || !recorded.empty(); }
};

struct NestedPath {
    std::string path;      ///< in the worktree
    std::string recorded;  ///< see Nested::recorded
};
/// Returns all repositories whose files are in a worktree, without ignored ones and without those inside another one.
Awaitable<Result<std::vector<NestedPath>>> repositories_inside(Git& git, Pinned worktree);

/// Returns the paths of the submodules in an index; `env` names the index, otherwise it is the worktree's own.
Awaitable<Result<std::vector<std::string>>> submodules_in_index(Git& git, Pinned worktree,
                                                                std::map<std::string, std::string> env = {});

/// Moves the repositories in a walled worktree into the folder `aside`, with their files, and the repositories of its
/// submodules. No git runs in them. Returns their new paths.
Awaitable<Result<std::vector<std::string>>> set_repositories_aside(Git& git, Pinned worktree, std::string aside);

/// Opens a nested repository. io if a link is on the way to it, conflict if its .git has more than git makes; the
/// message contains the command to run.
Result<Nested> open_nested(const Pinned& worktree, const NestedPath& at);

/// Makes the error of open_nested() for the repository at `path`, with the reason `why`.
Error keeping_failed(const std::string& path, Error why);

/// Removes the repository's .git, so that its files become the worktree's own. conflict if it has been replaced since
/// it was opened.
Result<void> remove_git_of(Git& git, const Nested& nested);

/// The repository of a submodule. Its files do not need to be in the worktree, and git runs in its git directory.
struct Module {
    Pinned repository;
    std::string name;  ///< the path below modules/, for example "libs/zlib"
    bool is_whole = false;
};

/// Returns the modules of a worktree or of a repository, without nested modules.
Result<std::vector<Module>> modules_of(const Pinned& repository);
/// Deletes a module and its commits.
Result<void> remove_module(Git& git, const Pinned& repository, const Module& module);

}  // namespace orange::git
