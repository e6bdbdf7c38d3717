#include <sys/socket.h>

#include "common/config/peer_user.hpp"

namespace orange {

std::optional<uid_t> peer_user(int descriptor) {
    ucred credentials{};
    socklen_t size = sizeof credentials;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return std::nullopt;
    return credentials.uid;
}

}  // namespace orange
