#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/git/git.hpp"
#include "daemon/git/pinned.hpp"

/// Repositories inside a worktree: submodules, and those that agents make. Git keeps the repository of a submodule
/// below `modules/` in its own folder for the worktree, and removes it together with the worktree.
namespace orange::git {

/// A repository below a worktree, as it was when it was opened: no other that comes into its place is read or changed.
struct Nested {
    Pinned outer;                      ///< the worktree's git, run in this repository's folder
    std::optional<Pinned> repository;  ///< itself, if its .git is a folder, or leads to a module of the worktree
    bool is_whole = false;             ///< and all of it lies in that folder; nothing is written there if it does not
    bool is_module = false;            ///< its .git leads to a module of the worktree
    std::string recorded = {};         ///< the commit that HEAD has for it as a submodule; empty: none

    bool is_submodule() const { return is_module || !recorded.empty(); }
};

struct NestedPath {
    std::string path;      ///< in the worktree
    std::string recorded;  ///< as Nested has it
};
/// All repositories whose files are in a worktree, ignored ones not, and none inside another one.
Awaitable<Result<std::vector<NestedPath>>> repositories_inside(Git& git, Pinned worktree);

/// io if a link is on the way to it, conflict if its .git has more than git makes; the message says what to do.
Result<Nested> open_nested(const Pinned& worktree, const NestedPath& at);

/// That error, for the repository at a path.
Error keeping_failed(const std::string& path, Error why);

/// Without its .git its files are the worktree's own. conflict if another one is there by now.
Result<void> remove_git_of(const Nested& nested);

/// The repository of a submodule, whether its files are in the worktree or not. Its git runs in its own git directory.
struct Module {
    Pinned repository;
    std::string name;  ///< below modules/, as "libs/zlib"
    bool is_whole = false;
};

/// The modules of a worktree or of a repository, without the modules of those.
Result<std::vector<Module>> modules_of(const Pinned& repository);
/// Removes a module for good.
Result<void> remove_module(const Pinned& repository, const Module& module);

}  // namespace orange::git
