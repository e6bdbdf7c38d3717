#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

/// The daemon's access to the disk, and its watches of files. The store, the pool, the agents and the runner read and
/// write through the interface FileSystem: after a crash or a power failure a file has its old content or its new one.
/// Failures are Errors, and leave the old content in place.
///
/// FileWatcher reports changes of files that agents and people edit. Files that end in _linux or _macos have what
/// differs between the systems.
namespace orange {

using Path = std::filesystem::path;

/// The guarantee of a write after a power failure. A killed daemon loses nothing in either case.
enum class Durability {
    synced,    ///< the new content is on the disk
    atomic,    ///< either the old content or the new one, whole: for a write that the next daemon would repeat
    unsynced,  ///< a power failure may leave anything: for content whose reader knows its hash
};

/// Facts of a name on the disk. Facts are a hint, because another program may change it at any time.
struct FileFacts {
    enum class Kind { file, folder, link, other };
    Kind kind = Kind::file;
    std::uintmax_t size = 0;
    std::chrono::sys_time<std::chrono::nanoseconds> modified{};
};

/// Reads and writes the daemon's own files. Everything that must survive a crash is written here; tests replace it by a
/// FaultyFileSystem. Links are not followed at the last component. New files have the mode 0600, new folders 0700.
class FileSystem {
  public:
    virtual ~FileSystem() = default;

    /// Reads the whole file. not_found if there is none; io for any other failure, so that a missing file never looks
    /// empty.
    virtual Result<std::string> read(const Path& path) = 0;

    /// Reads the file of that name in each of the folders `names` below `folder`, as read() does.
    virtual void read_each(const Path& folder, const std::vector<std::string>& names, const std::string& file,
                           const std::function<void(const std::string& name, Result<std::string> content)>& take) {
        for (const auto& name : names) take(name, read(folder / name / file));
    }

    /// A piece of a file: the offset of its first byte, and its bytes.
    struct Piece {
        std::uintmax_t from = 0;
        std::string bytes;
    };
    /// Reads at most `size` bytes that end at `end`, or at the end of the file: for files that may be too large to be
    /// read whole. Errors are those of read().
    virtual Result<Piece> read_before(const Path& path, std::optional<std::uintmax_t> end, std::size_t size) = 0;

    /// A piece of a file from an offset on, and which file it is.
    struct Beneath {
        std::uint64_t device = 0, inode = 0;  ///< 0: not known
        std::uintmax_t size = 0;              ///< of the file
        std::chrono::sys_time<std::chrono::nanoseconds> modified{};
        std::string bytes;
    };
    /// Reads at most `size` bytes from the offset `from` on of a file that another program writes, in a folder in which
    /// agents can do anything. `root` is opened as usual and may be a link; from there on no link is followed, not even
    /// at the last name, and nothing outside is reached. Only a regular file is read, and nothing is waited for. With
    /// `size` 0, only the facts are returned. not_found if there is no such file; io for any other failure. This
    /// implementation is for file systems without links.
    virtual Result<Beneath> read_beneath(const Path& root, const Path& below, std::uintmax_t from, std::size_t size);

    /// Lists the names in such a folder, sorted, but no more than the first `most` that the disk returns; empty if the
    /// folder does not exist. An empty `below` is `root` itself.
    virtual Result<std::vector<std::string>> list_beneath(const Path& root, const Path& below, std::size_t most);

    /// Replaces a file atomically: writes a temporary file in the same folder (O_EXCL, O_NOFOLLOW), fsyncs it, renames
    /// it, and fsyncs the folder if the write is `synced`. Creates missing parent folders. After an error the old
    /// content is in place and no temporary file is left; if the folder cannot be fsynced, the old content is put back,
    /// as far as the disk allows it.
    virtual Result<void> replace(const Path& path, std::string_view content,
                                 Durability durability = Durability::synced) = 0;

    /// Swaps `content` with the present file, which gets the name `displaced` in the same folder, for the caller to
    /// compare and remove. The daemon writes files in this way that other programs edit. not_found if `path` does not
    /// exist.
    virtual Result<void> exchange(const Path& path, std::string_view content, const Path& displaced,
                                  Durability durability = Durability::synced) = 0;

    /// Appends; if `synced` also fsyncs, of an empty file the folder, too. After an error the file is cut to its old
    /// length if the disk allows it. A killed daemon may leave a torn end, which TaskStore repairs.
    virtual Result<void> append(const Path& path, std::string_view content,
                                Durability durability = Durability::synced) = 0;

    /// Syncs a file and gives it a name that is free, also on another file system. Creates missing parent folders.
    /// conflict, and nothing has changed, if any file, folder or link has the name. A killed daemon leaves the file at
    /// one of the two names, or at both.
    virtual Result<void> move_new(const Path& from, const Path& to) = 0;

    /// Lists the names in a folder, sorted; empty if the folder does not exist.
    virtual Result<std::vector<std::string>> list(const Path& folder) = 0;

    /// Removes a file, or a folder with its contents, in one step that takes as long for a million files as for one
    /// (common/posix/remove.hpp). Success if it does not exist. Only the removal of a folder is synced.
    virtual Result<void> remove(const Path& path) = 0;

    /// Returns the facts of the name itself, never of a link's target; with `path / "."`, of the folder that a link
    /// leads to. not_found if there is none.
    virtual Result<FileFacts> facts_of(const Path& path) = 0;
};

/// Returns true for a path that read_beneath() takes: names, without "..", "." and a slash at an end.
inline bool is_path_beneath(const Path& below) {
    const auto is_name = [](const Path& part) { return !part.empty() && part != "." && part != ".."; };
    return below.is_relative() && !below.empty() && std::all_of(below.begin(), below.end(), is_name);
}

inline Result<FileSystem::Beneath> FileSystem::read_beneath(const Path& root, const Path& below, std::uintmax_t from,
                                                            std::size_t size) {
    const auto path = root / below;
    if (!is_path_beneath(below)) return Error(ErrorCode::io, "reading " + path.string() + ": it is no path below");
    const auto facts = facts_of(path);
    if (!facts) return facts.error();
    if (facts->kind != FileFacts::Kind::file) {
        return Error(ErrorCode::io, "reading " + path.string() + ": it is not a regular file");
    }
    Beneath found{0, 0, facts->size, facts->modified, {}};
    if (size == 0 || from >= facts->size) return found;
    auto piece = read_before(path, from + size, size);
    if (!piece) return piece.error();
    if (piece->from < from) piece->bytes.erase(0, static_cast<std::size_t>(from - piece->from));
    found.bytes = std::move(piece->bytes);
    return found;
}

inline Result<std::vector<std::string>> FileSystem::list_beneath(const Path& root, const Path& below,
                                                                 std::size_t most) {
    auto names = list(below.empty() ? root : root / below);
    if (names && names->size() > most) names->resize(most);
    return names;
}

inline Error name_is_taken(const Path& path) {
    return {ErrorCode::conflict, "writing " + path.string() + ": the name is taken"};
}

/// Returns true if no file, folder or link has that name.
inline bool is_missing(FileSystem& files, const Path& path) {
    const auto facts = files.facts_of(path);
    return !facts && facts.error().code == ErrorCode::not_found;
}

/// Returns true for a folder; false for a link to one, because another user may own its target.
inline bool is_folder(FileSystem& files, const Path& path) {
    const auto facts = files.facts_of(path);
    return facts && facts->kind == FileFacts::Kind::folder;
}

}  // namespace orange
