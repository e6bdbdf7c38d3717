#include "daemon/files/file_facts.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "common/base/try.hpp"
#include "common/posix/fd.hpp"
#include "daemon/files/unfinished.hpp"

namespace orange::files {
namespace {

/// Syncs a file or folder; success if it does not exist.
Result<void> sync_at(const Path& place, int flags, const Path& file) {
    const UniqueFd opened(::open(place.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | flags));
    if (!opened && (errno == ENOENT || errno == ELOOP)) return {};
    if (!opened || ::fsync(opened.get()) != 0) return io_error("syncing " + file.string(), errno);
    return {};
}

}  // namespace

std::chrono::sys_time<std::chrono::nanoseconds> modified_in(const struct stat& facts) {
#ifdef __APPLE__
    const auto& time = facts.st_mtimespec;
#else
    const auto& time = facts.st_mtim;
#endif
    return std::chrono::sys_time<std::chrono::nanoseconds>(std::chrono::seconds(time.tv_sec) +
                                                           std::chrono::nanoseconds(time.tv_nsec));
}

Result<FileFacts> facts_of(const Path& path) {
    struct stat facts {};
    if (::lstat(path.c_str(), &facts) != 0) {
        Error error = io_error("looking at " + path.string(), errno);
        if (errno == ENOENT || errno == ENOTDIR) error.code = ErrorCode::not_found;
        return error;
    }
    const auto kind = S_ISREG(facts.st_mode)   ? FileFacts::Kind::file
                      : S_ISDIR(facts.st_mode) ? FileFacts::Kind::folder
                      : S_ISLNK(facts.st_mode) ? FileFacts::Kind::link
                                               : FileFacts::Kind::other;
    return FileFacts{kind, static_cast<std::uintmax_t>(facts.st_size), modified_in(facts)};
}

bool is_forbidden(const Path& path) {
    return ::access(path.c_str(), R_OK) != 0 && errno == EACCES;
}

bool modified_within(const Path& path, std::chrono::nanoseconds age) {
    const auto facts = facts_of(path);
    if (!facts) return false;
    const auto quiet = std::chrono::system_clock::now() - facts->modified;
    return quiet < age && quiet > -age;  // a time far in the future does not show a writer
}

Result<void> create_new(FileSystem& files, const Path& path, std::string_view content) {
    const Path temporary = path.parent_path() / unfinished_name(path.filename().string());
    TRY(files.replace(temporary, content, Durability::atomic));
    // Use link() rather than rename(): on every POSIX system it fails if the name is taken.
    const int error = ::link(temporary.c_str(), path.c_str()) == 0 ? 0 : errno;
    auto removed = files.remove(temporary);
    if (error == EEXIST) return {ErrorCode::conflict, "creating " + path.string() + ": it exists already"};
    if (error != 0) return io_error("creating " + path.string(), error);
    TRY(removed);
    return sync_at(path.parent_path(), O_DIRECTORY, path);
}

void make_private(const Path& path) {
    (void)::fchmodat(AT_FDCWD, path.c_str(), S_IRUSR | S_IWUSR, AT_SYMLINK_NOFOLLOW);
}

Result<void> move_aside(const Path& path, const Path& displaced) {
    if (::rename(path.c_str(), displaced.c_str()) == 0) return {};
    Error error = io_error("moving " + path.string() + " aside", errno);
    if (errno == ENOENT) error.code = ErrorCode::not_found;
    return error;
}

Result<void> make_durable(const Path& path) {
    TRY(sync_at(path, O_NONBLOCK, path));
    return sync_at(path.parent_path(), O_DIRECTORY, path);
}

}  // namespace orange::files
