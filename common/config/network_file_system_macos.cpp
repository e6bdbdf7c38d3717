// Compiled by scripts/check-macos, but never run.
#include <sys/mount.h>
#include <sys/param.h>

#include "common/config/disk.hpp"

namespace orange {

std::string network_file_system(const std::filesystem::path& folder) {
    struct statfs facts {};
    if (::statfs(folder.c_str(), &facts) != 0) return {};
    return (facts.f_flags & MNT_LOCAL) != 0 ? std::string() : std::string(facts.f_fstypename);
}

}  // namespace orange
