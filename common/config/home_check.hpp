#pragma once

#include <filesystem>

#include "common/base/result.hpp"

namespace orange {

/// The folder that a socket is in is what keeps other users out, on systems that ignore a socket's mode, too: it must
/// be a folder (no link to one), ours, and closed to everybody else. `forbidden`, with what mends it, where it is not;
/// io where there is none. The daemon asks before it binds, the client before it connects.
Result<void> check_home(const std::filesystem::path& home);

/// 0700 where it does not exist, then check_home().
Result<void> make_home(const std::filesystem::path& home);

}  // namespace orange
