#include <sys/socket.h>

#include "daemon/rpc/peer.hpp"

namespace orange::rpc {

std::optional<Peer> peer_of(int descriptor) {
    ucred credentials{};
    socklen_t size = sizeof credentials;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return std::nullopt;
    return Peer{credentials.pid, credentials.uid};
}

}  // namespace orange::rpc
