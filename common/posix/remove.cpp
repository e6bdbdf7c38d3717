#include "common/posix/remove.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "common/base/ids.hpp"
#include "common/posix/dir.hpp"
#include "common/posix/retried.hpp"

namespace orange::posix {
namespace {

constexpr int k_most_levels = 64;
constexpr std::size_t k_at_once = 32;            ///< entries that the caller itself removes
constexpr off_t k_large_file = off_t{64} << 20;  ///< freeing the blocks of a larger file takes a while
constexpr std::size_t k_name_length = 16;
constexpr const char* k_beside = ".removed";

bool is_large_at(int folder, const std::string& name) {
    struct stat facts {};
    return ::fstatat(folder, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(facts.st_mode) &&
           facts.st_size >= k_large_file;
}

int open_to_empty(int folder, const char* name) {
    constexpr int k_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    const int opened = retried([&] { return ::openat(folder, name, k_flags); });
    if (opened >= 0 || errno != EACCES) return opened;
    if (::fchmodat(folder, name, S_IRWXU, AT_SYMLINK_NOFOLLOW) != 0) return -1;
    return retried([&] { return ::openat(folder, name, k_flags); });
}

/// Calls `change`, and once more after making the folder writable.
template <class Call>
int changed(int folder, Call change) {
    if (change() == 0) return 0;
    const int error = errno;
    return error == EACCES && ::fchmod(folder, S_IRWXU) == 0 && change() == 0 ? 0 : error;
}

/// Removes the contents of one folder after the other.
class Emptying {
  public:
    Emptying(int top, std::size_t most) : top_(top), left_(most), is_limited_(most != k_all) {}

    /// Removes everything below an open folder. Returns 0, EAGAIN or the first errno.
    int empty(int folder, int levels) {
        int first = 0;
        for (bool found = true; found && first == 0;) {
            found = false;
            const int again = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            const std::unique_ptr<DIR, int (*)(DIR*)> open(again >= 0 ? ::fdopendir(again) : nullptr, &::closedir);
            if (!open) return errno;
            while (const auto* entry = ::readdir(open.get())) {
                const std::string name = entry->d_name;
                if (name == "." || name == "..") continue;
                const int error = remove(folder, name, levels);
                if (error == EAGAIN) return error;
                if (error != 0 && first == 0) first = error;
                found = true;  // a folder that was moved up may stand before the place that is read
            }
        }
        return first;
    }

    int remove(int folder, const std::string& name, int levels) {
        if (left_ == 0 || (is_limited_ && is_large_at(folder, name))) return EAGAIN;
        --left_;
        const int as_file = changed(folder, [&] { return ::unlinkat(folder, name.c_str(), 0); });
        if (as_file == 0 || as_file == ENOENT) return 0;
        if (!is_folder_at(folder, name)) return as_file;
        if (levels == 0) return move_up(folder, name);
        const UniqueFd inner(open_to_empty(folder, name.c_str()));
        if (!inner) return errno == ENOENT ? 0 : errno;
        if (const int error = empty(inner.get(), levels - 1)) return error;
        const int error = changed(folder, [&] { return ::unlinkat(folder, name.c_str(), AT_REMOVEDIR); });
        return error == ENOENT ? 0 : error;
    }

  private:
    /// A folder needs to be writable to get another parent.
    int move_up(int folder, const std::string& name) const {
        const UniqueFd inner(open_to_empty(folder, name.c_str()));
        if (inner) (void)::fchmod(inner.get(), S_IRWXU);
        const auto other = random_id(k_name_length);
        return changed(folder, [&] { return ::renameat(folder, name.c_str(), top_, other.c_str()); });
    }

    int top_;
    std::size_t left_;
    bool is_limited_;
};

UniqueFd made_and_opened(int folder, const char* name) {
    (void)::mkdirat(folder, name, S_IRWXU);
    return UniqueFd(::openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/// Empty if the place is on another file system, or is no folder.
UniqueFd open_place(const std::filesystem::path& place, dev_t device) {
    struct stat facts {};
    if (::stat(place.parent_path().c_str(), &facts) != 0 || facts.st_dev != device) return UniqueFd();
    return made_and_opened(AT_FDCWD, place.c_str());
}

}  // namespace

int remove_all(int folder, const std::string& name, std::size_t most) {
    if (!is_folder_at(folder, name)) return Emptying(folder, most).remove(folder, name, k_most_levels);
    const UniqueFd top(open_to_empty(folder, name.c_str()));
    if (!top) return errno == ENOENT ? 0 : errno;
    if (const int error = Emptying(top.get(), most).empty(top.get(), k_most_levels)) return error;
    const int error = changed(folder, [&] { return ::unlinkat(folder, name.c_str(), AT_REMOVEDIR); });
    return error == ENOENT ? 0 : error;
}

Result<void> Remover::remove(int folder, const std::string& name, const std::filesystem::path& path) const {
    struct stat facts {};
    const auto result_of = [&](int error) {
        return error == 0 || error == ENOENT ? Result<void>{} : io_error("removing " + path.string(), error);
    };
    if (::fstatat(folder, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) return result_of(errno);
    if (!S_ISDIR(facts.st_mode) && facts.st_size < k_large_file) {
        return result_of(::unlinkat(folder, name.c_str(), 0) == 0 ? 0 : errno);
    }
    for (const auto& place : places_) {
        const auto opened = open_place(place, facts.st_dev);
        if (opened && put(folder, name, opened.get(), place) == 0) return {};
    }
    const auto beside = made_and_opened(folder, k_beside);
    const int error = beside ? put(folder, name, beside.get(), path.parent_path() / k_beside) : errno;
    (void)::unlinkat(folder, k_beside, AT_REMOVEDIR);  // if it is empty
    return result_of(error);
}

int Remover::put(int folder, const std::string& name, int place, const std::filesystem::path& shown) const {
    const auto as = random_id(k_name_length);
    const auto rename = [&] { return ::renameat(folder, name.c_str(), place, as.c_str()); };
    if (rename() != 0) {
        if (errno != EACCES) return errno;
        const UniqueFd inner(open_to_empty(folder, name.c_str()));
        if (inner) (void)::fchmod(inner.get(), S_IRWXU);  // to get another parent, a folder has to be writable
        if (const int error = changed(folder, rename)) return error;
    }
    const int error = remove_all(place, as, left_ ? k_at_once : k_all);
    if (error != 0 && left_) left_(shown);
    return 0;
}

}  // namespace orange::posix
