#include <unistd.h>

#include "common/config/peer_user.hpp"

namespace orange {

// Not tried on a machine yet.
std::optional<uid_t> peer_user(int descriptor) {
    uid_t uid = 0;
    gid_t gid = 0;
    if (::getpeereid(descriptor, &uid, &gid) != 0) return std::nullopt;
    return uid;
}

}  // namespace orange
