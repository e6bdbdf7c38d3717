#pragma once

#include <string_view>
#include <vector>

#include "client/dashboard/cells.hpp"

namespace orange::dashboard {

/// The rows of an agent's screen, as tmux gives them with SGR sequences: colours and attributes become looks, every
/// other sequence is dropped, and the rest is clean. A look does not outlive its row's end unless the text says so.
std::vector<Line> screen_lines(std::string_view text);

/// The nearest of the terminal's 256 colours.
short nearest_colour(int red, int green, int blue);

}  // namespace orange::dashboard
