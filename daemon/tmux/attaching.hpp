#pragma once

#include <string>
#include <vector>

#include "common/config/detach_key.hpp"

/// What people who attach find: the options of the server, its status line, and the key that leaves.
namespace orange::tmux {

/// Set for each session that Orange opens. The key leaves such a session; in one that a person opened on the same
/// server, the program gets the key.
inline constexpr const char* k_session_mark = "@orange";

/// The server's option with the key that is bound, for a daemon that has another one.
inline constexpr const char* k_bound_key = "@orange_detach_key";

/// Commands for a server that starts, each with ";" behind it. Set once, so that people can change them.
std::vector<std::string> comfort(const DetachKey& key);

/// Commands that bind `key` instead of `before` (tmux's name, may be empty).
std::vector<std::string> rebinding(const std::string& before, const DetachKey& key);

}  // namespace orange::tmux
