#include <sys/vfs.h>

#include "common/config/disk.hpp"

namespace orange {

std::string network_file_system(const std::filesystem::path& folder) {
    struct statfs facts {};
    if (::statfs(folder.c_str(), &facts) != 0) return {};
    switch (static_cast<std::uint32_t>(facts.f_type)) {  // numbers of linux/magic.h, which some systems do not have
        case 0x6969:
            return "nfs";
        case 0x517b:
        case 0xfe534d42:
        case 0xff534d42:
            return "smb";
        case 0x00c36400:
            return "ceph";
        case 0x01021997:
            return "9p";
        case 0x5346414f:
        case 0x6b414653:
            return "afs";
        default:
            return {};
    }
}

}  // namespace orange
