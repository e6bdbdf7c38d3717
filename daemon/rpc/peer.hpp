#pragma once

#include <optional>

#include "daemon/rpc/server.hpp"

namespace orange::rpc {

/// Returns the process at the other end of a socket, with its start time, by the kernel's records; nothing if they
/// cannot be read.
std::optional<Peer> peer_of(int descriptor);

}  // namespace orange::rpc
