#pragma once

#include <cstdint>
#include <vector>

#include "common/posix/fd.hpp"
#include "common/posix/remove.hpp"
#include "daemon/files/file_system.hpp"

namespace orange {

/// FileSystem on the real disk. Every operation opens the folder first and works relative to it, never follows a link
/// at the last component, and reads only regular files, so that a FIFO in a file's place does not block the daemon.
class PosixFileSystem final : public FileSystem {
  public:
    /// Below the folders `without_links` no link is followed at all: agents or repositories may have made the contents,
    /// and the daemon must not write or remove files elsewhere through them. These folders may be links themselves.
    explicit PosixFileSystem(const std::vector<Path>& without_links = {}, posix::Remover remover = posix::Remover())
        : remover_(std::move(remover)) {
        for (const auto& path : without_links) roots_.push_back({path, UniqueFd(), 0, 0});
    }

    /// Larger files are refused rather than read into memory.
    static constexpr std::size_t k_largest = std::size_t{256} << 20;

    Result<std::string> read(const Path& path) override;
    /// Opens `folder` once, and each file with one call from there.
    void read_each(const Path& folder, const std::vector<std::string>& names, const std::string& file,
                   const std::function<void(const std::string& name, Result<std::string> content)>& take) override;
    Result<Piece> read_before(const Path& path, std::optional<std::uintmax_t> end, std::size_t size) override;
    Result<Beneath> read_beneath(const Path& root, const Path& below, std::uintmax_t from, std::size_t size) override;
    Result<std::vector<std::string>> list_beneath(const Path& root, const Path& below, std::size_t most) override;
    Result<void> replace(const Path& path, std::string_view content,
                         Durability durability = Durability::synced) override;
    Result<void> exchange(const Path& path, std::string_view content, const Path& displaced,
                          Durability durability = Durability::synced) override;
    Result<void> append(const Path& path, std::string_view content,
                        Durability durability = Durability::synced) override;
    Result<void> move_new(const Path& from, const Path& to) override;
    Result<std::vector<std::string>> list(const Path& folder) override;
    Result<void> remove(const Path& path) override;
    Result<FileFacts> facts_of(const Path& path) override;

    /// A folder of `without_links`. The folder stays open, so that one system call opens a file below it.
    struct Root {
        Path path;
        UniqueFd opened;
        std::uint64_t device = 0, inode = 0;  ///< of the opened folder, to notice that another one has taken its place
    };

  private:
    std::vector<Root> roots_;
    posix::Remover remover_;
};

}  // namespace orange
