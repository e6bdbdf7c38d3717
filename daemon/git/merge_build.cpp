#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "common/base/shown_path.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/checkout.hpp"
#include "daemon/git/clash.hpp"
#include "daemon/git/merge.hpp"
#include "daemon/git/merge_tree.hpp"
#include "daemon/git/signing.hpp"
#include "daemon/git/worktrees.hpp"

/// `git merge-tree` makes the merge commit without a checkout. The result is that of git merge, but no file is written,
/// no filter runs (Git LFS would download everything), and no worktree is registered that a crash could leave behind.
/// The merge needs the attributes (merge=union, -merge, merge drivers), which git 2.39 reads from files alone. So it
/// runs in a folder that contains only the .gitattributes of the base, where merge drivers can write their temporary
/// files, too.
namespace orange::git {
namespace {

namespace fs = std::filesystem;

/// A folder in the scratch folder: without it git finds no repository.
constexpr std::string_view k_objects = ".objects";

/// A hand-made tree may contain "..".
bool is_inside(const fs::path& path) {
    for (const auto& part : path) {
        if (part == ".." || part == "." || part == ".git" || part == "/") return false;
    }
    return true;
}

/// Returns the paths of a commit's .gitattributes that are regular files; git reads no others. `git grep` looks for
/// them without naming all other files, and leaves out empty ones.
Awaitable<Result<std::vector<std::string>>> attribute_files(Git& git, std::string repo, std::string commit) {
    CO_TRY(const auto found,
           co_await attempt(git, std::move(repo),
                            words("grep", "--no-color", "--files-with-matches", "--text", "--null", "--full-name", "-e",
                                  "", commit, "--", ":(top,glob)**/.gitattributes")));
    if (found.exit_status > 1) co_return command_failed(words("git", "grep", commit), found);
    std::vector<std::string> paths;
    for (const auto& piece : pieces(found.out)) {
        if (piece.size() > commit.size()) paths.push_back(piece.substr(commit.size() + 1));  // after "<commit>:"
    }
    std::erase_if(paths, [](const std::string& path) { return !is_inside(path); });
    co_return paths;
}

Awaitable<Result<void>> write_file(Git& git, std::string repo, fs::path into, std::string commit, std::string file) {
    CO_TRY(const auto text, co_await ask(git, repo, words("cat-file", "blob", commit + ":" + file)));
    const auto path = into / file;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    std::ofstream out(path, std::ios::binary);
    out << text;
    out.close();
    if (error || !out) co_return io_error("writing " + path.string(), error ? error.value() : EIO);
    co_return Result<void>{};
}

Error conflict_in(const MergeRequest& request, const std::vector<std::string>& files) {
    const auto with = printable(request.shown_base.empty() ? request.target : request.shown_base);
    const auto what = files.size() == 1
                          ? shown_path(files.front()) + " conflicts with " + with
                          : counted(files.size(), "file") + " conflict with " + with + ":" + list_of(files);
    Error conflict(ErrorCode::conflict, what);
    conflict.details["files"] = join(shown_paths(files), "\n");
    return conflict;
}

Error unrelated(const MergeRequest& request) {
    return {ErrorCode::conflict,
            printable(request.branch) + " and " + printable(request.target) + " have no commit in common"};
}

Result<Pinned::Folder> opened(const std::string& path) {
    UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder) return io_error("opening " + path, errno);
    return Pinned::hold(std::move(folder));
}

/// Git puts a file that is in the way of a folder beside it, with the name of its side: lib~<commit>.
std::string own_path(std::string_view path, const std::vector<std::string>& sides) {
    for (const auto& side : sides) {
        if (const auto end = path.rfind("~" + side); end != std::string_view::npos) path = path.substr(0, end);
    }
    return std::string(path);
}

/// Reads the output of a merge with conflicts: the tree, the paths that are not merged, an empty piece, and messages
/// (the number of paths, the paths, the kind, the text). Some conflicts have no such path, as when a folder was split:
/// then the messages name it.
std::vector<std::string> conflicts_in(const std::vector<std::string_view>& said,
                                      const std::vector<std::string>& sides) {
    std::vector<std::string> paths;
    std::size_t at = 1;
    for (; at < said.size() && !said[at].empty(); ++at) paths.push_back(own_path(said[at], sides));
    ++at;
    while (paths.empty() && at < said.size()) {
        const auto count = whole_number(said[at]).value_or(-1);
        const auto kind = at + 1 + static_cast<std::size_t>(count);
        if (count < 0 || kind >= said.size()) break;
        const bool is_conflict = said[kind].starts_with("CONFLICT");
        for (auto path = at + 1; is_conflict && path < kind; ++path) paths.push_back(own_path(said[path], sides));
        at = kind + 2;
    }
    std::ranges::sort(paths);
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
    return paths;
}

/// Returns the merged tree; conflict with the files if git cannot merge them.
Awaitable<Result<std::string>> merged_tree(Git& git, const MergeRequest& request, std::string base) {
    CO_TRY(auto merged, co_await merge_trees(git, request, std::move(base), false));
    if (!merged.conflicts.empty()) co_return conflict_in(request, merged.conflicts);
    co_return std::move(merged.tree);  // commit-tree refuses anything that is not a tree
}

Awaitable<Result<std::string>> merge_commit(Git& git, const MergeRequest& request, std::string base,
                                            std::string message, bool squash) {
    CO_TRY(co_await make_scratch(git, request, base));
    CO_TRY(const auto tree, co_await merged_tree(git, request, base));
    if (message.empty()) message = "Merge branch '" + request.branch + "'\n";
    auto args = words("commit-tree", tree, "-F", "-", "-p", base);
    if (!squash) args.insert(args.end(), {"-p", request.tip});
    co_return co_await make_commit(git, request.repo, std::move(args), std::move(message), request.sign);
}

}  // namespace

