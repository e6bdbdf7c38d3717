#include "common/config/disk.hpp"

#include <sys/statvfs.h>

#include <cerrno>

namespace orange {

Result<Disk> disk_of(const std::filesystem::path& folder) {
    struct statvfs facts {};
    if (::statvfs(folder.c_str(), &facts) != 0) return io_error("looking at the disk of " + folder.string(), errno);
    Disk disk;
    disk.free_bytes = static_cast<std::uint64_t>(facts.f_bavail) * facts.f_frsize;
    disk.free_files = facts.f_favail;
    disk.has_inodes = facts.f_files > 0;
    disk.read_only = (facts.f_flag & ST_RDONLY) != 0;
    disk.network = network_file_system(folder);
    return disk;
}

}  // namespace orange
