#include "daemon/git/clash.hpp"

#include <algorithm>
#include <charconv>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/merge_tree.hpp"
#include "daemon/git/worktrees.hpp"

namespace orange::git {
namespace {

/// Files whose hunks are counted in one merge. Git reads each of them.
constexpr std::size_t k_most_counted = 50;
constexpr std::string_view k_marker = "^<<<<<<<";

std::string folder_of(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

void sort_once(std::vector<std::string>& all) {
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
}

void finish(ChangedPaths& changed) {
    for (auto* list : {&changed.paths, &changed.left, &changed.met}) sort_once(*list);
    std::erase(changed.left, "");
    std::erase(changed.met, "");
    changed.all = changed.paths.size() > k_most_changed_paths;
    if (changed.all) changed.paths = changed.left = changed.met = {};
}

bool have_common(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    auto left = a.begin();
    for (auto right = b.begin(); left != a.end() && right != b.end();) {
        if (*left == *right) return true;
        if (*left < *right) {
            ++left;
        } else {
            ++right;
        }
    }
    return false;
}

/// True if `list`, which is sorted, has a path below one of `folders`.
bool has_below(const std::vector<std::string>& list, const std::vector<std::string>& folders) {
    return std::ranges::any_of(folders, [&](const std::string& folder) {
        const auto inside = folder + "/";
        const auto found = std::ranges::lower_bound(list, inside);
        return found != list.end() && found->starts_with(inside);
    });
}

/// A folder that was moved takes the other side's new files with it: those in it, in folders in it, and also those
/// beside its folders if these were all that it had. The root is never moved.
bool moves_away(const std::vector<std::string>& left, const std::vector<std::string>& met) {
    return have_common(left, met) || has_below(met, left) || has_below(left, met);
}

}  // namespace

Awaitable<Result<ChangedPaths>> changed_paths(Git& git, std::string repo, std::string from, std::string to) {
    CO_TRY(const auto told, co_await ask(git, std::move(repo),
                                         words("diff-tree", "-r", "-z", "--name-status", "--no-renames",
                                               "--ignore-submodules=none", from, to)));
    const auto said = pieces(told);
    ChangedPaths changed;
    for (std::size_t i = 0; i + 1 < said.size() && changed.paths.size() <= k_most_changed_paths; i += 2) {
        const auto& path = said[i + 1];
        if (said[i] == "D") changed.left.push_back(folder_of(path));
        if (said[i] == "A") changed.met.push_back(folder_of(path));
        changed.paths.push_back(path);
    }
    finish(changed);
    co_return changed;
}

Awaitable<Result<ChangedPaths>> uncommitted_paths(Git& git, Pinned worktree) {
    const Place place = worktree;
    auto args = words("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all");
    args.push_back(submodules_option(place));
    CO_TRY(const auto told, co_await ask(git, place, std::move(args)));
    ChangedPaths changed;
    for (const auto& entry : pieces(told)) {
        if (entry.size() > 3 && changed.paths.size() <= k_most_changed_paths) changed.paths.push_back(entry.substr(3));
    }
    finish(changed);
    co_return changed;
}

bool may_meet(const ChangedPaths& a, const ChangedPaths& b) {
    if (a.all || b.all || have_common(a.paths, b.paths)) return true;
    if (has_below(a.paths, b.paths) || has_below(b.paths, a.paths)) return true;
    return moves_away(a.left, b.met) || moves_away(b.left, a.met);
}

std::vector<std::string> common_paths(const ChangedPaths& a, const ChangedPaths& b) {
    std::vector<std::string> both;
    std::ranges::set_intersection(a.paths, b.paths, std::back_inserter(both));
    return both;
}

Awaitable<Result<void>> Trials::begin(std::string commit) {
    if (place_.git_dir.empty()) {
        CO_TRY(place_.git_dir, co_await common_dir(git_, place_.repo));
    }
    co_return co_await make_scratch(git_, place_, std::move(commit));
}

Awaitable<Result<std::vector<ClashFile>>> Trials::clash(std::string ours, std::string theirs) {
    auto request = place_;
    request.tip = std::move(theirs);
    CO_TRY(auto merged, co_await merge_trees(git_, request, std::move(ours), true));
    std::vector<ClashFile> files;
    for (auto& path : merged.conflicts) files.push_back({std::move(path)});
    if (!files.empty() && files.size() <= k_most_counted) CO_TRY(co_await count_hunks(merged.tree, files));
    co_return files;
}

/// Git leaves the two versions of a place in the file of the merged tree, between marks.
Awaitable<Result<void>> Trials::count_hunks(std::string tree, std::vector<ClashFile>& files) {
    auto args = words("--literal-pathspecs", "grep", "--no-color", "--basic-regexp", "--count", "--text", "--null",
                      "--threads=1", "-e");
    args.emplace_back(k_marker);
    args.insert(args.end(), {tree, "--"});
    for (const auto& file : files) args.push_back(file.path);
    GitCommand command{place_.repo, std::move(args)};
    command.env = apart_from(place_);
    CO_TRY(const auto counted, co_await git_.run(std::move(command)));
    if (counted.exit_status > 1) co_return command_failed(words("git", "grep", tree), counted);
    for (const auto line : split_lines(counted.out)) {  // "<tree>:<path>\0<count>"
        const auto end = line.find('\0');
        if (end == std::string_view::npos || !line.starts_with(tree + ":")) continue;
        const auto path = line.substr(tree.size() + 1, end - tree.size() - 1);
        const auto found = std::ranges::find(files, path, &ClashFile::path);
        const auto number = line.substr(end + 1);
        if (found != files.end()) std::from_chars(number.data(), number.data() + number.size(), found->hunks);
    }
    co_return Result<void>{};
}

}  // namespace orange::git
