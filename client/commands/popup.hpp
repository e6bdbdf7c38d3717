#pragma once

#include <optional>
#include <string>
#include <vector>

namespace orange::commands {

/// Returns true if the caller's terminal is inside the caller's own tmux.
bool is_inside_tmux();

/// Runs `argv`, a tmux that attaches, in a popup of the caller's tmux, and waits until the popup is closed. Returns the
/// exit status; nothing if no popup was opened, because that tmux is older than 3.2 or shows a popup already.
std::optional<int> show_in_popup(const std::vector<std::string>& argv);

}  // namespace orange::commands
