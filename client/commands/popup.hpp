#pragma once

#include <optional>
#include <string>
#include <vector>

namespace orange::commands {

/// The caller's terminal is in a tmux of his own.
bool is_inside_tmux();

/// Runs `argv`, a tmux that attaches, in a popup of the tmux that the caller is in, and waits until it is closed: the
/// exit status. Nothing if no popup was opened, because that tmux is older than 3.2 or already shows one.
std::optional<int> show_in_popup(const std::vector<std::string>& argv);

}  // namespace orange::commands
