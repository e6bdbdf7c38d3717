#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace orange {

using Path = std::filesystem::path;

/// What a write is worth after a loss of power; a daemon that is killed loses neither.
enum class Durability {
    synced,  ///< the new content is there for sure
    atomic,  ///< the old content or the new one, each of them whole: for what the next daemon would do again
};

/// What a name on the disk stands for. A hint: by the time of the answer somebody may have changed it.
struct FileFacts {
    enum class Kind { file, folder, link, other };
    Kind kind = Kind::file;
    std::uintmax_t size = 0;
    std::chrono::sys_time<std::chrono::nanoseconds> modified{};
};

/// The disk, as far as the daemon's own files go. Everything that must survive a crash passes here; tests put a
/// FaultyFileSystem in its place. Links are not followed at the last component; new files are 0600, folders 0700.
class FileSystem {
  public:
    virtual ~FileSystem() = default;

    /// The whole file. not_found where there is none; io for everything else (a missing file is never an empty one).
    virtual Result<std::string> read(const Path& path) = 0;

    /// Where in its file a piece begins, and its bytes.
    struct Piece {
        std::uintmax_t from = 0;
        std::string bytes;
    };
    /// At most `size` bytes of a file, those before `end`, or the last ones: for a file that may be larger than anybody
    /// wants to read. Fails as read() does.
    virtual Result<Piece> read_before(const Path& path, std::optional<std::uintmax_t> end, std::size_t size) = 0;

    /// Old or new, never a mixture: a temporary file in the same folder (O_EXCL, O_NOFOLLOW), written, fsynced,
    /// renamed, the folder fsynced if it is to be `synced`. Makes missing parent folders. After an error the old
    /// content is there and nothing is left: where the folder cannot be fsynced it is put back, as far as that disk
    /// lets it.
    virtual Result<void> replace(const Path& path, std::string_view content,
                                 Durability durability = Durability::synced) = 0;

    /// Swaps `content` in and leaves what it displaced under `displaced` (same folder), for the caller to compare and
    /// remove: how the daemon writes a file that others edit. Fails with not_found where `path` does not exist.
    virtual Result<void> exchange(const Path& path, std::string_view content, const Path& displaced,
                                  Durability durability = Durability::synced) = 0;

    /// Appends and fsyncs; a short write is taken back, so that the file never ends in half a record.
    virtual Result<void> append(const Path& path, std::string_view content) = 0;

    /// Names in a folder, sorted; empty where the folder does not exist.
    virtual Result<std::vector<std::string>> list(const Path& folder) = 0;

    /// Removes a file, or a folder with all in it at once (unfinished.hpp); success if there was nothing. Only the
    /// folder's removal is sure to outlast a loss of power.
    virtual Result<void> remove(const Path& path) = 0;

    /// Of the name itself, never of a link's target; `path / "."` is the folder that a link leads to. not_found if
    /// there is none.
    virtual Result<FileFacts> facts_of(const Path& path) = 0;
};

/// Nothing at all has that name.
inline bool is_missing(FileSystem& files, const Path& path) {
    const auto facts = files.facts_of(path);
    return !facts && facts.error().code == ErrorCode::not_found;
}

/// Not a link to one: what that leads to is somebody else's.
inline bool is_folder(FileSystem& files, const Path& path) {
    const auto facts = files.facts_of(path);
    return facts && facts->kind == FileFacts::Kind::folder;
}

}  // namespace orange
