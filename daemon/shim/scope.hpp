#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "daemon/shim/spec.hpp"

namespace orange {

/// The option of the helper's call, followed by the pid that it moves into its own scope.
inline constexpr std::string_view k_join_option = "--join";

}  // namespace orange

namespace orange::shim {

/// Moves this process into a systemd scope of its run, if the spec has a command for that. Returns the folder of its
/// control group; nullopt without a scope, for example if the user manager refuses: the agent then starts without one.
///
/// A helper, which systemd starts inside the scope, does the move, so this process stays the one that the pane has
/// started. The caller has blocked its signals.
std::optional<std::filesystem::path> enter_scope(const RunSpec& spec);

/// Runs the helper: moves the process `pid` into the helper's own scope. Returns the exit status.
int join_scope(std::string_view pid);

}  // namespace orange::shim
