#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/agents/harness.hpp"

namespace orange::agents {

/// One text that a definition names, and where it was found.
struct LookedFor {
    std::string key;       ///< "screen.waiting"
    std::string text;      ///< as in the definition
    std::string line;      ///< the line that has it; empty: it was not found
    bool decides = false;  ///< the reading follows from it
};

/// Every text that the definition looks for in a screen and a title, in the order in which they count, and which of
/// them the reading follows from. `reading` is what those sources, or others (a state file), say together.
std::vector<LookedFor> looked_for(const Harness& harness, std::string_view screen, std::string_view title,
                                  const Reading& reading);

}  // namespace orange::agents
