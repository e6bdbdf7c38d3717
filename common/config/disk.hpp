#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/base/result.hpp"

namespace orange {

/// The file system that a folder is on.
struct Disk {
    std::uint64_t free_bytes = 0;  ///< for this user
    std::uint64_t free_files = 0;  ///< inodes; also 0 where the file system has no such limit, see has_inodes
    bool has_inodes = false;
    bool read_only = false;
    std::string network;  ///< "nfs", "smb" …: shared with other machines; empty: local, as far as is known
};
Result<Disk> disk_of(const std::filesystem::path& folder);

/// The kind of network file system; empty for a local one. One implementation a platform.
std::string network_file_system(const std::filesystem::path& folder);

}  // namespace orange
