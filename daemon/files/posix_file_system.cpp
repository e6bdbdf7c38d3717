#include "daemon/files/posix_file_system.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <limits>
#include <memory>

#include "common/base/try.hpp"
#include "common/posix/dir.hpp"
#include "common/posix/fd.hpp"
#include "common/posix/read.hpp"
#include "common/posix/retried.hpp"
#include "common/posix/write.hpp"
#include "daemon/files/beneath.hpp"
#include "daemon/files/exchange.hpp"
#include "daemon/files/file_facts.hpp"
#include "daemon/files/unfinished.hpp"

/// The implementation of FileSystem.
///
/// After a crash every write is either complete or has not happened. New contents go to a temporary file in the same
/// folder, which is fsynced before it takes the name; the folder is fsynced afterwards. A temporary file is called
/// `.<name>.<random>.tmp`, so that the next daemon recognizes and removes it. fsync is never repeated on a descriptor:
/// after a failure the kernel may have dropped the pages, and a second call would succeed. So the caller
/// repeats the whole operation with a new file.
///
/// Below the folders of `without_links`, a link on the way to a file is an error: system calls follow links everywhere
/// but at the last name, and agents can write there.
namespace orange {
namespace {

using posix::retried;
using Roots = std::vector<PosixFileSystem::Root>;

constexpr int k_folder_flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

Error failed(std::string_view doing, const Path& path, int error_number) {
    Error error = io_error(std::string(doing) + " " + path.string(), error_number);
    if (error_number == ENOENT) error.code = ErrorCode::not_found;
    return error;
}

Path folder_of(const Path& path) {
    return path.has_parent_path() ? path.parent_path() : Path(".");
}

/// Returns the path below the root if the texts of both begin alike; nothing otherwise, and the path may still be
/// below the root.
std::string_view text_below(const PosixFileSystem::Root& root, const Path& path) {
    const std::string_view whole = path.native(), above = root.path.native();
    const bool is_below = whole.size() > above.size() + 1 && whole.starts_with(above) && whole[above.size()] == '/';
    return is_below ? whole.substr(above.size() + 1) : std::string_view();
}

/// Returns the root that contains the path or equals it; nullptr if there is none.
PosixFileSystem::Root* root_of(const Path& path, Roots& roots) {
    for (auto& root : roots) {
        if (!text_below(root, path).empty()) return &root;
        const auto end = std::mismatch(root.path.begin(), root.path.end(), path.begin(), path.end());
        if (end.first == root.path.end()) return &root;
    }
    return nullptr;
}

/// Opens a path below the root in one call. An empty descriptor if that fails for any reason.
UniqueFd open_below(PosixFileSystem::Root& root, const Path& path, int flags) {
    struct stat facts {};
    const bool same = ::stat(root.path.c_str(), &facts) == 0 &&
                      root.device == static_cast<std::uint64_t>(facts.st_dev) &&
                      root.inode == static_cast<std::uint64_t>(facts.st_ino);
    if (!same || !root.opened) {
        root.opened = UniqueFd(retried([&] { return ::open(root.path.c_str(), k_folder_flags); }));
        if (!root.opened || ::fstat(root.opened.get(), &facts) != 0) return UniqueFd();
        root.device = static_cast<std::uint64_t>(facts.st_dev);
        root.inode = static_cast<std::uint64_t>(facts.st_ino);
    }
    std::string below(text_below(root, path));
    if (below.empty()) below = path.lexically_relative(root.path).native();
    if (below.empty() || below == ".") return UniqueFd();
    return UniqueFd(retried([&] { return files::open_beneath(root.opened.get(), below.c_str(), flags); }));
}

Result<UniqueFd> open_folder(const Path& folder, Roots& roots) {
    auto* root = root_of(folder, roots);
    if (root) {
        auto direct = open_below(*root, folder, k_folder_flags);
        if (direct) return direct;
    }
    Path at = root ? root->path : folder;
    UniqueFd opened(retried([&] { return ::open(at.c_str(), k_folder_flags); }));
    if (!opened) return failed("opening the folder", at, errno);
    if (!root) return opened;
    // Without openat2(), and to find the reason of its failure, open the folders one after the other.
    const auto parts = std::distance(root->path.begin(), root->path.end());
    for (auto name = std::next(folder.begin(), parts); name != folder.end(); ++name) {
        at /= *name;
        UniqueFd next(retried([&] { return ::openat(opened.get(), name->c_str(), k_folder_flags | O_NOFOLLOW); }));
        const int error = next ? 0 : errno;
        struct stat facts {};
        if (error != 0 && ::fstatat(opened.get(), name->c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISLNK(facts.st_mode)) {
            return {ErrorCode::io, "opening the folder " + at.string() +
                                       ": it is a link, and none is followed there; remove it, or move what it "
                                       "points to into its place"};
        }
        if (error != 0) return failed("opening the folder", at, error);
        opened = std::move(next);
    }
    return opened;
}

Result<void> sync_folder(int folder, std::string_view doing, const Path& path) {
    if (::fsync(folder) != 0) return failed(doing, path, errno);
    return {};
}

Result<void> make_folders(const Path& folder, Roots& roots) {
    if (::mkdir(folder.c_str(), 0700) == 0) {
        // The new name is a change of the parent folder. Without this sync a power failure could undo it.
        auto parent = open_folder(folder_of(folder), roots);
        Result<void> synced = parent ? sync_folder(parent->get(), "making the folder", folder) : parent.error();
        if (!synced) ::rmdir(folder.c_str());  // otherwise the next call would find the folder and take it for synced
        return synced;
    }
    if (errno == EEXIST) return {};
    if (errno != ENOENT || folder_of(folder) == folder) return failed("making the folder", folder, errno);
    TRY(make_folders(folder_of(folder), roots));
    return make_folders(folder, roots);
}

Result<UniqueFd> open_or_make_folder(const Path& folder, Roots& roots) {
    auto opened = open_folder(folder, roots);
    if (opened || opened.error().code != ErrorCode::not_found) return opened;
    TRY(make_folders(folder, roots));
    return open_folder(folder, roots);
}

Error not_regular(const Path& path) {
    return {ErrorCode::io, "reading " + path.string() + ": it is not a regular file"};
}

// O_NONBLOCK, so that opening a FIFO does not wait for a writer. The flag has no effect on a regular file.
constexpr int k_read_flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;

Result<UniqueFd> open_to_read(const Path& path, Roots& roots) {
    UniqueFd folder(AT_FDCWD);
    Path name = path;
    if (auto* root = root_of(path, roots)) {
        auto direct = open_below(*root, path, k_read_flags);
        if (direct) return direct;
        auto opened = open_folder(folder_of(path), roots);
        if (!opened) return in_context("reading " + path.string(), opened.error());
        folder = std::move(*opened);
        name = path.filename();
    }
    UniqueFd file(retried([&] { return ::openat(folder.get(), name.c_str(), k_read_flags); }));
    if (!file) return failed("reading", path, errno);
    return file;
}

/// Opens a path below `root`, which may be a link. From there on no link is followed.
Result<UniqueFd> open_under(const Path& root, const Path& below, int flags, std::string_view doing) {
    UniqueFd at(retried([&] { return ::open(root.c_str(), k_folder_flags); }));
    if (!at) return failed(doing, root, errno);
    if (below.empty()) return at;
    const auto path = root / below;
    if (!is_path_beneath(below)) return Error(ErrorCode::io, std::string(doing) + " " + path.string() + ": \"..\"");
    UniqueFd direct(retried([&] { return files::open_beneath(at.get(), below.c_str(), flags | O_NOFOLLOW); }));
    if (direct) return direct;
    if (errno == ENOENT) return failed(doing, path, ENOENT);
    // Without openat2(), and to find the reason of its failure, open the folders one after the other.
    for (auto name = below.begin(); name != below.end(); ++name) {
        const int how = std::next(name) == below.end() ? flags : k_folder_flags;
        UniqueFd next(retried([&] { return ::openat(at.get(), name->c_str(), how | O_NOFOLLOW); }));
        if (!next) return failed(doing, path, errno);
        at = std::move(next);
    }
    return at;
}

/// Reads the bytes from `from` to `to`, or fewer if another program has truncated the file meanwhile. Returns 0 or an
/// errno.
int read_range(int fd, std::uintmax_t from, std::uintmax_t to, std::string& bytes) {
    bytes.resize(static_cast<std::size_t>(to - from));
    std::size_t filled = 0;
    while (filled < bytes.size()) {
        const auto got = retried([&] {
            return ::pread(fd, bytes.data() + filled, bytes.size() - filled, static_cast<off_t>(from + filled));
        });
        if (got < 0) return errno;
        if (got == 0) break;
        filled += static_cast<std::size_t>(got);
    }
    bytes.resize(filled);
    return 0;
}

/// Returns the first `most` names in a folder, in the order of the disk.
Result<std::vector<std::string>> names_in(UniqueFd folder, const Path& path, std::size_t most) {
    const int fd = folder.release();
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(fd), &::closedir);
    if (!stream) {
        const int error = errno;
        ::close(fd);
        return failed("listing", path, error);
    }
    std::vector<std::string> names;
    errno = 0;
    while (names.size() < most) {
        const dirent* entry = ::readdir(stream.get());
        if (entry == nullptr) break;
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") names.emplace_back(name);
        errno = 0;
    }
    if (errno != 0) return failed("listing", path, errno);
    std::sort(names.begin(), names.end());
    return names;
}

Result<std::string> read_all(int fd, const Path& path) {
    std::string content;
    const int error = posix::read_at_most(fd, PosixFileSystem::k_largest, content);
    if (error == 0) return content;
    if (error == EINVAL) return not_regular(path);
    if (error != EFBIG) return failed("reading", path, error);
    return {ErrorCode::io, "reading " + path.string() + ": it is larger than " +
                               std::to_string(PosixFileSystem::k_largest >> 20) + " MiB"};
}

int replace_in(int folder, const std::string& name, std::string_view content, posix::Sync sync = posix::Sync::yes) {
    return posix::replace_at(folder, name, files::unfinished_name(name), content, 0600, sync);
}

/// Keeps the old file open while a new one takes its name. If the write then fails, the old content is put back, so
/// that the next daemon does not find a change that was reported as failed.
class Previous {
  public:
    Previous(int folder, const Path& path)
        : folder_(folder),
          path_(path),
          file_(retried([&] {
              return ::openat(folder, path.filename().c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
          })),
          missing_(!file_ && errno == ENOENT) {}

    /// Restores the old content, as far as a disk that has just failed allows it.
    void put_back() const {
        if (missing_) ::unlinkat(folder_, path_.filename().c_str(), 0);
        if (!file_) return;
        const auto content = read_all(file_.get(), path_);
        if (content) (void)replace_in(folder_, path_.filename().string(), *content);
    }

  private:
    int folder_;
    const Path& path_;
    UniqueFd file_;
    bool missing_;
};

}  // namespace

Result<std::string> PosixFileSystem::read(const Path& path) {
    TRY(const auto file, open_to_read(path, roots_));
    return read_all(file.get(), path);
}

void PosixFileSystem::read_each(const Path& folder, const std::vector<std::string>& names, const std::string& file,
                                const std::function<void(const std::string& name, Result<std::string> content)>& take) {
    const auto opened = root_of(folder, roots_) ? open_folder(folder, roots_) : Result<UniqueFd>(Error());
    for (const auto& name : names) {
        const auto below = name + "/" + file;
        const UniqueFd direct(
            opened ? retried([&] { return files::open_beneath(opened->get(), below.c_str(), k_read_flags); }) : -1);
        auto content = direct ? read_all(direct.get(), folder) : Result<std::string>(Error());
        if (!content) content = read(folder / below);  // finds out what is wrong
        take(name, std::move(content));
    }
}

Result<FileSystem::Piece> PosixFileSystem::read_before(const Path& path, std::optional<std::uintmax_t> end,
                                                       std::size_t size) {
    TRY(const auto file, open_to_read(path, roots_));
    struct stat facts {};
    if (::fstat(file.get(), &facts) != 0) return failed("reading", path, errno);
    if (!S_ISREG(facts.st_mode)) return not_regular(path);
    const auto there = static_cast<std::uintmax_t>(facts.st_size);
    const auto to = std::min(end.value_or(there), there);
    Piece piece{to > size ? to - size : 0, {}};
    if (const int error = read_range(file.get(), piece.from, to, piece.bytes)) return failed("reading", path, error);
    return piece;
}

Result<FileSystem::Beneath> PosixFileSystem::read_beneath(const Path& root, const Path& below, std::uintmax_t from,
                                                          std::size_t size) {
    const auto path = root / below;
    TRY(const auto file, open_under(root, below, k_read_flags, "reading"));
    struct stat facts {};
    if (::fstat(file.get(), &facts) != 0) return failed("reading", path, errno);
    if (!S_ISREG(facts.st_mode)) return not_regular(path);
    Beneath found;
    found.device = static_cast<std::uint64_t>(facts.st_dev);
    found.inode = static_cast<std::uint64_t>(facts.st_ino);
    found.size = static_cast<std::uintmax_t>(facts.st_size);
    found.modified = files::modified_in(facts);
    const auto to = found.size - std::min(from, found.size) > size ? from + size : found.size;
    if (from >= to) return found;
    if (const int error = read_range(file.get(), from, to, found.bytes)) return failed("reading", path, error);
    return found;
}

Result<std::vector<std::string>> PosixFileSystem::list_beneath(const Path& root, const Path& below, std::size_t most) {
    auto opened = open_under(root, below, k_folder_flags | O_NONBLOCK, "listing");
    if (opened) return names_in(std::move(*opened), root / below, most);
    if (opened.error().code == ErrorCode::not_found) return std::vector<std::string>{};
    return opened.error();
}

Result<void> PosixFileSystem::replace(const Path& path, std::string_view content, Durability durability) {
    auto folder = open_or_make_folder(folder_of(path), roots_);
    if (!folder) return in_context("writing " + path.string(), folder.error());
    const Previous previous(folder->get(), path);
    const auto sync = durability == Durability::unsynced ? posix::Sync::no : posix::Sync::yes;
    if (const int error = replace_in(folder->get(), path.filename().string(), content, sync)) {
        return failed("writing", path, error);
    }
    if (durability != Durability::synced) return {};
    auto synced = sync_folder(folder->get(), "writing", path);
    if (!synced) previous.put_back();
    return synced;
}

Result<void> PosixFileSystem::exchange(const Path& path, std::string_view content, const Path& displaced,
                                       Durability durability) {
    auto folder = open_folder(folder_of(path), roots_);
    if (!folder) return in_context("writing " + path.string(), folder.error());
    const auto name = path.filename().string();
    const auto other = displaced.filename().string();
    // The file is complete before it gets the displaced name, so that a file of that name which a killed daemon left is
    // whole.
    const auto temporary = files::unfinished_name(name);
    if (const int error = posix::replace_at(folder->get(), other, temporary, content)) {
        return failed("writing", path, error);
    }
    if (retried([&] { return files::exchange_names(folder->get(), name.c_str(), other.c_str()); }) != 0) {
        const int error = errno;
        ::unlinkat(folder->get(), other.c_str(), 0);
        return failed("writing", path, error);
    }
    return durability == Durability::atomic ? Result<void>{} : sync_folder(folder->get(), "writing", path);
}

Result<void> PosixFileSystem::append(const Path& path, std::string_view content, Durability durability) {
    auto folder = open_or_make_folder(folder_of(path), roots_);
    if (!folder) return in_context("appending to " + path.string(), folder.error());
    const auto name = path.filename().string();
    constexpr int k_flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
    UniqueFd file(retried([&] { return ::openat(folder->get(), name.c_str(), k_flags, 0600); }));
    if (!file) return failed("appending to", path, errno);
    struct stat before {};
    if (::fstat(file.get(), &before) != 0) return failed("appending to", path, errno);
    if (!S_ISREG(before.st_mode) || before.st_nlink != 1) {
        return {ErrorCode::io, "appending to " + path.string() + ": it is not a regular file with one name"};
    }
    int error = posix::write_all(file.get(), content);
    const bool syncs = durability == Durability::synced;
    if (error == 0 && syncs && ::fsync(file.get()) != 0) error = errno;
    if (error == 0 && syncs && before.st_size == 0 && ::fsync(folder->get()) != 0)
        error = errno;  // the file may be new
    if (error != 0) {
        while (::ftruncate(file.get(), before.st_size) != 0 && errno == EINTR) continue;
        return failed("appending to", path, error);
    }
    return {};
}

Result<void> PosixFileSystem::move_new(const Path& from, const Path& to) {
    TRY(const auto file, open_to_read(from, roots_));
    struct stat facts {};
    if (::fstat(file.get(), &facts) != 0) return failed("moving", from, errno);
    if (!S_ISREG(facts.st_mode)) return not_regular(from);
    if (::fsync(file.get()) != 0) return failed("moving", from, errno);
    auto source = open_folder(folder_of(from), roots_);
    if (!source) return in_context("moving " + from.string(), source.error());
    auto folder = open_or_make_folder(folder_of(to), roots_);
    if (!folder) return in_context("writing " + to.string(), folder.error());
    const auto old_name = from.filename().string(), name = to.filename().string();
    int error = ::linkat(source->get(), old_name.c_str(), folder->get(), name.c_str(), 0) == 0 ? 0 : errno;
    if (error != 0 && error != EEXIST) {  // another file system, or one whose files have one name only
        TRY(const auto content, read_all(file.get(), from));
        error = posix::write_new(folder->get(), name, content);
    }
    if (error == EEXIST) return name_is_taken(to);
    if (error != 0) return failed("writing", to, error);
    if (auto synced = sync_folder(folder->get(), "writing", to); !synced) {
        ::unlinkat(folder->get(), name.c_str(), 0);
        return synced;
    }
    if (::unlinkat(source->get(), old_name.c_str(), 0) == 0) return {};
    error = errno;
    ::unlinkat(folder->get(), name.c_str(), 0);
    return failed("removing", from, error);
}

Result<std::vector<std::string>> PosixFileSystem::list(const Path& folder) {
    auto opened = open_folder(folder, roots_);
    if (!opened) {
        if (opened.error().code == ErrorCode::not_found) return std::vector<std::string>{};
        return in_context("listing " + folder.string(), opened.error());
    }
    return names_in(std::move(*opened), folder, std::numeric_limits<std::size_t>::max());
}

Result<void> PosixFileSystem::remove(const Path& path) {
    auto folder = open_folder(folder_of(path), roots_);
    if (!folder && folder.error().code == ErrorCode::not_found) return {};
    if (!folder) return in_context("removing " + path.string(), folder.error());
    const auto name = path.filename().string();
    const bool is_folder = posix::is_folder_at(folder->get(), name);
    TRY(remover_.remove(folder->get(), name, path));
    // A task whose removal was confirmed must not reappear after a power failure.
    return is_folder ? sync_folder(folder->get(), "removing", path) : Result<void>{};
}

Result<FileFacts> PosixFileSystem::facts_of(const Path& path) {
    return files::facts_of(path);
}

}  // namespace orange
