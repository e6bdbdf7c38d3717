#pragma once

#include <string_view>
#include <vector>

#include "client/dashboard/cells.hpp"

namespace orange::dashboard {

/// Parses the rows of an agent's screen, as tmux prints them with SGR sequences. Colours and attributes become looks,
/// all other sequences are dropped, and the text is clean. A look stays until a sequence changes it, also in the
/// following rows.
std::vector<Line> screen_lines(std::string_view text);

/// Returns the nearest of the terminal's 256 colours.
short nearest_colour(int red, int green, int blue);

}  // namespace orange::dashboard
