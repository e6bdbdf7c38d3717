#pragma once

#include <sys/types.h>

#include <optional>

namespace orange {

/// The user of the process at the other end of a connected Unix socket: of the one that called connect(), or, seen from
/// the client, listen(). One implementation a platform.
std::optional<uid_t> peer_user(int descriptor);

}  // namespace orange
