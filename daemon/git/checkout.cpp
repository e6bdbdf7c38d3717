#include "daemon/git/checkout.hpp"

#include <fcntl.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "common/base/shown_path.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/small_files.hpp"
#include "daemon/git/worktree_status.hpp"

namespace orange::git {
namespace {

namespace fs = std::filesystem;

/// Returns true if an operation in that git directory will move the branch when it ends.
bool operates_on(const fs::path& git_dir, const std::string& branch) {
    for (const auto* file : {"rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"}) {
        const auto text = small_file_at(AT_FDCWD, (git_dir / file).string());
        const auto line = text ? text->substr(0, text->find('\n')) : std::string();
        if (line == "refs/heads/" + branch || line == branch) return true;
    }
    return false;
}

bool is_below(const std::string& path, const std::string& folder) {
    return path.size() > folder.size() && path.starts_with(folder) &&
           (folder.ends_with('/') || path[folder.size()] == '/');
}

struct Uncommitted {
    std::string path;  ///< ends in '/' for a folder that is ignored or a repository as a whole
    bool ignored = false;
};

Awaitable<Result<std::vector<Uncommitted>>> uncommitted(Git& git, Place checkout) {
    CO_TRY(const auto status,
           co_await ask_inside(git, checkout,
                               words("status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignored=matching",
                                     "--no-renames", "--ignore-submodules=none")));
    std::vector<Uncommitted> all;
    for (const auto& entry : pieces(status)) {
        if (entry.size() > 3) all.emplace_back().path = entry.substr(3);
        if (entry.size() > 3) all.back().ignored = entry.starts_with("!!");
    }
    CO_TRY(const auto marked, co_await assumed_unchanged(git, checkout));
    for (const auto& path : marked) all.emplace_back().path = path;
    co_return all;
}

/// Returns true if writing `changed` would touch `mine`. A folder that is ignored as a whole is in the way only if it
/// contains that very file.
bool in_the_way(const fs::path& checkout, const Uncommitted& mine, const std::string& changed) {
    if (mine.path == changed || is_below(mine.path, changed)) return true;
    if (!is_below(changed, mine.path)) return false;
    std::error_code error;
    return !mine.ignored || !mine.path.ends_with('/') || fs::exists(fs::symlink_status(checkout / changed, error));
}

}  // namespace

std::string list_of(const std::vector<std::string>& paths) {
    constexpr std::size_t k_most = 20;
    std::string text;
    for (std::size_t i = 0; i < paths.size() && i < k_most; ++i) text += "\n  " + shown_path(paths[i]);
    if (paths.size() > k_most) text += "\n  … and " + std::to_string(paths.size() - k_most) + " more";
    return text;
}

namespace {

/// The main worktree is trusted by its path. A linked worktree counts if its pointers and the repository's agree.
Result<Place> place_of(const std::string& common_dir, const Worktree& worktree, bool is_main) {
    if (is_main) return Place(worktree.path);
    TRY(const auto identity, identify(common_dir, worktree.path));
    TRY(auto pinned, pin_as_it_is(common_dir, worktree.path, identity));
    return Place(std::move(pinned));
}

}  // namespace

Result<std::optional<Place>> checkout_of(const std::vector<Worktree>& all, const std::string& git_dir,
                                         const std::string& branch) {
    std::optional<Place> found;
    bool is_main = true;
    for (const auto& worktree : all) {
        std::error_code error;
        const bool first = std::exchange(is_main, false);
        if (worktree.bare || !fs::exists(worktree.path, error)) continue;
        auto place = place_of(git_dir, worktree, first);
        if (!place && worktree.branch == branch) return place.error();
        if (!place) continue;
        if (operates_on(place->pinned() ? place->pinned()->git_dir() : git_dir, branch)) {
            return Error(ErrorCode::conflict, "a rebase or bisect of " + printable(branch) + " is under way in " +
                                                  printable(worktree.path) + ": finish it first");
        }
        if (worktree.branch == branch && !found) found = std::move(*place);
    }
    return found;
}

bool is_operated_on(const std::string& git_dir, const std::string& branch) {
    if (operates_on(git_dir, branch)) return true;
    const auto path = git_dir + "/worktrees";
    if (!is_folder_at(AT_FDCWD, path)) return false;
    const auto folder = open_folder(path);
    const auto names = folder ? names_in(folder->get(), path) : folder.error();
    return !names || std::any_of(names->begin(), names->end(),
                                 [&](const std::string& name) { return operates_on(path + "/" + name, branch); });
}

Awaitable<Result<void>> can_fast_forward(Git& git, Place checkout, std::string git_dir, std::string from,
                                         std::string to) {
    const auto& dir = checkout.pinned() ? checkout.pinned()->git_dir() : git_dir;
    const auto operation = operation_under_way(dir);
    if (!operation.empty()) {
        co_return Error(ErrorCode::conflict,
                        "a " + operation + " is under way in " + printable(checkout.path()) + ": finish it first");
    }
    for (const auto* name : {"/index.lock", "/HEAD.lock"}) {
        if (const auto remedy = remedy_of_lock(dir + name); !remedy.empty()) {
            co_return Error(ErrorCode::conflict, printable(checkout.path()) + " is locked by git. " + remedy);
        }
    }
    CO_TRY(const auto mine, co_await uncommitted(git, checkout));
    if (mine.empty()) co_return Result<void>{};
    CO_TRY(const auto diff,
           co_await ask_inside(git, checkout, words("diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to)));
    std::set<std::string> paths;
    for (const auto& changed : pieces(diff)) {
        for (const auto& file : mine) {
            if (in_the_way(checkout.path(), file, changed)) paths.insert(file.path);
        }
    }
    if (paths.empty()) co_return Result<void>{};
    const std::vector<std::string> list(paths.begin(), paths.end());
    Error in_way(ErrorCode::conflict, "uncommitted files in " + printable(checkout.path()) +
                                          " are in the way; commit, stash or move them:" + list_of(list));
    in_way.details["files"] = join(shown_paths(list), "\n");
    co_return in_way;
}

}  // namespace orange::git
