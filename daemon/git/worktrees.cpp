#include "daemon/git/worktrees.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/obstacles.hpp"
#include "daemon/git/small_files.hpp"
#include "daemon/git/submodules.hpp"

namespace orange::git {
namespace {

namespace fs = std::filesystem;

Awaitable<Result<std::optional<Worktree>>> registered(Git& git, std::string repo, std::string path) {
    CO_TRY(auto all, co_await listed_worktrees(git, repo));
    for (auto& worktree : all) {
        if (is_at(worktree, path)) co_return std::optional<Worktree>(std::move(worktree));
    }
    co_return std::optional<Worktree>();
}

/// Corrects the path of the main worktree. If the git directory lies elsewhere (--separate-git-dir, a submodule), git
/// lists that directory instead. The main worktree is `repo` if its file .git leads to that directory.
void correct_main(Worktree& main, const std::string& repo) {
    std::error_code error;
    if (main.bare || fs::exists(main.path + "/.git", error)) return;
    constexpr std::string_view k_key = "gitdir: ";
    const auto link = small_file_at(AT_FDCWD, repo + "/.git");
    if (!link || !link->starts_with(k_key)) return;
    const fs::path target(trim(std::string_view(*link).substr(k_key.size())));
    if (is_at(main, (repo / target).string())) main.path = real_path(repo);
}

/// The message contains a command that frees the branch without a loss.
Error is_checked_out(const std::string& branch, const std::string& place, const std::string& common_dir) {
    std::error_code error;
    const bool is_there = fs::exists(place, error);
    return {ErrorCode::conflict,
            "branch " + printable(branch) + " is checked out in the worktree " + printable(place) +
                (is_there ? ". To free the branch there:\n  git -C " + shell_word(place) + " switch --detach"
                          : ", whose folder is missing. To remove it from git's list:\n  git --git-dir=" +
                                shell_word(common_dir) + " worktree prune")};
}

/// Creates a local branch that tracks origin's; an error if it exists.
Awaitable<Result<void>> create_tracking(Git& git, Pinned worktree, std::string branch, std::string commit) {
    const auto head = std::string(k_heads) + branch, none = std::string(commit.size(), '0');
    CO_TRY(co_await ask_inside(git, worktree,
                               words("update-ref", "--no-deref", "-m", "orange: new branch", head, commit, none)));
    CO_TRY(co_await ask_inside(git, worktree, words("config", "branch." + branch + ".remote", "origin")));
    CO_TRY(co_await ask_inside(git, worktree, words("config", "branch." + branch + ".merge", head)));
    co_return Result<void>{};
}

/// Ends rebases with git's own --quit, because it moves an autostash to the stash list; removes the state files of
/// other operations.
Awaitable<Result<void>> end_operations(Git& git, Pinned worktree) {
    const auto applying = [&] {
        const auto state = open_folder_at(worktree.admin(), "rebase-apply", "rebase-apply");
        return state && small_file_at(state->get(), "applying");
    };
    if (is_folder_at(worktree.admin(), "rebase-merge")) {
        (void)co_await attempt(git, worktree, words("rebase", "--quit"));
    } else if (is_folder_at(worktree.admin(), "rebase-apply")) {
        (void)co_await attempt(git, worktree, words(applying() ? "am" : "rebase", "--quit"));
    }
    for (const auto* name : {"rebase-merge", "rebase-apply", "sequencer", "BISECT_LOG", "BISECT_START", "BISECT_NAMES",
                             "BISECT_TERMS", "BISECT_EXPECTED_REV", "BISECT_ANCESTORS_OK", "BISECT_FIRST_PARENT"}) {
        CO_TRY(git.remove(worktree.admin(), name, worktree.git_dir() + "/" + name));
    }
    co_return Result<void>{};
}

/// Clears the marks of files that are marked as unchanged, because reset --hard skips those files.
Awaitable<Result<void>> forget_assumptions(Git& git, Pinned worktree) {
    CO_TRY(const auto marked, co_await assumed_unchanged(git, worktree));
    if (marked.empty()) co_return Result<void>{};
    std::string input;
    for (const auto& path : marked) input += path + '\0';
    for (const char* unmark : {"--no-assume-unchanged", "--no-skip-worktree"}) {
        CO_TRY(co_await ask_inside(git, worktree, words("update-index", unmark, "-z", "--stdin"), input));
    }
    co_return Result<void>{};
}

/// Returns the folders that have tracked files; empty if the index cannot be read.
Awaitable<std::set<std::string>> tracked_folders(Git& git, Pinned worktree) {
    std::set<std::string> folders;
    const auto listed = co_await ask_inside(git, worktree, words("ls-files", "-z", "--full-name"));
    if (!listed) co_return folders;
    for (const auto& path : pieces(*listed)) {
        for (auto end = path.rfind('/'); end != std::string::npos && end > 0; end = path.rfind('/', end - 1)) {
            if (!folders.insert(path.substr(0, end)).second) break;
        }
    }
    co_return folders;
}

Awaitable<Result<void>> reset_once(Git& git, Pinned worktree, std::string base, WorktreeStatus standing) {
    auto to = base;
    if (!is_hash(to)) {
        CO_TRY(to, co_await commit_of(git, worktree, base));
    }
    if (to.empty()) co_return Error(ErrorCode::not_found, "there is no " + printable(base));
    CO_TRY(co_await end_operations(git, worktree));
    auto folders = standing.folders;
    if (!standing.known) folders = co_await tracked_folders(git, worktree);
    CO_TRY(const auto is_hollow, remove_special_files(worktree, folders));
    bool there = false;
    if (standing.clean || standing.only_files) {
        auto args = words("checkout", "--quiet", "--detach", to + "^0");  // ^0: a branch may be called like a commit
        if (standing.only_files) args.emplace(args.begin() + 1, "--force");
        CO_TRY(const auto done, co_await attempt(git, worktree, args));
        there = done.ok();
        // The worktree was clean, so a file in the way is new and has not been saved.
        if (!there && standing.clean) co_return with_remedy(command_failed(args, done), worktree.path());
    }
    const bool may_have_submodules =
        !worktree.is_walled() && (!standing.known || standing.may_hold_repositories || has_modules(worktree));
    const bool is_done = there && standing.clean && standing.head == to && !may_have_submodules && !is_hollow;
    if (is_done) co_return Result<void>{};
    if (!there) {
        // Set HEAD itself rather than the branch. Use plumbing, because `checkout --detach` refuses an index with
        // conflicts.
        CO_TRY(
            co_await ask_inside(git, worktree, words("update-ref", "--no-deref", "-m", "orange: release", "HEAD", to)));
        CO_TRY(co_await forget_assumptions(git, worktree));
        CO_TRY(co_await ask_inside(git, worktree, words("reset", "--quiet", "--hard", to)));
    }
    // With one -f only: repositories that remain here, such as submodules of the branch, are in no snapshot and must
    // stay.
    CO_TRY(co_await ask_inside(git, worktree, words("clean", "--quiet", "-f", "-d")));
    if (may_have_submodules) CO_TRY(co_await reset_submodules(git, worktree));
    co_return Result<void>{};
}

}  // namespace

bool is_at(const Worktree& worktree, const std::string& path) {
    return worktree.path == real_path(path);
}

Awaitable<Result<std::vector<Worktree>>> worktrees(Git& git, std::string repo) {
    CO_TRY(const auto listed, co_await ask(git, repo, words("worktree", "list", "--porcelain", "-z")));
    std::vector<Worktree> all;
    for (const auto& line : pieces(listed)) {
        const auto blank = line.find(' ');
        const auto key = line.substr(0, blank);
        const auto value = blank == std::string::npos ? std::string() : line.substr(blank + 1);
        if (key == "worktree") all.emplace_back().path = value;
        if (all.empty()) continue;
        auto& worktree = all.back();
        if (key == "HEAD") worktree.head = value;
        if (key == "branch") worktree.branch = value.starts_with("refs/heads/") ? value.substr(11) : value;
        if (key == "bare") worktree.bare = true;
        if (key == "prunable") worktree.prunable = true;
        if (key == "locked") {
            worktree.is_locked = true;
            worktree.locked = value;
        }
    }
    // The list always has the repository itself. If it is empty, git's output is broken, and must not be read as "no
    // worktrees".
    if (all.empty()) {
        co_return Error(ErrorCode::external_failed, "`git worktree list` printed unexpected output");
    }
    correct_main(all.front(), repo);
    co_return all;
}

Awaitable<Result<void>> add_worktree(Git& git, std::string repo, std::string path, std::string commit_ref) {
    auto commit = commit_ref;
    if (!is_hash(commit)) {
        CO_TRY(commit, co_await commit_of(git, repo, commit_ref));
    }
    if (commit.empty()) {
        co_return Error(ErrorCode::not_found, "there is no " + printable(commit_ref) + " in " + printable(repo));
    }
    CO_TRY(const auto old, co_await registered(git, repo, path));
    if (old) {
        // A folder that was deleted by hand leaves its registration, which Orange's own lock protects from pruning.
        if (!is_half_made(*old) && fs::exists(path)) {
            co_return Error(ErrorCode::conflict, printable(path) + " is a worktree already");
        }
        CO_TRY(co_await remove_worktree(git, repo, path));
    }
    // Do not use --lock: its reason would replace git's own, by which is_half_made() recognizes an unfinished worktree.
    GitCommand add{repo, words("worktree", "add", "--quiet", "--detach", path, commit)};
    add.deadline = k_checkout_deadline;
    const auto added = co_await git_output(git, std::move(add));
    if (added) co_return co_await lock_worktree(git, repo, path);
    const auto rest = co_await registered(git, repo, path);
    if (rest && *rest) (void)co_await remove_worktree(git, repo, path);
    co_return added.error();
}

Awaitable<Result<Pinned>> pin_new(Git& git, std::string repo, std::string path) {
    CO_TRY(const auto common, co_await common_dir(git, std::move(repo)));
    CO_TRY(const auto identity, identify(common, path));
    co_return pin_as_it_is(common, path, identity);
}

Awaitable<Result<Pinned>> pin_persons(Git& git, std::string folder) {
    auto query = words("rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir");
    const auto said = co_await ask(git, folder, std::move(query));
    const auto lines = said ? split_lines(*said) : std::vector<std::string_view>();
    if (lines.size() != 3) {
        co_return Error(ErrorCode::conflict, printable(folder) + " is in no worktree of a repository");
    }
    const std::string path(lines[0]), own(lines[1]), common(lines[2]);
    CO_TRY(auto opened, open_folder(path));
    CO_TRY(auto admin, open_folder(own));
    co_return Pinned(path, own, common, Pinned::hold(std::move(opened)), Pinned::hold(std::move(admin)));
}

bool is_half_made(const Worktree& worktree) {
    return worktree.locked == "initializing";  // git writes this reason while it makes a worktree
}

bool is_half_made_at(const std::vector<Worktree>& all, const std::string& path) {
    return std::ranges::any_of(all, [&](const Worktree& tree) { return is_half_made(tree) && is_at(tree, path); });
}

Awaitable<Result<void>> lock_worktree(Git& git, std::string repo, std::string path) {
    CO_TRY(const auto tree, co_await registered(git, repo, path));
    if (tree && tree->is_locked) co_return Result<void>{};
    if (tree && !tree->admin.empty()) {
        const auto shown = repo + "/.git/worktrees/" + tree->admin;
        CO_TRY(const auto admin, open_folder(shown));
        co_return replace_file_at(admin.get(), "locked", "orange\n", shown + "/locked");
    }
    CO_TRY(co_await ask(git, repo, words("worktree", "lock", "--reason", "orange", path)));
    co_return Result<void>{};
}

bool is_locked(const Pinned& worktree) {
    return ::faccessat(worktree.admin(), "locked", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

Awaitable<Result<void>> remove_worktree(Git& git, std::string repo, std::string path) {
    CO_TRY(const auto old, co_await registered(git, repo, path));
    if (!old) co_return Result<void>{};
    // Forced twice, because the worktree is locked.
    CO_TRY(const auto done, co_await attempt(git, repo, words("worktree", "remove", "--force", "--force", path)));
    if (done.ok()) co_return Result<void>{};
    const auto folder = open_folder(path);
    const bool was_read_only = folder && make_folders_writable(folder->get());
    if (!was_read_only && !is_half_made(*old)) co_return command_failed(words("git", "worktree", "remove", path), done);
    // An unfinished worktree has no .git yet, so git refuses, but the folder is Orange's. If folders are read-only, git
    // has removed only a part of the worktree, and perhaps its registration.
    CO_TRY(remove_folder(git, path));
    CO_TRY(const auto left, co_await registered(git, repo, path));
    if (left) CO_TRY(co_await ask(git, repo, words("worktree", "remove", "--force", "--force", path)));
    co_return Result<void>{};
}

Awaitable<Result<BranchOrigin>> checkout_branch(Git& git, std::string repo, Pinned worktree, std::string branch,
                                                std::string base) {
    CO_TRY(co_await check_branch_name(git, branch));
    auto names = refs_of_branch(branch);
    CO_TRY(const auto known, co_await refs(git, std::move(repo), std::move(names)));
    CO_TRY(const auto done,
           co_await checkout_branch(git, std::move(worktree), std::move(branch), std::move(base), known));
    co_return done.origin;
}

Awaitable<Result<CheckedOut>> checkout_branch(Git& git, Pinned worktree, std::string branch, std::string base,
                                              const Refs& known) {
    CheckedOut done;
    CO_TRY(check_branch_files(worktree.common_dir(), branch));
    const auto local = known.find(std::string(k_heads) + branch), remote = known.find(std::string(k_origin) + branch);
    if (local != known.end()) {
        done.commit = local->second.commit;
        const auto& place = local->second.worktree;
        if (place == real_path(worktree.path())) co_return done;
        if (!place.empty()) {
            co_return is_checked_out(branch, place, worktree.common_dir());
        }
    } else if (remote != known.end()) {
        done = {BranchOrigin::remote, remote->second.commit};
    } else {
        done = {BranchOrigin::created, {}};
        const auto start = known.find(base);
        if (start != known.end()) {
            done.commit = start->second.commit;
        } else {
            CO_TRY(done.commit, co_await commit_of(git, worktree, base));
        }
    }
    if (done.commit.empty()) {
        co_return Error(ErrorCode::not_found, "there is no " + printable(base) + " to start at");
    }
    if (done.origin == BranchOrigin::created) {
        CO_TRY(co_await ask_inside(git, worktree,
                                   words("checkout", "--quiet", "--no-track", "-b", branch, done.commit + "^0")));
        co_return done;
    }
    // Never run `checkout <branch>`: git reads names such as "refs/heads/x" or "@{-1}" differently there. Check out the
    // commit, then point HEAD at the branch, which is at the same commit.
    CO_TRY(co_await ask_inside(git, worktree, words("checkout", "--quiet", "--detach", done.commit + "^0")));
    if (done.origin == BranchOrigin::remote) CO_TRY(co_await create_tracking(git, worktree, branch, done.commit));
    CO_TRY(co_await ask_inside(git, worktree,
                               words("symbolic-ref", "-m", "orange: checkout", "HEAD", std::string(k_heads) + branch)));
    co_return done;
}

Awaitable<Result<void>> reset_detached(Git& git, Pinned worktree, std::string base, WorktreeStatus standing) {
    auto done = co_await reset_once(git, worktree, base, standing);
    if (done || !make_folders_writable(worktree.folder()->get())) co_return done;
    co_return co_await reset_once(git, worktree, base, standing);
}

Awaitable<Result<void>> reset_all(Git& git, Pinned worktree, std::string commit, WorktreeStatus standing) {
    CO_TRY(co_await reset_detached(git, worktree, std::move(commit), std::move(standing)));
    CO_TRY(co_await ask_inside(git, worktree, words("clean", "--quiet", "-f", "-f", "-d")));
    co_return Result<void>{};
}

Result<void> exclude(const std::string& common, const std::vector<std::string>& patterns,
                     const std::vector<std::string>& obsolete) {
    constexpr std::size_t k_longest = std::size_t{1} << 20;
    const auto shown = common + "/info/exclude";
    std::error_code error;
    fs::create_directory(common + "/info", error);
    if (error) return io_error("making " + common + "/info", error.value());
    TRY(const auto info, open_folder(common + "/info"));
    const auto status = fs::status(shown, error);  // a link is read, but never written through
    std::optional<std::string> found = std::string();
    if (fs::exists(status)) found = small_file_at(AT_FDCWD, real_path(shown), k_longest);
    if (!found) return Error(ErrorCode::io, "reading " + shown + ": it is not a regular file, or too large");
    const auto lines = split_lines(*found);
    const auto is_in = [](const auto& list, std::string_view line) {
        return std::find(list.begin(), list.end(), line) != list.end();
    };
    std::string text;
    for (const auto line : lines) {
        if (!is_in(obsolete, line)) text += std::string(line) + "\n";
    }
    const bool keeps_all = std::none_of(lines.begin(), lines.end(), [&](auto line) { return is_in(obsolete, line); });
    std::vector<std::string> added;  // both harnesses of a task may need the same line
    for (const auto& pattern : patterns) {
        if (is_in(lines, pattern) || is_in(added, pattern)) continue;
        text += pattern + "\n";
        added.push_back(pattern);
    }
    if (added.empty() && keeps_all) return {};
    return replace_file_at(info.get(), "exclude", text, shown);
}

Awaitable<Result<bool>> tracks(Git& git, Pinned worktree, std::string path) {
    CO_TRY(const auto listed,
           co_await ask_inside(git, worktree, words("ls-tree", "-z", "--full-tree", "HEAD", "--", path)));
    co_return !listed.empty();
}

}  // namespace orange::git
