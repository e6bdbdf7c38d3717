#include "daemon/git/pinned.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "common/base/ids.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/git.hpp"
#include "daemon/git/small_files.hpp"

namespace orange::git {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_found = "orange-found-";  ///< prefix of a file moved aside in git's own folder of a worktree

/// Resolves links in the path of the parent folder; the last name stays as it is.
std::string resolved_above(const std::string& path) {
    const fs::path plain = fs::path(path).lexically_normal();
    return (fs::path(real_path(plain.parent_path())) / plain.filename()).string();
}

std::string admin_path(const std::string& common_dir, const Identity& identity) {
    return common_dir + "/worktrees/" + identity.admin;
}

/// One of the files by which a worktree and its repository find each other, with the contents that git may have
/// written.
struct Pointer {
    std::string name, prefix;
    std::string to;    ///< absolute
    std::string from;  ///< the folder that a relative path starts at (git's worktree.useRelativePaths)

    std::string text() const { return prefix + to + "\n"; }
    bool is(const std::optional<std::string>& found) const {
        if (!found || !found->starts_with(prefix) || !found->ends_with('\n')) return false;
        const auto path = found->substr(prefix.size(), found->size() - prefix.size() - 1);
        return path == to || path == fs::path(to).lexically_relative(from).string();
    }
};

Pointer to_repository(const std::string& path, const std::string& admin) {
    return {".git", "gitdir: ", admin, path};
}

std::array<Pointer, 2> to_worktree(const std::string& path, const std::string& admin, const std::string& common_dir) {
    return {Pointer{"gitdir", "", path + "/.git", admin}, Pointer{"commondir", "", common_dir, admin}};
}

std::string made_anew(const std::string& path) {
    return "to have the workspace created again, move the folder away: mv " + shell_word(path) + " " +
           shell_word(path + ".old") + " && orange workspace gc";
}

/// Compares the device with that of the parent folder, because a device's number may change when the machine restarts.
bool is_the_one(const struct stat& facts, const std::string& path, const Identity& identity) {
    struct stat above {};
    return S_ISDIR(facts.st_mode) && facts.st_ino == identity.inode &&
           ::stat(fs::path(path).parent_path().c_str(), &above) == 0 && facts.st_dev == above.st_dev;
}

Result<UniqueFd> open_worktree(const std::string& path, const Identity& identity) {
    auto folder = open_folder(path);
    struct stat facts {};
    if (folder && ::fstat(folder->get(), &facts) == 0 && is_the_one(facts, path, identity)) return folder;
    if (!folder && (::lstat(path.c_str(), &facts) != 0 || S_ISDIR(facts.st_mode))) return folder.error();
    return Error(ErrorCode::conflict, printable(path) + " is not the folder that Orange made there" +
                                          (folder ? std::string() : ", but a link or a file") +
                                          "; nothing in it was touched. Put the folder back; or, " + made_anew(path));
}

bool is_a_head(const std::string& text) {
    const auto line = trim(text);
    if (line.starts_with("ref: refs/")) return line.find("..") == std::string_view::npos;
    return line.size() >= 40 && line.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Result<UniqueFd> open_admin(const std::string& common_dir, const std::string& path, const Identity& identity) {
    const auto admin = admin_path(common_dir, identity);
    auto folder = open_folder(admin);
    if (!folder && is_folder_at(AT_FDCWD, admin)) return folder.error();
    if (!folder) {
        return Error(ErrorCode::conflict, printable(path) +
                                              " is not a worktree of its repository any more, which has no folder " +
                                              printable(admin) + "; " + made_anew(path));
    }
    const auto head = small_file_at(folder->get(), "HEAD");
    if (is_link_downwards(folder->get(), "HEAD") || (head && is_a_head(*head))) return folder;
    return Error(ErrorCode::conflict,
                 printable(admin) + "/HEAD names neither a branch nor a commit; " + made_anew(path));
}

/// The new place of a file that is moved aside: a folder, and an unused name in it.
struct Aside {
    int folder;
    std::string path, name;
};

/// Moves the file aside and returns its new path. An outdated pointer to a worktree of that name has no information, so
/// it stays to be overwritten; the result is empty then.
Result<std::string> set_aside(int folder, const Pointer& pointer, const std::string& admin, const Aside& aside) {
    struct stat facts {};
    if (::fstatat(folder, pointer.name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) return std::string();
    const auto text = small_file_at(folder, pointer.name);
    if (text && (text->empty() || trim(*text).ends_with("/worktrees/" + admin))) return std::string();
    if (!text && S_ISREG(facts.st_mode) && facts.st_size <= static_cast<off_t>(k_longest_pointer)) {
        return Error(ErrorCode::io, "reading " + pointer.name + " of the worktree " + admin + ": it cannot be read");
    }
    const auto kept = aside.path + "/" + aside.name;
    if (::renameat(folder, pointer.name.c_str(), aside.folder, aside.name.c_str()) == 0) return kept;
    return io_error("moving " + pointer.name + " to " + kept, errno);
}

Result<void> mend(int folder, const Pointer& pointer, const std::string& admin, const Aside& aside,
                  std::vector<RestoredFile>& mended) {
    if (pointer.is(small_file_at(folder, pointer.name))) return {};
    TRY(auto kept, set_aside(folder, pointer, admin, aside));
    TRY(replace_file_at(folder, pointer.name, pointer.text(), pointer.name));
    mended.push_back({pointer.name, std::move(kept)});
    return {};
}

/// Renames an entry of git's own folder, so that git does not use it.
Result<void> set_entry_aside(int folder, const std::string& admin, const std::string& name, const std::string& mark,
                             std::vector<RestoredFile>& mended) {
    const auto kept = k_found + mark + name;
    if (::renameat(folder, name.c_str(), folder, kept.c_str()) != 0)
        return io_error("moving " + admin + "/" + name, errno);
    mended.push_back({name, admin + "/" + kept});
    return {};
}

/// Moves pipes aside: a pipe in this folder would block every git command that lists the repository's worktrees.
Result<void> set_pipes_aside(const std::string& admin, const std::string& mark, std::vector<RestoredFile>& mended) {
    const auto folder = open_folder(admin);
    if (!folder) return {};  // open_admin() reports the reason
    TRY(const auto names, names_in(folder->get(), admin));
    for (const auto& name : names) {
        struct stat facts {};
        if (::fstatat(folder->get(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (!S_ISFIFO(facts.st_mode) || name.starts_with(k_found)) continue;
        TRY(set_entry_aside(folder->get(), admin, name, mark, mended));
    }
    return {};
}

struct Opened {
    std::string path, admin;  ///< as git writes them
    UniqueFd folder, admin_folder;
};

Result<Opened> open_both(const std::string& common_dir, const std::string& path, const Identity& identity) {
    TRY(auto folder, open_worktree(path, identity));
    TRY(auto admin, open_admin(common_dir, path, identity));
    return Opened{resolved_above(path), admin_path(common_dir, identity), std::move(folder), std::move(admin)};
}

/// Returns the names of git's own folders that point at the worktree at `path`.
Result<std::vector<std::string>> claiming(const std::string& common_dir, const std::string& path) {
    std::vector<std::string> claims;
    const auto all = open_folder(common_dir + "/worktrees");
    if (!all) return claims;
    TRY(const auto names, names_in(all->get(), common_dir + "/worktrees"));
    for (const auto& name : names) {
        const auto admin = open_folder_at(all->get(), name, name);
        const auto pointers = to_worktree(resolved_above(path), common_dir + "/worktrees/" + name, common_dir);
        if (admin && pointers[0].is(small_file_at(admin->get(), "gitdir"))) claims.push_back(name);
    }
    return claims;
}

/// Returns true for index.lock, HEAD.lock, ORIG_HEAD.lock …, and for next-index-<pid>.lock, which a commit of some
/// files uses.
bool is_a_lock_of_git(std::string_view name) {
    constexpr std::string_view k_end = ".lock";
    if (!name.ends_with(k_end)) return false;
    name.remove_suffix(k_end.size());
    return name == "index" || name == "config.worktree" || name.starts_with("next-index-") ||
           name.starts_with("orange-index-") ||
           (!name.empty() && name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == std::string_view::npos);
}

}  // namespace

Pinned::Pinned(std::string path, std::string git_dir, std::string common_dir, Folder folder, Folder admin,
               bool is_walled)
    : held_(std::make_shared<const Held>(Held{std::move(path), std::move(git_dir), std::move(common_dir),
                                              std::move(folder), std::move(admin), is_walled})) {}

Pinned Pinned::from(std::string path, Folder folder) const {
    return {std::move(path), git_dir(), common_dir(), std::move(folder), held_->admin, is_walled()};
}

Result<UniqueFd> make_aside(const std::string& path) {
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return io_error("making " + path, errno);
    auto folder = open_folder(path);
    if (folder || is_folder_at(AT_FDCWD, path)) return folder;
    return Error(ErrorCode::conflict,
                 printable(path) +
                     " is a link or a file, and nothing is moved through it; look at it, then remove it: rm " +
                     shell_word(path));
}

bool is_same_folder(const std::string& path, const Identity& identity) {
    struct stat facts {};
    return ::lstat(path.c_str(), &facts) == 0 && is_the_one(facts, path, identity);
}

Result<Identity> identify(const std::string& common_dir, const std::string& path) {
    struct stat facts {};
    TRY(const auto names, claiming(common_dir, path));
    const auto claims = names.size();
    Identity found;
    for (const auto& name : names) {
        // An agent can change a folder's claim to another worktree's path. Git names its own folder after the
        // worktree's.
        if (name == fs::path(path).filename() || found.admin.empty()) found.admin = name;
    }
    if (claims == 0 || ::lstat(path.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) {
        return Error(ErrorCode::not_found, printable(path) + " is not a worktree of " + printable(common_dir));
    }
    if (claims > 1 && found.admin != fs::path(path).filename()) {
        return Error(ErrorCode::conflict, counted(claims, "folder") + " in " + printable(common_dir) +
                                              "/worktrees say that they belong to " + printable(path));
    }
    found.inode = facts.st_ino;
    return found;
}

Result<void> forget(Git& git, const std::string& common_dir, const std::string& path) {
    TRY(const auto names, claiming(common_dir, path));
    for (const auto& name : names) TRY(remove_folder(git, common_dir + "/worktrees/" + name));
    return {};
}

Result<Pinned> pin(const std::string& common_dir, const std::string& path, const Identity& identity, bool is_walled,
                   const std::string& aside, std::vector<RestoredFile>& mended) {
    const auto mark = random_id(8) + "-";
    if (is_same_folder(path, identity)) TRY(set_pipes_aside(admin_path(common_dir, identity), mark, mended));
    TRY(auto opened, open_both(common_dir, path, identity));
    const auto own = to_repository(opened.path, opened.admin);
    if (!own.is(small_file_at(opened.folder.get(), own.name))) {
        TRY(const auto kept, make_aside(aside));
        const Aside there{kept.get(), aside, fs::path(path).filename().string() + "-" + mark + "git"};
        TRY(mend(opened.folder.get(), own, identity.admin, there, mended));
    }
    for (const auto& pointer : to_worktree(opened.path, opened.admin, common_dir)) {
        const auto admin = opened.admin_folder.get();
        const Aside there{admin, opened.admin, k_found + mark + pointer.name};
        TRY(mend(admin, pointer, identity.admin, there, mended));
    }
    return Pinned(path, opened.admin, common_dir, Pinned::hold(std::move(opened.folder)),
                  Pinned::hold(std::move(opened.admin_folder)), is_walled);
}

Result<Pinned> pin_as_it_is(const std::string& common_dir, const std::string& path, const Identity& identity,
                            bool is_walled) {
    TRY(auto opened, open_both(common_dir, path, identity));
    const auto own = to_repository(opened.path, opened.admin);
    bool agree = own.is(small_file_at(opened.folder.get(), own.name));
    for (const auto& pointer : to_worktree(opened.path, opened.admin, common_dir)) {
        agree = agree && pointer.is(small_file_at(opened.admin_folder.get(), pointer.name));
    }
    if (agree)
        return Pinned(path, opened.admin, common_dir, Pinned::hold(std::move(opened.folder)),
                      Pinned::hold(std::move(opened.admin_folder)), is_walled);
    return Error(ErrorCode::conflict,
                 printable(path) + "/.git and " + printable(opened.admin) + " do not point at each other");
}

std::vector<std::string> locks_in(const Pinned& worktree) {
    auto names = names_in(worktree.admin(), worktree.git_dir());
    if (!names) return {};
    std::erase_if(*names, [](const std::string& name) { return !is_a_lock_of_git(name); });
    return *names;
}

}  // namespace orange::git
