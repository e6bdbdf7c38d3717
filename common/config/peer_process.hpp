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

}  // namespace orange
