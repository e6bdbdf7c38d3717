#pragma once

#include <sys/types.h>

#include <optional>

namespace orange {

/// A process at the other end of a Unix socket, as the kernel names it.
struct PeerProcess {
    uid_t user = 0;
    pid_t pid = 0;
};

/// Returns the process at the other end of a connected Unix socket: the one that called connect(), or, for a client,
/// listen(). Each platform has its own implementation.
std::optional<PeerProcess> peer_process(int descriptor);

/// Returns true if that process has ended, so that its pid may be reused; false if the kernel cannot tell.
bool peer_has_ended(int descriptor);

}  // namespace orange
