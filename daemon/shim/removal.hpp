#pragma once

#include <string_view>

namespace orange {

/// The option of the call that removes what the daemon has put aside: `orange-agent --remove PATH...`.
inline constexpr std::string_view k_remove_option = "--remove";

}  // namespace orange

namespace orange::shim {

/// Removes files, and folders with everything in them, at idle priority (posix::remove_all). Returns 0, or 1 after a
/// line on stderr for each path of which something is left.
int remove_paths(char** paths);

}  // namespace orange::shim
