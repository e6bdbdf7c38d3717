#include "daemon/git/nested.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/small_files.hpp"

namespace orange::git {
namespace {

/// Whether a .git folder's parts all lie in it.
Result<bool> is_all_there(int git_dir, const std::string& path) {
    struct stat facts {};
    bool all = ::fstatat(git_dir, "commondir", &facts, AT_SYMLINK_NOFOLLOW) != 0;
    auto seen =
        see_all_below(git_dir, path + "/.git", [&](int folder, const std::string& name, unsigned mode) -> Result<void> {
            all = all && (S_ISREG(mode) || S_ISDIR(mode) || is_link_downwards(folder, name));
            return {};
        });
    if (!seen && seen.error().code == ErrorCode::conflict) {
        auto refused = seen.error();
        refused.message += "; to pack it, run: git -C " + shell_word(path) + " gc";
        return refused;
    }
    if (!seen) return seen.error();
    return all;
}

}  // namespace

Result<Nested> open_nested(const Pinned& worktree, const std::string& relative) {
    const auto path = worktree.path() + "/" + relative;
    TRY(auto opened, open_folder_below(worktree.folder()->get(), relative, path));
    const auto folder = std::make_shared<const UniqueFd>(std::move(opened));
    Nested nested{worktree.from(path, folder), std::nullopt};
    if (!is_folder_at(folder->get(), ".git")) return nested;
    TRY(auto git_dir, open_folder_at(folder->get(), ".git", path + "/.git"));
    TRY(nested.is_whole, is_all_there(git_dir.get(), path));
    nested.repository.emplace(path, ".git", ".git", folder, std::make_shared<const UniqueFd>(std::move(git_dir)));
    return nested;
}

Result<void> remove_git_of(const Nested& nested) {
    const auto shown = nested.outer.path() + "/.git";
    const auto folder = nested.outer.folder()->get();
    struct stat held {};
    struct stat there {};
    const bool is_there = ::fstatat(folder, ".git", &there, AT_SYMLINK_NOFOLLOW) == 0;
    if (!nested.repository) {
        if (!is_there || ::unlinkat(folder, ".git", 0) == 0) return {};  // never a folder
        return io_error("removing " + shown, errno);
    }
    const int own = nested.repository->admin();
    if (!is_there || ::fstat(own, &held) != 0 || held.st_ino != there.st_ino || held.st_dev != there.st_dev) {
        return Error(ErrorCode::conflict, printable(shown) + " has been replaced meanwhile; nothing was removed");
    }
    TRY(remove_all_below(own, shown));
    if (::unlinkat(folder, ".git", AT_REMOVEDIR) == 0) return {};
    return io_error("removing " + shown, errno);
}

}  // namespace orange::git
