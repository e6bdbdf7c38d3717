#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "daemon/shim/spec.hpp"

namespace orange {

/// The first word of a helper's call, before the pid that it moves into its own scope.
inline constexpr std::string_view k_join_option = "--join";

}  // namespace orange

namespace orange::shim {

/// Moves this process into a scope of its run, where the spec has words for that, and returns the folder of its control
/// group. Nothing if the user manager refuses: the agent then starts without a scope. A helper does it, which systemd
/// starts in the scope, so that this process stays what the pane has started whatever happens. The caller has blocked
/// its signals.
std::optional<std::filesystem::path> enter_scope(const RunSpec& spec);

/// The helper: moves the process `pid` into its own scope. The exit status.
int join_scope(std::string_view pid);

}  // namespace orange::shim
