#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/git/git.hpp"

/// How the functions of this folder put their questions to git.
namespace orange::git {

/// What the refs of branches begin with: of those here, and of origin's as of the last fetch.
inline constexpr std::string_view k_heads = "refs/heads/", k_origin = "refs/remotes/origin/";

/// The words as a vector: g++ 12 takes no braced list in a co_await expression.
template <class... Words>
std::vector<std::string> words(Words&&... all) {
    std::vector<std::string> list;
    list.reserve(sizeof...(all));
    (list.emplace_back(std::forward<Words>(all)), ...);
    return list;
}

/// stdout of a git that must succeed.
Awaitable<Result<std::string>> ask(Git& git, Place place, std::vector<std::string> args);

/// Any exit status is an answer.
Awaitable<Result<Completed>> attempt(Git& git, Place place, std::vector<std::string> args);

/// As ask(), for `place` itself or nothing: where its .git is broken, git must not find a repository in a folder above
/// (a home directory kept in git) and reset that one.
Awaitable<Result<std::string>> ask_inside(Git& git, Place place, std::vector<std::string> args, std::string input = {},
                                          std::map<std::string, std::string> env = {});

/// The git directory of a worktree (of a linked one: its administrative folder), absolute.
Awaitable<Result<std::string>> git_dir(Git& git, Place place);

bool is_hash(std::string_view text);

/// A git that is not git, or one that was cut short: better no answer than a wrong one.
Error nonsense(const std::string& command, std::string_view answer);

/// The non-empty NUL-terminated pieces of -z output.
std::vector<std::string> pieces(const std::string& output);

inline constexpr std::chrono::milliseconds k_checkout_deadline = std::chrono::minutes(10);

/// Returns true if git's output has one of the phrases (LC_ALL=C).
bool says(const std::string& text, std::initializer_list<std::string_view> phrases);

}  // namespace orange::git
