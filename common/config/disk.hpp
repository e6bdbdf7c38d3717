#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/base/result.hpp"

namespace orange {

/// The file system of a folder.
struct Disk {
    std::uint64_t free_bytes = 0;  ///< available to this user
    std::uint64_t free_files = 0;  ///< free inodes; 0 if the file system has no limit, see has_inodes
    bool has_inodes = false;
    bool read_only = false;
    std::string network;  ///< "nfs", "smb" …: shared with other machines; empty: local, as far as it is known
};
/// Returns the facts of the file system that contains `folder`; io if it cannot be examined.
Result<Disk> disk_of(const std::filesystem::path& folder);

/// Returns the kind of network file system; empty for a local one. Each platform has its own implementation.
std::string network_file_system(const std::filesystem::path& folder);

}  // namespace orange
