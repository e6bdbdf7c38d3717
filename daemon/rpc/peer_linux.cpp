#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/process/proc_info.hpp"
#include "daemon/rpc/peer.hpp"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77  // Linux 6.5; the number is the kernel's on every architecture that Debian 12 runs on
#endif

namespace orange::rpc {
namespace {

/// The process that connected has ended; false, too, where the kernel cannot tell.
bool has_ended(int descriptor) {
    int pidfd = -1;
    socklen_t size = sizeof pidfd;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size) != 0) return errno == ESRCH;
    pollfd ended{pidfd, POLLIN, 0};
    const bool is_over = ::poll(&ended, 1, 0) == 1;
    ::close(pidfd);
    return is_over;
}

}  // namespace

std::optional<Peer> peer_of(int descriptor) {
    ucred credentials{};
    socklen_t size = sizeof credentials;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return std::nullopt;
    Peer peer{credentials.pid, credentials.uid};
    // In this order: a process that lives after its start time was read is the one that it was read of.
    peer.start_time = process::start_time(peer.pid).value_or(k_gone);
    if (has_ended(descriptor)) peer.start_time = k_gone;
    return peer;
}

}  // namespace orange::rpc
