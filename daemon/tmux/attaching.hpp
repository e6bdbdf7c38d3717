#pragma once

#include <string>
#include <vector>

#include "common/config/detach_key.hpp"

/// Configures the tmux server for people who attach: its options, its status line, and the key that detaches.
namespace orange::tmux {

/// The mark of sessions that Orange opens. The detach key works in such a session; in a person's own session on the
/// same server, the program gets the key.
inline constexpr const char* k_session_mark = "@orange";

/// The server's option with the bound key, for a later daemon with another key.
inline constexpr const char* k_bound_key = "@orange_detach_key";

/// Returns commands for a new server, each with ";" behind it. The commands run once, so that people can change the
/// options.
std::vector<std::string> comfort(const DetachKey& key);

/// Returns commands that bind `key` instead of `before` (tmux's name; may be empty).
std::vector<std::string> rebinding(const std::string& before, const DetachKey& key);

}  // namespace orange::tmux
