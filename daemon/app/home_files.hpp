#pragma once

#include "daemon/app/home.hpp"
#include "daemon/files/file_system.hpp"

namespace orange {

/// Passes operations to the disk as long as the home is the folder that was locked. Otherwise every write, and every
/// query that finds nothing, fails with `io`: a file that is not found there was not removed, and nothing may be
/// written into a folder that no daemon has locked, or that would have to be created.
class HomeFiles final : public FileSystem {
  public:
    HomeFiles(FileSystem& disk, const Home& home) : disk_(disk), home_(home) {}

    Result<std::string> read(const Path& path) override;
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

    /// Returns an Error, with the reason, while operations are refused.
    Result<void> check() const;

  private:
    template <class T>
    Result<T> if_home_is_here(Result<T> found) const;

    FileSystem& disk_;
    const Home& home_;
};

}  // namespace orange
