#include "daemon/git/worktree_status.hpp"

#include <filesystem>
#include <optional>
#include <set>

#include "common/base/shown_path.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/async/both.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/sparse.hpp"
#include "daemon/git/worktrees.hpp"

/// Reads the state of a worktree from `git status` and, for the files that status skips, from the index.
namespace orange::git {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_named_files = 20;

/// Returns the rest of a text that begins with `head`; nothing if it begins differently.
std::optional<std::string> after(const std::string& text, std::string_view head) {
    if (!text.starts_with(head)) return std::nullopt;
    return text.substr(head.size());
}

/// Returns true if an entry of status is for a file that is untracked, or changed in the worktree alone ("1 .M N...
/// …").
bool is_file(const std::string& entry) {
    if (entry.starts_with("? ")) return !entry.ends_with('/');
    return entry.starts_with("1 .") && entry.size() > 5 && entry[5] == 'N';
}

/// Returns the path of an entry of status: its last field, which may hold blanks.
std::string path_in(const std::string& entry) {
    const int fields = entry.starts_with("? ") ? 1 : entry.starts_with("u ") ? 10 : 8;
    std::size_t at = 0;
    for (int i = 0; i < fields && at != std::string::npos; ++i) at = entry.find(' ', at == 0 ? 0 : at + 1);
    return at == std::string::npos ? entry : entry.substr(at + 1);
}

/// Reads `git status`; returns false if the output makes no sense.
bool read_status(const std::string& answer, WorktreeStatus& standing) {
    bool has_head = false, has_branch = false;
    standing.clean = standing.only_files = true;
    for (const auto& entry : pieces(answer)) {
        if (const auto oid = after(entry, "# branch.oid ")) {
            if (*oid != "(initial)") standing.head = *oid;
            has_head = *oid == "(initial)" || is_hash(*oid);
        } else if (const auto branch = after(entry, "# branch.head ")) {
            if (*branch != "(detached)") standing.branch = *branch;
            has_branch = true;
        } else if (!entry.starts_with("# ")) {
            standing.clean = false;
            if (standing.uncommitted.size() < k_named_files) standing.uncommitted.push_back(shown_path(path_in(entry)));
            if (!is_file(entry)) standing.only_files = false;
            if (entry.starts_with("? ") && entry.ends_with('/')) standing.may_hold_repositories = true;
        }
    }
    return has_head && has_branch;
}

/// Returns true if an agent has made a repository of a folder with tracked files; status does not show it.
bool holds_repository(const std::string& worktree, const std::string& folder) {
    std::error_code error;
    return fs::exists(fs::symlink_status(fs::path(worktree) / folder / ".git", error));
}

/// Reads `git ls-files -v --stage`; returns false if the output makes no sense. An entry is "<mark> <mode> <object>
/// <stage>\t<path>".
bool read_index(const std::string& answer, const std::string& worktree, WorktreeStatus& standing) {
    for (const auto& entry : pieces(answer)) {
        const auto tab = entry.find('\t');
        if (tab == std::string::npos || entry.size() < 8) return false;
        const auto path = entry.substr(tab + 1);
        if (path.find('/') == std::string::npos) standing.at_top.insert(path);
        const bool left_out = entry[0] != 'H' && is_left_out(entry, worktree + "/" + path);
        if (left_out) standing.leaves_files_out = true;
        if (entry[0] != 'H' && !left_out) standing.clean = standing.only_files = false;
        std::error_code error;
        if (std::string_view(entry).substr(2).starts_with("160000 ") &&
            !fs::is_empty(fs::path(worktree) / path, error)) {
            standing.may_hold_repositories = true;  // the submodule's repository or another one, and those below it
        }
        for (auto end = path.rfind('/'); end != std::string::npos && end > 0; end = path.rfind('/', end - 1)) {
            const auto folder = path.substr(0, end);
            if (!standing.folders.insert(folder).second) break;  // the folders above it have been seen, too
            if (holds_repository(worktree, folder)) standing.may_hold_repositories = true;
        }
    }
    return true;
}

}  // namespace

std::string operation_under_way(const std::string& git_dir) {
    const std::pair<const char*, const char*> signs[] = {
        {"rebase-merge", "rebase"},          {"rebase-apply", "rebase"}, {"MERGE_HEAD", "merge"},
        {"CHERRY_PICK_HEAD", "cherry-pick"}, {"REVERT_HEAD", "revert"},  {"BISECT_LOG", "bisect"}};
    for (const auto& [file, name] : signs) {
        std::error_code error;
        if (std::filesystem::exists(std::filesystem::path(git_dir) / file, error)) return name;
    }
    return {};
}

Awaitable<Result<WorktreeStatus>> worktree_status(Git& git, Pinned worktree) {
    const auto unknown = [](const Error& error) -> Result<WorktreeStatus> {
        if (error.code == ErrorCode::external_failed) return WorktreeStatus{};
        return error;
    };
    const auto submodules = submodules_option(worktree);
    auto asks_status =
        ask_inside(git, worktree,
                   words("-c", "core.untrackedCache=false", "status", "--porcelain=v2", "--branch", "--no-ahead-behind",
                         "-z", "--untracked-files=all", submodules, "--no-renames"));
    auto asks_index = ask_inside(git, worktree, words("ls-files", "-v", "--stage", "-z", "--full-name"));
    const auto answers = co_await async::both(std::move(asks_status), std::move(asks_index));
    const auto& [status, index] = answers;
    if (!status) co_return unknown(status.error());
    if (!index) co_return unknown(index.error());
    WorktreeStatus standing;
    standing.known = read_status(*status, standing) && read_index(*index, worktree.path(), standing);
    // HEAD is on a ref outside refs/heads, for which git has no branch name. The slow way then asks which refs have the
    // commit.
    if (standing.branch == "(null)" || standing.branch.starts_with("refs/")) standing.known = false;
    if (!operation_under_way(worktree.git_dir()).empty()) standing.clean = standing.only_files = false;
    if (standing.clean) standing.only_files = false;
    if (!standing.known) standing = {};
    co_return standing;
}

}  // namespace orange::git
