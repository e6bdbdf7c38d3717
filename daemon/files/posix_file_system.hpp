#pragma once

#include <cstdint>
#include <vector>

#include "daemon/files/descriptor.hpp"
#include "daemon/files/file_system.hpp"

namespace orange {

/// The real disk. Every operation opens its folder first and works relative to it, never follows a link at the last
/// component, and reads regular files only (a FIFO planted in a file's place does not hang the daemon).
class PosixFileSystem final : public FileSystem {
  public:
    /// Below these folders no link is followed at all: what is there may be others' making (an agent, a repository),
    /// and nothing there is to be written, or removed, anywhere else. They may be links themselves.
    explicit PosixFileSystem(const std::vector<Path>& without_links = {}) {
        for (const auto& path : without_links) roots_.push_back({path, files::Descriptor(), 0, 0});
    }

    /// A file beyond this is refused rather than read into memory.
    static constexpr std::size_t k_largest = std::size_t{256} << 20;

    Result<std::string> read(const Path& path) override;
    Result<Piece> read_before(const Path& path, std::optional<std::uintmax_t> end, std::size_t size) override;
    Result<void> replace(const Path& path, std::string_view content,
                         Durability durability = Durability::synced) override;
    Result<void> exchange(const Path& path, std::string_view content, const Path& displaced,
                          Durability durability = Durability::synced) override;
    Result<void> append(const Path& path, std::string_view content) override;
    Result<std::vector<std::string>> list(const Path& folder) override;
    Result<void> remove(const Path& path) override;
    Result<FileFacts> facts_of(const Path& path) override;

    /// A folder below which no link is followed. It stays open, so that one call opens a file below it.
    struct Root {
        Path path;
        files::Descriptor opened;
        std::uint64_t device = 0, inode = 0;  ///< they identify the opened folder
    };

  private:
    std::vector<Root> roots_;
};

}  // namespace orange
