#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "common/base/shown_path.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/async/async.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/committer.hpp"
#include "daemon/git/nested.hpp"
#include "daemon/git/private_index.hpp"
#include "daemon/git/small_files.hpp"
#include "daemon/git/sparse.hpp"
#include "daemon/git/worktree_status.hpp"
#include "daemon/git/worktrees.hpp"

/// Finds and saves the uncommitted changes of a worktree. The agent's own index is never written: a private index is
/// built from HEAD and the files.
namespace orange::git {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t k_at_once = 256;  ///< files between two yields to the daemon's other work
constexpr std::int64_t k_largest_read = std::int64_t{32} << 20;
constexpr std::chrono::milliseconds k_look_deadline = std::chrono::minutes(1);  ///< of a filter, for who only looks

/// Returns the size of a regular file; -1 for anything else.
std::int64_t size_of(const Pinned& worktree, const std::string& path) {
    struct stat facts {};
    const bool is_file =
        ::fstatat(worktree.folder()->get(), path.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(facts.st_mode);
    return is_file ? facts.st_size : -1;
}

/// Returns pathspecs for `git add` that leave out repositories which an agent made or cloned inside: git cannot add
/// their content, and refuses those without a commit. keep_commits() turns them into plain folders first; otherwise
/// they stay where they are. A submodule is added with the commit that it is on.
///
/// In a walled worktree, submodules are left out, too: `git add` runs git in each submodule of the index that `env`
/// names. With `large`, the large files that would have to be read are left out, too, and named there.
Awaitable<Result<std::string>> pathspecs_without_nested_repositories(Git& git, Pinned worktree,
                                                                     std::map<std::string, std::string> env,
                                                                     std::vector<LargeFile>* large) {
    auto args = words("ls-files", "-z", "--others", "--exclude-standard", "--full-name");
    if (large) args.emplace_back("--modified");
    CO_TRY(const auto others, co_await ask_inside(git, worktree, std::move(args)));
    std::string specs = ":(top)";
    specs += '\0';
    const auto leave_out = [&specs](const std::string& folder) {
        specs += ":(top,exclude,literal)" + folder;
        specs += '\0';
    };
    std::size_t seen = 0;
    if (large) {  // what is staged is new to `env`, and neither "other" nor modified
        CO_TRY(const auto staged,
               co_await ask_inside(git, worktree,
                                   words("diff", "--cached", "--name-only", "-z", "--no-renames", "--diff-filter=d")));
        const auto known = pieces(others);
        for (const auto& path : pieces(staged)) {
            if (++seen % k_at_once == 0) co_await async::yield();
            const auto size = size_of(worktree, path);
            if (size <= k_largest_read || std::ranges::find(known, path) != known.end()) continue;
            leave_out(path);
            large->push_back({shown_path(path), size});
        }
    }
    for (const auto& path : pieces(others)) {
        if (large && ++seen % k_at_once == 0) co_await async::yield();
        if (!path.ends_with('/')) {
            const auto size = large ? size_of(worktree, path) : 0;
            if (size <= k_largest_read) continue;
            leave_out(path);
            large->push_back({shown_path(path), size});
            continue;
        }
        const auto folder = path.substr(0, path.size() - 1);
        const auto nested = open_nested(worktree, {folder, {}});
        if (nested && nested->is_module && !worktree.is_walled()) {
            CO_TRY(const auto head, co_await commit_of(git, *nested->repository, "HEAD"));
            if (!head.empty()) continue;
        }
        leave_out(folder);
    }
    if (!worktree.is_walled()) co_return specs;
    CO_TRY(const auto indexed, co_await submodules_in_index(git, worktree, std::move(env)));
    for (const auto& path : indexed) leave_out(path);
    co_return specs;
}

/// Returns the paths of files that are tracked although they are ignored, each with `prefix`: `add --all` skips them if
/// HEAD does not have them.
Awaitable<Result<std::string>> tracked_ignored_files(Git& git, Pinned worktree, std::string prefix) {
    CO_TRY(const auto listed,
           co_await ask_inside(git, worktree,
                               words("ls-files", "-z", "--cached", "--ignored", "--exclude-standard", "--full-name")));
    std::string paths;
    std::error_code error;
    for (const auto& path : pieces(listed)) {
        const auto status = fs::symlink_status(worktree.path() + "/" + path, error);
        if (!fs::is_regular_file(status) && !fs::is_symlink(status)) continue;
        paths += prefix + path;
        paths += '\0';
    }
    co_return paths;
}

/// Adds to the index that `env` names the files that are tracked although they are ignored.
Awaitable<Result<void>> add_tracked_ignored_files(Git& git, Pinned worktree, std::map<std::string, std::string> env) {
    std::string prefix = worktree.is_walled() ? "" : ":(top,literal)";
    CO_TRY(auto paths, co_await tracked_ignored_files(git, worktree, std::move(prefix)));
    if (paths.empty()) co_return Result<void>{};
    // The agent may have put a repository in the place of a file, and `git add` would run git in it.
    if (worktree.is_walled()) co_return co_await add_only_files(git, worktree, std::move(env), std::move(paths));
    auto options = words("--force");
    co_return co_await add_files(git, worktree, std::move(env), std::move(options), std::move(paths));
}

/// Returns true if write-tree can never make a tree of this index: it has entries in conflict, whose contents are in
/// the files, or contents that the repository has lost. Such an index has nothing that could be saved.
Awaitable<Result<bool>> has_no_tree(Git& git, Pinned worktree, std::map<std::string, std::string> env) {
    CO_TRY(const auto listed, co_await ask_inside(git, worktree, words("ls-files", "--stage", "-z"), "", env));
    std::string contents;
    for (const auto& entry : pieces(listed)) {  // "<mode> <content> <stage>\t<path>"
        const auto facts = entry.substr(0, entry.find('\t'));
        const auto parts = split(facts, ' ');
        if (parts.size() != 3) continue;
        if (parts[2] != "0") co_return true;
        if (parts[0] != "160000") contents += std::string(parts[1]) + "\n";  // a submodule's is not in this repository
    }
    CO_TRY(const auto checked, co_await ask_inside(git, worktree, words("cat-file", "--batch-check"), contents, env));
    co_return checked.find(" missing\n") != std::string::npos;
}

/// Returns the tree of the agent's index, which may have staged contents that no file has any more; empty if there is
/// no index, or none that makes a tree. The function works on a copy, because write-tree writes its cache into the
/// index.
Awaitable<Result<std::string>> tree_of_index(Git& git, Pinned worktree) {
    const PrivateIndex copy(worktree);
    const auto copied = copy.copy_own();
    if (!copied && copied.error().code == ErrorCode::not_found) co_return std::string();
    if (!copied) {
        auto refused = copied.error();
        refused.message += "; if nothing that is staged is of use, remove that file, then run: orange workspace gc";
        co_return refused;
    }
    const auto tree = co_await ask_inside(git, worktree, words("write-tree"), "", copy.env());
    if (tree) co_return std::string(trim(*tree));
    // After any other failure, such as a full disk or a deadline, the staged contents still exist and must not be
    // dropped.
    CO_TRY(const auto hopeless, co_await has_no_tree(git, worktree, copy.env()));
    if (!hopeless) co_return tree.error();
    co_return std::string();
}

/// Returns the tree of HEAD; the empty tree on an orphan branch.
Awaitable<Result<std::string>> tree_of_head(Git& git, Pinned worktree) {
    CO_TRY(const auto head, co_await commit_of(git, worktree, "HEAD"));
    auto args = head.empty() ? words("mktree") : words("rev-parse", "--verify", head + "^{tree}");
    CO_TRY(const auto tree, co_await ask_inside(git, worktree, std::move(args)));
    co_return std::string(trim(tree));
}

/// Returns the tree of the files if only files have changed: a copy of the worktree's own index tells git which files
/// to look at, which is fast.
Awaitable<Result<std::string>> tree_by_own_index(Git& git, Pinned worktree) {
    const PrivateIndex index(worktree);
    CO_TRY(index.copy_own());
    // Git compares the contents of files that are as young as the index. The copy must not seem younger than the
    // original.
    std::error_code error;
    const auto own = worktree.git_dir() + "/index";
    const auto written_at = fs::last_write_time(own, error);
    if (!error) fs::last_write_time(index.path(), written_at, error);
    if (error) co_return Error(ErrorCode::external_failed, "the time of " + own + " cannot be copied");
    CO_TRY(co_await add_files(git, worktree, index.env(), words("--all", "--", ":(top)")));
    CO_TRY(const auto written, co_await ask_inside(git, worktree, words("write-tree"), "", index.env()));
    co_return std::string(trim(written));
}

/// The trees that a snapshot is made of.
struct Trees {
    std::string files, staged;  ///< `staged` is empty if it has nothing that the files or HEAD do not have
    std::string head;           ///< the tree of HEAD
};

Awaitable<Result<Trees>> trees_of(Git& git, Pinned worktree, WorktreeStatus standing) {
    Trees trees;
    if (standing.only_files && !standing.head.empty()) {
        auto quick = co_await tree_by_own_index(git, worktree);
        const bool can_be_thorough =
            !quick && (quick.error().code == ErrorCode::external_failed || quick.error().code == ErrorCode::not_found);
        if (!quick && !can_be_thorough) co_return quick.error();
        if (quick) {
            CO_TRY(const auto head,
                   co_await ask_inside(git, worktree, words("rev-parse", "--verify", standing.head + "^{tree}")));
            trees.files = std::move(*quick);
            trees.head = trim(head);
        }
    }
    if (!trees.files.empty() && trees.files != trees.head) co_return trees;
    CO_TRY(trees.files, co_await tree_of_files(git, worktree));
    CO_TRY(trees.staged, co_await tree_of_index(git, worktree));
    CO_TRY(trees.head, co_await tree_of_head(git, worktree));
    if (trees.staged == trees.head || trees.staged == trees.files) trees.staged.clear();
    co_return trees;
}

}  // namespace

Awaitable<Result<Amount>> untracked_amount(Git& git, Pinned worktree) {
    CO_TRY(
        const auto others,
        co_await ask_inside(git, worktree, words("ls-files", "-z", "--others", "--exclude-standard", "--full-name")));
    Amount amount;
    for (const auto& path : pieces(others)) {
        const auto size = size_of(worktree, path);
        if (size < 0) continue;
        amount.bytes += size;
        if (++amount.files % k_at_once == 0) co_await async::yield();
    }
    co_return amount;
}

Awaitable<Result<std::string>> tree_of_files(Git& git, Pinned worktree, std::vector<LargeFile>* large) {
    const PrivateIndex index(worktree);
    CO_TRY(const auto head, co_await commit_of(git, worktree, "HEAD"));
    if (!head.empty()) CO_TRY(co_await ask_inside(git, worktree, words("read-tree", head), "", index.env()));
    CO_TRY(co_await leave_out_as_own_index(git, worktree, index.env()));
    auto env = index.env();
    CO_TRY(const auto specs, co_await pathspecs_without_nested_repositories(git, worktree, std::move(env), large));
    const auto deadline = large ? k_look_deadline : k_add_deadline;
    CO_TRY(co_await add_files(git, worktree, index.env(), words("--all"), specs, deadline));
    auto same = index.env();
    CO_TRY(co_await add_tracked_ignored_files(git, worktree, std::move(same)));
    CO_TRY(const auto tree, co_await ask_inside(git, worktree, words("write-tree"), "", index.env()));
    co_return std::string(trim(tree));
}

Awaitable<Result<std::vector<std::string>>> assumed_unchanged(Git& git, Place place) {
    CO_TRY(const auto listed, co_await ask_inside(git, place, words("ls-files", "-v", "-z")));
    std::vector<std::string> paths;
    for (const auto& entry : pieces(listed)) {
        if (entry.size() <= 2) continue;
        // A sparse checkout marks files with "S", too, but those files do not exist.
        const bool assumed = entry[0] >= 'a' && entry[0] <= 'z';
        std::error_code error;
        const auto skipped = entry[0] == 'S' && fs::symlink_status(place.path() + "/" + entry.substr(2), error).type() >
                                                    fs::file_type::not_found;
        if (assumed || skipped) paths.push_back(entry.substr(2));
    }
    co_return paths;
}

Awaitable<Result<bool>> is_dirty(Git& git, Pinned worktree) {
    const auto submodules = submodules_option(worktree);
    CO_TRY(const auto status,
           co_await ask_inside(git, worktree,
                               words("status", "--porcelain=v2", "-z", "--untracked-files=all", submodules)));
    if (!status.empty()) co_return true;
    if (!operation_under_way(worktree.git_dir()).empty()) co_return true;
    // `git status` skips files that are marked "assume unchanged". A private index has no such marks.
    CO_TRY(const auto marked, co_await assumed_unchanged(git, worktree));
    if (marked.empty()) co_return false;
    CO_TRY(const auto files, co_await tree_of_files(git, worktree));
    CO_TRY(const auto head, co_await tree_of_head(git, worktree));
    co_return files != head;
}

Awaitable<Result<std::string>> snapshot(Git& git, Pinned worktree, std::string ref, std::string message,
                                        WorktreeStatus standing) {
    if (standing.clean) co_return std::string();
    CO_TRY(const auto trees, co_await trees_of(git, worktree, standing));
    if (trees.files == trees.head && trees.staged.empty()) co_return std::string();
    auto head = standing.head;
    if (!standing.known) {
        CO_TRY(head, co_await commit_of(git, worktree, "HEAD"));
    }
    auto parents = head.empty() ? std::vector<std::string>() : words(head);
    if (!trees.staged.empty()) {
        CO_TRY(auto staged, co_await commit_tree(git, worktree, trees.staged, parents, "What was staged"));
        parents.push_back(std::move(staged));
    }
    CO_TRY(auto commit, co_await commit_tree(git, worktree, trees.files, parents, message));
    const auto none = std::string(commit.size(), '0');
    const auto saved =
        co_await ask_inside(git, worktree, words("update-ref", "-m", "orange: snapshot", ref, commit, none));
    if (saved) co_return commit;
    // An earlier snapshot under this ref becomes a further parent.
    CO_TRY(const auto earlier, co_await commit_of(git, worktree, ref));
    if (earlier.empty()) co_return saved.error();
    CO_TRY(const auto has_it, co_await contains(git, worktree, commit, earlier));
    if (!has_it) {
        parents.push_back(earlier);
        CO_TRY(commit, co_await commit_tree(git, worktree, trees.files, std::move(parents), std::move(message)));
    }
    CO_TRY(co_await ask_inside(git, worktree, words("update-ref", "-m", "orange: snapshot", ref, commit, earlier)));
    co_return commit;
}

Awaitable<Result<std::string>> commit_of_files(Git& git, Pinned worktree, std::string message) {
    CO_TRY(const auto head, co_await commit_of(git, worktree, "HEAD"));
    if (head.empty()) {
        co_return Error(ErrorCode::conflict, worktree.path() +
                                                 " is on a branch that has no commit yet. Make one "
                                                 "there:\n  git -C " +
                                                 shell_word(worktree.path()) +
                                                 " commit --allow-empty -m 'Initial commit'");
    }
    CO_TRY(const auto dirty, co_await is_dirty(git, worktree));
    if (!dirty) co_return head;
    CO_TRY(auto tree, co_await tree_of_files(git, worktree));
    CO_TRY(const auto before, co_await ask_inside(git, worktree, words("rev-parse", "--verify", head + "^{tree}")));
    if (tree == trim(before)) co_return head;
    co_return co_await commit_tree(git, std::move(worktree), std::move(tree), words(head), std::move(message));
}

}  // namespace orange::git
