#include "daemon/git/ignored.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "common/base/shown_path.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/private_index.hpp"
#include "daemon/git/small_files.hpp"
#include "daemon/git/worktrees.hpp"

namespace orange::git {
namespace {

namespace fs = std::filesystem;

bool is_file_of_orange(const std::string& path) {
    const auto own = own_files();
    return std::any_of(own.begin(), own.end(), [&](const auto& begin) { return path.starts_with(begin); });
}

/// Returns the ignored files that the patterns match, without repositories.
Awaitable<Result<std::vector<std::string>>> named_by(Git& git, Pinned worktree, std::vector<std::string> patterns) {
    auto args = words("ls-files", "-z", "--others", "--ignored", "--full-name");
    for (const auto& pattern : patterns) args.push_back("--exclude=" + pattern);
    CO_TRY(const auto named, co_await ask_inside(git, worktree, std::move(args)));
    CO_TRY(
        const auto shown,
        co_await ask_inside(git, worktree, words("ls-files", "-z", "--others", "--exclude-standard", "--full-name")));
    const auto others = pieces(shown);
    const std::set<std::string> not_ignored(others.begin(), others.end());
    auto files = pieces(named);
    std::erase_if(files, [&](const auto& file) {
        return file.ends_with('/') || not_ignored.contains(file) || is_file_of_orange(file);
    });
    co_return files;
}

/// Removes from `files` what is no file or link, and what exceeds the size limit.
void leave_out(const Pinned& worktree, std::vector<std::string>& files, KeptIgnored& kept) {
    std::int64_t bytes = 0;
    std::erase_if(files, [&](const auto& file) {
        struct stat facts {};
        if (::fstatat(worktree.folder()->get(), file.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) return true;
        if (!S_ISREG(facts.st_mode) && !S_ISLNK(facts.st_mode)) return true;
        if (bytes + facts.st_size > k_most_kept) {
            kept.too_large.emplace_back(shown_path(file), facts.st_size);
            return true;
        }
        bytes += facts.st_size;
        return false;
    });
}

}  // namespace

std::vector<std::string> own_files() {
    return {"TASK.md", ".TASK.md.", "..TASK.md.", ".orange/"};
}

Awaitable<Result<std::vector<std::string>>> ignored_in(Git& git, Pinned worktree) {
    CO_TRY(const auto listed, co_await ask_inside(git, worktree,
                                                  words("ls-files", "-z", "--others", "--ignored", "--exclude-standard",
                                                        "--directory", "--no-empty-directory", "--full-name")));
    std::vector<std::string> names;
    for (const auto& name : pieces(listed)) {
        if (!is_file_of_orange(name)) names.push_back(shown_path(name));
    }
    co_return names;
}

Awaitable<Result<KeptIgnored>> keep_ignored(Git& git, Pinned worktree, std::vector<std::string> patterns,
                                            std::string ref, std::string message) {
    KeptIgnored kept;
    CO_TRY(auto files, co_await named_by(git, worktree, std::move(patterns)));
    leave_out(worktree, files, kept);
    if (files.empty()) co_return kept;
    std::string paths;
    for (const auto& file : files) paths += ":(top,literal)" + file + '\0';
    const PrivateIndex index(worktree);
    CO_TRY(co_await add_files(git, worktree, index.env(), words("--force"), std::move(paths)));
    CO_TRY(const auto written, co_await ask_inside(git, worktree, words("write-tree"), "", index.env()));
    CO_TRY(const auto earlier, co_await commit_of(git, worktree, ref));
    const auto parents = earlier.empty() ? std::vector<std::string>() : words(earlier);
    CO_TRY(kept.commit, co_await commit_tree(git, worktree, std::string(trim(written)), parents, std::move(message)));
    const auto before = earlier.empty() ? std::string(kept.commit.size(), '0') : earlier;
    CO_TRY(co_await ask_inside(git, worktree, words("update-ref", "-m", "orange: ignored", ref, kept.commit, before)));
    kept.files = files.size();
    co_return kept;
}

Awaitable<Result<void>> write_files_of(Git& git, std::string repo, std::string commit, std::string folder) {
    const auto unfinished = folder + ".tmp";
    std::error_code error;
    CO_TRY(remove_folder(git, unfinished));
    fs::create_directory(unfinished, error);
    if (error) co_return io_error("making " + unfinished, error.value());
    CO_TRY(const auto common, co_await common_dir(git, std::move(repo)));
    CO_TRY(auto opened, open_folder(unfinished));
    CO_TRY(auto admin, open_folder(common));
    const Pinned place(unfinished, common, common, Pinned::hold(std::move(opened)), Pinned::hold(std::move(admin)));
    const PrivateIndex index(place);
    CO_TRY(co_await ask_inside(git, place, words("read-tree", commit), "", index.env()));
    CO_TRY(co_await ask_inside(git, place, words("checkout-index", "--all", "--quiet"), "", index.env()));
    fs::rename(unfinished, folder, error);
    if (error) co_return io_error("renaming " + unfinished, error.value());
    co_return Result<void>{};
}

}  // namespace orange::git
