#include "daemon/git/obstacles.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <memory>

#include "daemon/git/small_files.hpp"

namespace orange::git {
namespace {

/// Calls `see` with each name in a folder and its type (of st_mode) until `see` returns false. An unreadable folder
/// counts as empty.
void for_each_name(int folder, const std::function<bool(const std::string& name, unsigned type)>& see) {
    UniqueFd again(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const std::unique_ptr<DIR, int (*)(DIR*)> open(again ? ::fdopendir(again.get()) : nullptr, &::closedir);
    if (!open) return;
    (void)again.release();
    while (const auto* entry = ::readdir(open.get())) {
        const std::string name = entry->d_name;
        if (name == "." || name == "..") continue;
        unsigned type = DTTOIF(entry->d_type);
        struct stat facts {};
        if (type == 0 && ::fstatat(folder, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0) {
            type = facts.st_mode & static_cast<unsigned>(S_IFMT);
        }
        if (!see(name, type)) return;
    }
}

bool is_special(unsigned type) {
    return S_ISFIFO(type) || S_ISSOCK(type) || S_ISCHR(type) || S_ISBLK(type);
}

bool has_file(int folder, const std::string& name, int levels = k_most_levels) {
    const auto inner = open_folder_at(folder, name, name);
    if (!inner || levels == 0) return true;  // git will look into it
    bool found = false;
    for_each_name(inner->get(), [&](const std::string& each, unsigned type) {
        found = S_ISREG(type) || S_ISLNK(type) || (S_ISDIR(type) && has_file(inner->get(), each, levels - 1));
        return !found;
    });
    return found;
}

bool make_writable_below(int folder, int levels) {
    bool changed = false;
    struct stat facts {};
    const bool known = ::fstat(folder, &facts) == 0;
    if (known && (facts.st_mode & S_IRWXU) != S_IRWXU && facts.st_uid == ::geteuid()) {
        changed = ::fchmod(folder, (facts.st_mode & 07777U) | S_IRWXU) == 0;
    }
    if (levels == 0) return changed;
    for_each_name(folder, [&](const std::string& name, unsigned type) {
        if (!S_ISDIR(type)) return true;
        const auto inner = open_folder_at(folder, name, name);
        if (inner && make_writable_below(inner->get(), levels - 1)) changed = true;
        return true;
    });
    return changed;
}

}  // namespace

Result<bool> remove_special_files(const Pinned& worktree, const std::set<std::string>& folders) {
    bool is_hollow = false;
    int problem = 0;
    std::string refused;
    const auto look_into = [&](int folder, const std::string& prefix) {
        for_each_name(folder, [&](const std::string& name, unsigned type) {
            if (is_special(type) && ::unlinkat(folder, name.c_str(), 0) != 0 && errno != ENOENT) {
                problem = errno;
                refused = prefix + name;
            }
            const bool is_own = S_ISDIR(type) && name != ".git" && !folders.contains(prefix + name);
            if (is_own && !is_hollow) is_hollow = !has_file(folder, name);
            return true;
        });
    };
    const int top = worktree.folder()->get();
    look_into(top, "");
    for (const auto& relative : folders) {
        const auto folder = open_folder_below(top, relative, relative);
        if (folder) look_into(folder->get(), relative + "/");
    }
    if (problem != 0) return io_error("removing " + worktree.path() + "/" + refused, problem);
    return is_hollow;
}

bool make_folders_writable(int worktree) {
    return make_writable_below(worktree, k_most_levels);
}

}  // namespace orange::git
