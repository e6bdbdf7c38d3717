#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/git/git.hpp"

/// Shorthands with which the functions of this folder run git and read its output.
namespace orange::git {

using orange::words;

/// Prefixes of the refs of branches: local ones, and origin's as of the last fetch.
inline constexpr std::string_view k_heads = "refs/heads/", k_origin = "refs/remotes/origin/";

/// Runs git and returns its stdout; external_failed if it exits with anything but 0.
Awaitable<Result<std::string>> ask(Git& git, Place place, std::vector<std::string> args);

/// Runs git and returns its output with any exit status. Errors as Git::run().
Awaitable<Result<Completed>> attempt(Git& git, Place place, std::vector<std::string> args);

/// Runs git as ask() does, but lets it find only the repository at `place` itself. If the `.git` there is broken, git
/// must not find a repository in a folder above (a home directory kept in git) and reset that one.
Awaitable<Result<std::string>> ask_inside(Git& git, Place place, std::vector<std::string> args, std::string input = {},
                                          std::map<std::string, std::string> env = {});

/// Returns the age of a lock file of git's, and the command that removes it; empty if it is not there.
std::string remedy_of_lock(const std::string& lock);

/// If git failed because of a lock file, or of a filter or encoding of .gitattributes that does not work, adds to the
/// error what to do about it: for a lock its age and the command that removes it. `folder`: in which git ran.
Error with_remedy(Error error, const std::string& folder);

/// Returns the absolute path of a worktree's git directory; of a linked worktree, its folder in .git/worktrees.
Awaitable<Result<std::string>> git_dir(Git& git, Place place);

/// Returns the option of `git status` and `git diff` that says how far git looks into submodules. In a walled worktree
/// git only compares the commit that a submodule is at: a process of git's inside it would run the programs that the
/// submodule's own configuration names.
std::string submodules_option(const Place& place);

bool is_hash(std::string_view text);

/// Returns external_failed for output that git cannot have written: another program runs under its name, or the output
/// was cut short. The callers prefer this error to a wrong answer.
Error unexpected_output(const std::string& command, std::string_view answer);

/// Returns the hash that `command` printed, or unexpected_output().
Result<std::string> hash_in(const std::string& command, std::string_view answer);

/// Returns the non-empty pieces of -z output, which ends each with a NUL.
std::vector<std::string> pieces(const std::string& output);

/// An entry of `git ls-tree -z`: "<mode> <type> <object>\t<path>".
struct TreeEntry {
    std::string mode, object, path;
};
std::vector<TreeEntry> tree_entries(const std::string& output);

inline constexpr std::chrono::milliseconds k_checkout_deadline = std::chrono::minutes(10);

/// Returns true if git's output has one of the phrases (LC_ALL=C).
bool says(const std::string& text, std::initializer_list<std::string_view> phrases);

}  // namespace orange::git
