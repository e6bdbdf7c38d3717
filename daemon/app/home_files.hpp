#pragma once

#include "daemon/app/home.hpp"
#include "daemon/files/file_system.hpp"

namespace orange {

/// The disk, as long as the home is where it was locked. While it is not, every write is refused with `io`, and so is
/// every question that finds nothing: a file that is not found there is not one that was removed, and nothing is
/// written into a folder that no daemon has locked, or that would have to be made.
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

    /// An Error says why operations are refused.
    Result<void> check() const;

  private:
    template <class T>
    Result<T> if_home_is_here(Result<T> found) const;

    FileSystem& disk_;
    const Home& home_;
};

}  // namespace orange
