#pragma once

#include <optional>

#include "daemon/rpc/server.hpp"

namespace orange::rpc {

/// Who the kernel says is connected to that socket. One implementation a platform.
std::optional<Peer> peer_of(int descriptor);

}  // namespace orange::rpc
