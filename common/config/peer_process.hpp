#pragma once

#include <sys/types.h>

#include <optional>

namespace orange {

struct PeerProcess {
    uid_t user = 0;
    pid_t pid = 0;
};

/// The process at the other end of a connected Unix socket: the one that called connect(), or, seen from the client,
/// listen(). One implementation a platform.
std::optional<PeerProcess> peer_process(int descriptor);

/// That process has ended, and its pid may be another's. False, too, if the kernel cannot tell.
bool peer_has_ended(int descriptor);

}  // namespace orange