Awaitable<Result<void>> make_scratch(Git& git, const MergeRequest& request, std::string base) {
    CO_TRY(remove_folder(git, request.scratch));
    CO_TRY(const auto files, co_await attribute_files(git, request.repo, base));
    std::error_code error;
    const fs::path scratch = request.scratch;
    for (const auto& folder : {scratch.parent_path(), scratch, scratch / k_objects}) {
        const bool is_new = fs::create_directory(folder, error);
        if (is_new) fs::permissions(folder, fs::perms::owner_all, error);
        if (error) break;
    }
    if (error) co_return io_error("making " + request.scratch, error.value());
    for (const auto& file : files) CO_TRY(co_await write_file(git, request.repo, request.scratch, base, file));
    co_return Result<void>{};
}

std::map<std::string, std::string> apart_from(const MergeRequest& request) {
    const auto objects = fs::path(request.scratch) / k_objects;
    std::string quoted = "\"";  // otherwise git takes a colon in the path for the end of it
    for (const char c : request.git_dir + "/objects") {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c;
    }
    return {{"GIT_OBJECT_DIRECTORY", objects.string()}, {"GIT_ALTERNATE_OBJECT_DIRECTORIES", quoted + "\""}};
}

Awaitable<Result<MergedTree>> merge_trees(Git& git, const MergeRequest& request, std::string base, bool apart) {
    auto dir = request.git_dir;
    if (dir.empty()) {
        CO_TRY(dir, co_await common_dir(git, request.repo));
    }
    CO_TRY(const auto folder, opened(request.scratch));
    CO_TRY(const auto admin, opened(dir));
    GitCommand command{Pinned(request.scratch, dir, dir, folder, admin),
                       words("merge-tree", "--write-tree", "-z", "--name-only", base, request.tip)};
    if (!apart) command.deadline = k_checkout_deadline;
    if (apart) command.env = apart_from(request);
    CO_TRY(const auto done, co_await git.run(std::move(command)));
    const auto said = split(done.out, '\0');
    MergedTree merged{std::string(said.front())};
    if (done.exit_status == 1) merged.conflicts = conflicts_in(said, {base, request.tip});
    const bool is_whole = done.exit_status == 0 || (done.exit_status == 1 && !merged.conflicts.empty());
    if (!is_whole || merged.tree.empty()) co_return command_failed(words("git", "merge-tree", base, request.tip), done);
    co_return merged;
}

Awaitable<Result<std::vector<std::string>>> conflicts_of(Git& git, const MergeRequest& request, std::string base) {
    Trials trials(git, request);
    CO_TRY(co_await trials.begin(base));
    CO_TRY(const auto clashes, co_await trials.clash(base, request.tip));
    std::vector<std::string> files;
    for (const auto& file : clashes) files.push_back(shown_path(file.path));
    co_return files;
}

Awaitable<Result<std::string>> build_merge(Git& git, const MergeRequest& request, MergeStrategy strategy,
                                           std::string base, std::string message) {
    const auto& tip = request.tip;
    const auto nothing_in_common = [&]() -> Awaitable<bool> {
        const auto related = co_await attempt(git, request.repo, words("merge-base", base, tip));
        co_return related && related->exit_status == 1;
    };
    if (strategy == MergeStrategy::ff) {
        CO_TRY(const auto ahead, co_await contains(git, request.repo, tip, base));
        if (ahead) co_return tip;
        if (co_await nothing_in_common()) co_return unrelated(request);
        co_return Error(ErrorCode::conflict,
                        printable(request.branch) + " cannot be fast-forwarded: " + printable(request.target) +
                            " has commits that the branch does not have. Rebase it, or use --strategy merge");
    }
    auto commit = co_await merge_commit(git, request, base, std::move(message), strategy == MergeStrategy::squash);
    auto removed = remove_folder(git, request.scratch);
    if (commit && !removed) co_return removed.error();
    const bool conflicts = !commit && commit.error().code == ErrorCode::conflict;
    if (!commit && !conflicts && co_await nothing_in_common()) co_return unrelated(request);
    co_return commit;
}

}  // namespace orange::git
