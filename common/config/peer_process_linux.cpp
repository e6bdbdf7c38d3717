#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "common/config/peer_process.hpp"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77  // Linux 6.5; the number is the kernel's on every architecture that Debian 12 runs on
#endif

namespace orange {

std::optional<PeerProcess> peer_process(int descriptor) {
    ucred credentials{};
    socklen_t size = sizeof credentials;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return std::nullopt;
    return PeerProcess{credentials.uid, credentials.pid};
}

bool peer_has_ended(int descriptor) {
    int pidfd = -1;
    socklen_t size = sizeof pidfd;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size) != 0) return errno == ESRCH;
    pollfd ended{pidfd, POLLIN, 0};
    const bool is_over = ::poll(&ended, 1, 0) == 1;
    ::close(pidfd);
    return is_over;
}

}  // namespace orange
