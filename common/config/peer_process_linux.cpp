#include <sys/socket.h>

#include "common/config/peer_process.hpp"

namespace orange {

std::optional<PeerProcess> peer_process(int descriptor) {
    ucred credentials{};
    socklen_t size = sizeof credentials;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return std::nullopt;
    return PeerProcess{credentials.uid, credentials.pid};
}

}  // namespace orange
