// Compiled by scripts/check-macos, but never run.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/config/peer_process.hpp"

namespace orange {

std::optional<PeerProcess> peer_process(int descriptor) {
    PeerProcess peer;
    gid_t group = 0;
    if (::getpeereid(descriptor, &peer.user, &group) != 0) return std::nullopt;
    socklen_t size = sizeof peer.pid;
    if (::getsockopt(descriptor, SOL_LOCAL, LOCAL_PEERPID, &peer.pid, &size) != 0) return std::nullopt;
    return peer;
}

bool peer_has_ended(int) {
    return false;
}

}  // namespace orange
