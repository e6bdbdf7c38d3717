#include "daemon/git/strays.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/small_files.hpp"

namespace orange::git {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_on_branch = "ref: refs/heads/";

/// Returns the worktree of git's own folder `admin`; its path is empty if that folder does not name it.
Stray read_stray(int all, const std::string& admin, const fs::path& shown) {
    Stray stray;
    stray.admin = admin;
    const auto folder = open_folder_at(all, admin, shown.string());
    const auto pointer = folder ? small_file_at(folder->get(), "gitdir") : std::nullopt;
    if (!pointer || trim(*pointer).empty()) return stray;
    const fs::path file = (shown / std::string(trim(*pointer))).lexically_normal();  // an absolute one stays as it is
    stray.path = real_path(file.parent_path());
    if (const auto head = small_file_at(folder->get(), "HEAD"); head && head->starts_with(k_on_branch)) {
        stray.branch = trim(std::string_view(*head).substr(k_on_branch.size()));
    }
    struct stat facts {};
    stray.is_locked = ::fstatat(folder->get(), "locked", &facts, AT_SYMLINK_NOFOLLOW) == 0;
    // git writes this file when it adds the worktree, and never again.
    if (::fstatat(folder->get(), "commondir", &facts, AT_SYMLINK_NOFOLLOW) == 0) stray.added = facts.st_mtime;
    stray.is_gone = ::lstat(file.c_str(), &facts) != 0;
    return stray;
}

}  // namespace

Result<std::vector<Stray>> worktrees_below(const std::string& common_dir, const std::string& folder) {
    std::vector<Stray> found;
    const auto shown = common_dir + "/worktrees";
    const auto all = open_folder(shown);
    if (!all) return found;  // git creates this folder with the first worktree
    TRY(const auto names, names_in(all->get(), shown));
    const auto above = real_path(folder) + "/";
    for (const auto& name : names) {
        auto stray = read_stray(all->get(), name, fs::path(shown) / name);
        if (!stray.path.starts_with(above)) continue;
        stray.below = stray.path.substr(above.size());
        found.push_back(std::move(stray));
    }
    return found;
}

}  // namespace orange::git
