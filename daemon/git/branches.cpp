#include "daemon/git/branches.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "common/base/branch_name.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/async/async.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/refs.hpp"
#include "daemon/git/repository.hpp"
#include "daemon/git/small_files.hpp"
#include "daemon/git/worktrees.hpp"

namespace orange::git {
namespace {

/// A file system allows 255 bytes. A ref is a file, and git makes "<name>.lock" beside it.
constexpr std::size_t k_longest_component = 240;
constexpr std::chrono::milliseconds k_between_tries{100};
constexpr std::size_t k_longest_name = 1000;

/// Returns why a name is unusable that git accepts, but that a command line would read as something else; empty if it
/// is usable.
std::string why_unusable(const std::string& name) {
    if (name.empty()) return "it is empty";
    if (name.front() == '-') return "it begins with '-'";
    if (name == "HEAD" || name == "@") return "git reads it as the current commit";
    if (name.size() > k_longest_name) return "it is too long";
    for (const auto component : split(name, '/')) {
        if (component.size() > k_longest_component) return "a part of it is too long for a file name";
    }
    return {};
}

Error bad_branch(const std::string& name, const std::string& why) {
    return {ErrorCode::invalid_argument, "\"" + printable(name) + "\" is not a valid branch name: " + why};
}

Awaitable<Result<bool>> branch_exists(Git& git, std::string repo, std::string branch) {
    for (const std::string_view prefix : {k_heads, k_origin}) {
        CO_TRY(auto commit, co_await commit_of(git, repo, std::string(prefix) + branch));
        if (!commit.empty()) co_return true;
    }
    co_return false;
}

constexpr std::size_t k_longest_ref = 4096;

}  // namespace

Awaitable<Result<void>> check_branch_name(Git& git, std::string name) {
    if (auto why = why_unusable(name); !why.empty()) co_return bad_branch(name, why);
    if (name.find('\0') != std::string::npos) co_return bad_branch(name, "it holds a NUL");
    CO_TRY(const auto done, co_await attempt(git, "/", words("check-ref-format", std::string(k_heads) + name)));
    if (!done.ok()) co_return bad_branch(name, "git refuses it (`git help check-ref-format`)");
    co_return Result<void>{};
}

Awaitable<Result<std::string>> commit_of(Git& git, Place place, std::string ref) {
    auto args = words("rev-parse", "--verify", "--quiet", "--end-of-options", ref + "^{commit}");
    CO_TRY(const auto done, co_await attempt(git, place, args));
    if (done.exit_status == 1) co_return std::string();
    if (!done.ok()) co_return command_failed(words("git", "rev-parse", ref), done);
    co_return hash_in("git rev-parse", done.out);
}

Awaitable<Result<bool>> contains(Git& git, Place place, std::string descendant, std::string commit) {
    CO_TRY(const auto done, co_await attempt(git, place, words("merge-base", "--is-ancestor", commit, descendant)));
    if (done.exit_status > 1) co_return command_failed(words("git", "merge-base", commit, descendant), done);
    co_return done.ok();
}

namespace {

Error unusable(const std::string& dir, const std::string& why) {
    return {ErrorCode::invalid_argument, printable(dir) + " " + why};
}

/// Returns the root of a repository whose configuration says that it has no working tree.
Awaitable<Result<std::string>> bare_root(Git& git, std::string dir) {
    CO_TRY(const auto common, co_await common_dir(git, dir));
    auto root = root_of_bare(common);
    if (has_checkout(common)) {
        co_return unusable(root,
                           "has a working tree, but core.bare is true in its configuration. Set it right:\n  git -C " +
                               shell_word(root) + " config core.bare false");
    }
    CO_TRY(const auto origin, co_await has_origin(git, root));
    CO_TRY(const auto refspec, co_await attempt(git, root, words("config", "--get-all", "remote.origin.fetch")));
    if (!origin || refspec.ok()) co_return root;
    co_return unusable(root, "is a bare repository that keeps no branches of origin. Let it keep them:\n  git -C " +
                                 shell_word(root) +
                                 " config remote.origin.fetch '+refs/heads/*:refs/remotes/origin/*'\n  git -C " +
                                 shell_word(root) + " fetch origin");
}

/// Returns the root of a repository whose working tree `git worktree list` shows at `listed`.
Awaitable<Result<std::string>> checkout_root(Git& git, std::string dir, std::string listed) {
    // For a git directory that is elsewhere (--separate-git-dir), `worktree list` shows that one; a main worktree knows
    // its own root.
    const auto dirs = co_await ask(
        git, dir, words("rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir", "--show-toplevel"));
    if (!dirs) co_return listed;
    const auto lines = split_lines(*dirs);
    if (lines.size() != 3 || lines[0] != lines[1]) co_return listed;
    std::error_code error;
    const auto here = std::filesystem::weakly_canonical(dir, error).string() + "/";
    const std::string root(lines[2]);
    if (error || root == "/" || here.starts_with(root + "/") || here.starts_with(std::string(lines[0]) + "/")) {
        co_return root;
    }
    co_return unusable(dir, "is in a repository whose core.worktree names another folder, " + printable(root) +
                                ". Set it right:\n  git -C " + shell_word(dir) + " config --unset core.worktree");
}

}  // namespace

Awaitable<Result<std::string>> main_worktree(Git& git, std::string dir) {
    CO_TRY(const auto inside, co_await attempt(git, dir, words("rev-parse", "--git-dir")));
    if (!inside.ok()) {
        auto said = printable(std::string(trim(inside.err)));
        if (said.find("not a git repository") != std::string::npos) said.clear();
        co_return unusable(dir, "is not in a git repository" + (said.empty() ? "" : ": " + said));
    }
    CO_TRY(const auto all, co_await worktrees(git, dir));
    std::string root;
    if (all.front().bare) {
        CO_TRY(root, co_await bare_root(git, dir));
    } else {
        CO_TRY(root, co_await checkout_root(git, dir, all.front().path));
    }
    CO_TRY(auto head, co_await commit_of(git, root, "HEAD"));
    if (head.empty())
        co_return unusable(
            dir, "has no commits yet. Create the first one there:\n  git commit --allow-empty -m 'Initial commit'");
    co_return root;
}

Awaitable<Result<std::string>> current_branch(Git& git, Place place) {
    CO_TRY(const auto done, co_await attempt(git, place, words("symbolic-ref", "--quiet", "HEAD")));
    if (done.exit_status == 1) co_return std::string();
    if (!done.ok()) co_return command_failed(words("git", "symbolic-ref", "HEAD"), done);
    auto branch = trim(done.out);
    if (!branch.starts_with("refs/") || branch.find('\n') != std::string::npos || branch.size() > k_longest_ref) {
        co_return unexpected_output("git symbolic-ref HEAD", branch);
    }
    if (branch.starts_with(k_heads)) branch.remove_prefix(k_heads.size());
    co_return std::string(branch);
}

Awaitable<Result<std::string>> branch_of(Git& git, Pinned worktree) {
    const auto head = small_file_at(worktree.admin(), "HEAD").value_or("");
    const auto prefix = "ref: " + std::string(k_heads);
    if (is_hash(trim(head))) co_return std::string();
    // With the ref storage "reftable" the file names the branch ".invalid".
    const bool is_plain = head.starts_with(prefix) && head.ends_with('\n') && !head.starts_with(prefix + ".");
    if (is_plain) co_return head.substr(prefix.size(), head.size() - prefix.size() - 1);
    co_return co_await current_branch(git, std::move(worktree));
}

namespace {

/// Returns the branch of origin's HEAD, as it was at the clone or else as origin says now; empty if it is unknown.
Awaitable<Result<std::string>> head_of_origin(Git& git, std::string repo) {
    CO_TRY(const auto noted, co_await attempt(git, repo, words("symbolic-ref", "--quiet", "refs/remotes/origin/HEAD")));
    const auto head = trim(noted.out);
    if (noted.ok() && head.starts_with(k_origin)) co_return std::string(head.substr(k_origin.size()));
    CO_TRY(const auto origin, co_await has_origin(git, repo));
    if (!origin) co_return std::string();
    GitCommand command{repo, words("ls-remote", "--symref", "--upload-pack=git-upload-pack", "origin", "HEAD")};
    command.deadline = k_fetch_patience;
    const auto said = co_await git.run(std::move(command));
    const auto text = said ? said->out : std::string();
    for (auto line : split_lines(text)) {  // "ref: refs/heads/main\tHEAD"
        constexpr std::string_view k_mark = "ref: refs/heads/", k_end = "\tHEAD";
        if (!line.starts_with(k_mark) || !line.ends_with(k_end)) continue;
        line.remove_suffix(k_end.size());
        co_return std::string(line.substr(k_mark.size()));
    }
    co_return std::string();
}

}  // namespace

Awaitable<Result<DefaultBranch>> find_default_branch(Git& git, std::string repo) {
    CO_TRY(const auto head, co_await head_of_origin(git, repo));
    auto candidates = words(head);
    CO_TRY(const auto configured, co_await attempt(git, repo, words("config", "--get", "init.defaultBranch")));
    if (configured.ok()) candidates.emplace_back(trim(configured.out));
    candidates.insert(candidates.end(), {"main", "master"});
    for (const auto& given : candidates) {
        const auto candidate = branch_name(given);
        if (candidate.empty()) continue;
        CO_TRY(const auto exists, co_await branch_exists(git, repo, candidate));
        if (exists) co_return DefaultBranch{candidate, given == head};
    }
    auto current = co_await current_branch(git, repo);
    if (!current) co_return current.error();
    if (!current->empty()) co_return DefaultBranch{std::move(*current), true};
    co_return Error(
        ErrorCode::invalid_argument,
        printable(repo) + " has no branch that could be the default branch; check one out, or give --default-branch");
}

Awaitable<Result<std::string>> default_branch(Git& git, std::string repo) {
    CO_TRY(auto found, co_await find_default_branch(git, std::move(repo)));
    co_return std::move(found.name);
}

Awaitable<Result<bool>> has_origin(Git& git, std::string repo) {
    CO_TRY(const auto done, co_await attempt(git, repo, words("config", "--get-all", "remote.origin.url")));
    if (done.exit_status > 1) co_return command_failed(words("git", "config", "remote.origin.url"), done);
    co_return done.ok();
}

Awaitable<Result<void>> fetch(Git& git, std::string repo, std::chrono::milliseconds deadline,
                              std::shared_ptr<Stop> stop) {
    // Name the remote's program here: agents can write the repository's config, which could name another one.
    GitCommand command{std::move(repo), words("fetch", "--quiet", "--prune", "--no-write-fetch-head",
                                              "--no-recurse-submodules", "--upload-pack=git-upload-pack", "origin")};
    command.deadline = deadline;
    command.stop = std::move(stop);
    CO_TRY(co_await git_output(git, std::move(command)));
    co_return Result<void>{};
}

Awaitable<Result<void>> fetch_ref(Git& git, std::string repo, std::string ref, std::chrono::milliseconds deadline) {
    GitCommand command{std::move(repo),
                       words("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
                             "--upload-pack=git-upload-pack", "--end-of-options", "origin", ref)};
    command.deadline = deadline;
    CO_TRY(co_await git_output(git, std::move(command)));
    co_return Result<void>{};
}

Awaitable<Result<std::string>> base_ref(Git& git, std::string repo, std::string default_branch, MergesTo merges) {
    auto names = refs_of_branch(default_branch);
    CO_TRY(const auto known, co_await refs(git, repo, std::move(names)));
    CO_TRY(auto base, co_await base_of(git, std::move(repo), std::move(default_branch), known, merges));
    co_return std::move(base.ref);
}

Awaitable<Result<void>> move_branch(Git& git, std::string repo, std::string branch, std::string to, std::string from) {
    auto old = from.empty() ? std::string(to.size(), '0') : std::move(from);
    CO_TRY(co_await ask_inside(git, std::move(repo),
                               words("update-ref", "--no-deref", "-m", "orange: stacked", std::string(k_heads) + branch,
                                     std::move(to), std::move(old))));
    co_return Result<void>{};
}

std::vector<std::string> obstacles_among_refs(const std::string& git_common) {
    namespace fs = std::filesystem;
    constexpr int k_most_looked_at = 100'000;
    constexpr std::size_t k_most = 5;
    std::vector<std::string> found;
    int seen = 0;
    std::error_code error;
    for (const char* below : {"/refs", "/logs"}) {
        for (fs::recursive_directory_iterator at(git_common + below, error), end; at != end; at.increment(error)) {
            if (error || ++seen > k_most_looked_at || found.size() >= k_most) break;
            const auto type = at->symlink_status(error).type();
            const bool is_usual = type == fs::file_type::regular || type == fs::file_type::directory ||
                                  type == fs::file_type::symlink || type == fs::file_type::not_found;
            if (!is_usual) found.push_back(at->path().string());
        }
    }
    return found;
}

std::vector<std::string> alternates_of(const std::string& git_common) {
    namespace fs = std::filesystem;
    constexpr std::size_t k_most = 50, k_longest = std::size_t{1} << 20;
    std::vector<std::string> found = {git_common + "/objects"};
    for (std::size_t i = 0; i < found.size(); ++i) {
        const auto list = small_file_at(AT_FDCWD, found[i] + "/info/alternates", k_longest).value_or("");
        for (const auto line : split_lines(list)) {
            if (line.empty() || line.front() == '#' || line.front() == '"') continue;
            const auto folder = (fs::path(found[i]) / line).lexically_normal().string();  // by the name that git uses
            // A wall shows these folders, so nothing but a folder of objects may be among them.
            if (fs::path(folder).filename() != "objects" || !is_folder_at(AT_FDCWD, folder + "/pack")) continue;
            if (found.size() < k_most && std::find(found.begin(), found.end(), folder) == found.end()) {
                found.push_back(folder);
            }
        }
    }
    found.erase(found.begin());
    return found;
}

Result<void> check_branch_files(const std::string& git_common, const std::string& branch) {
    const auto refused = [](const std::string& path, const char* what, bool may_be_users = false) {
        return Error(ErrorCode::conflict, printable(path) + " is " + what +
                                              ", so git would write to another place. Look at it, then remove it" +
                                              (may_be_users ? " if it is not yours" : ":\n  rm " + shell_word(path)));
    };
    for (const std::string of_refs : {"/refs/heads", "/logs/refs/heads"}) {
        auto path = git_common + of_refs;
        auto folder = open_folder(path);
        for (const auto component : split(branch, '/')) {
            const std::string name(component);
            struct stat facts {};
            if (!folder || ::fstatat(folder->get(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) break;
            path += "/" + name;
            if (S_ISLNK(facts.st_mode)) return refused(path, "a link");
            if (S_ISREG(facts.st_mode) && is_symbolic_ref(folder->get(), name))
                return refused(path, "a symbolic ref", true);
            if (!S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)) return refused(path, "no regular file");
            if (!S_ISDIR(facts.st_mode)) break;
            auto next = open_folder_at(folder->get(), name, path);
            folder = std::move(next);
        }
    }
    return {};
}

Awaitable<Result<void>> rename_branch(Git& git, Place place, std::string from, std::string to) {
    CO_TRY(co_await check_branch_name(git, to));
    if (place.pinned()) {
        CO_TRY(const auto current, co_await current_branch(git, place));
        if (current != from) {
            co_return Error(ErrorCode::conflict, printable(place.path()) + " is on " +
                                                     (current.empty() ? "no branch" : printable(current)) +
                                                     ", not on " + printable(from));
        }
    }
    if (place.pinned()) {
        for (const auto& branch : {from, to}) CO_TRY(check_branch_files(place.pinned()->common_dir(), branch));
    }
    CO_TRY(const auto taken, co_await commit_of(git, place, std::string(k_heads) + to));
    if (!taken.empty()) co_return Error(ErrorCode::conflict, "branch " + printable(to) + " already exists");
    // An agent's own git may hold a lock for the moment of a commit.
    for (int tries = 5;; --tries) {
        const auto renamed = co_await ask(git, place, words("branch", "-m", "--end-of-options", from, to));
        if (renamed) co_return Result<void>{};
        if (tries == 0 || renamed.error().message.find(".lock") == std::string::npos) co_return renamed.error();
        co_await async::sleep(k_between_tries);
    }
}

Awaitable<Result<std::string>> remote_commit(Git& git, std::string repo, std::string branch) {
    const auto ref = std::string(k_heads) + branch;
    CO_TRY(const auto listed,
           co_await ask(git, repo, words("ls-remote", "--upload-pack=git-upload-pack", "--heads", "origin", ref)));
    for (const auto line : split_lines(listed)) {
        // The pattern matches the end of a name, so refs/heads/x/refs/heads/<branch> would be listed, too.
        const auto columns = split(line, '\t');
        if (columns.size() == 2 && columns[1] == ref) co_return std::string(columns[0]);
    }
    co_return std::string();
}

Awaitable<Result<void>> delete_remote_branch(Git& git, std::string repo, std::string branch,
                                             std::vector<std::string> merged_into) {
    CO_TRY(const auto there, co_await remote_commit(git, repo, branch));
    if (there.empty()) co_return Result<void>{};
    // If this repository does not have origin's commit, no merge of this repository can contain it.
    CO_TRY(const auto known, co_await commit_of(git, repo, there));
    bool merged = false;
    for (const auto& into : merged_into) {
        if (known.empty() || merged) break;
        CO_TRY(merged, co_await contains(git, repo, into, there));
    }
    if (!merged) {
        co_return Error(ErrorCode::conflict,
                        "origin's branch " + printable(branch) + " has unmerged commits, so Orange does not delete it");
    }
    const auto ref = std::string(k_heads) + branch;
    CO_TRY(co_await ask(git, repo,
                        words("push", "--quiet", "--no-verify", "--receive-pack=git-receive-pack",
                              "--force-with-lease=" + ref + ":" + there, "origin", ":" + ref)));
    co_return Result<void>{};
}

}  // namespace orange::git
