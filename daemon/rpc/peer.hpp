#pragma once

#include <optional>

#include "daemon/rpc/server.hpp"

namespace orange::rpc {

/// Who the kernel says is connected to that socket, and since when that process runs.
std::optional<Peer> peer_of(int descriptor);

}  // namespace orange::rpc
