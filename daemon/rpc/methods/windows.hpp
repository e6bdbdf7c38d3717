#pragma once

#include <optional>
#include <string>

#include "common/rpc/watch_methods.hpp"

namespace orange::rpc {

/// Parses the name of a saved window, "review-1-9aX….log", into window, run and role; nothing for another name.
std::optional<WindowView> window_from(const std::string& file);

}  // namespace orange::rpc
