#pragma once

#include <vector>

#include "common/posix/fd.hpp"

/// Finds out whether a program of this machine listens on a TCP port, by a connection that is closed at once.
namespace orange::process {

/// Begins connections to the port, by IPv4 and IPv6, without waiting. Returns those that were not refused.
std::vector<UniqueFd> begin_connections(int port);

/// Returns true if one of them is connected by now: a moment later, on the same machine, those that can be are.
bool is_any_connected(const std::vector<UniqueFd>& connections);

}  // namespace orange::process
