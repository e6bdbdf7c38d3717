#pragma once

#include "daemon/files/file_system.hpp"

namespace orange {

/// The real disk. Every operation opens its folder first and works relative to it, never follows a link at the last
/// component, and reads regular files only (a FIFO planted in a file's place does not hang the daemon).
class PosixFileSystem final : public FileSystem {
  public:
    /// A file beyond this is refused rather than read into memory.
    static constexpr std::size_t k_largest = std::size_t{256} << 20;

    Result<std::string> read(const Path& path) override;
    Result<void> replace(const Path& path, std::string_view content) override;
    Result<void> exchange(const Path& path, std::string_view content, const Path& displaced) override;
    Result<void> append(const Path& path, std::string_view content) override;
    Result<std::vector<std::string>> list(const Path& folder) override;
    Result<void> remove(const Path& path) override;
};

}  // namespace orange
