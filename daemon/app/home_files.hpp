#pragma once

#include "daemon/app/home.hpp"
#include "daemon/files/file_system.hpp"

namespace orange {

/// The disk, as long as the home is where it was locked. While it is not, every operation is refused with `io`: a file
/// that is not found there is not one that was removed, and nothing is written into a folder that nobody has locked, or
/// that would have to be made.
class HomeFiles final : public FileSystem {
  public:
    HomeFiles(FileSystem& disk, const Home& home) : disk_(disk), home_(home) {}

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

    /// Whether an operation would be refused, and why.
    Result<void> check() const;

  private:
    FileSystem& disk_;
    const Home& home_;
};

}  // namespace orange
