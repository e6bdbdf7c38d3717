#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/agents/harness.hpp"

namespace orange::agents {

/// A text that a definition names, and the place where it was found.
struct LookedFor {
    std::string key;       ///< "screen.waiting"
    std::string text;      ///< as in the definition
    std::string line;      ///< the line that has it; empty: it was not found
    bool decides = false;  ///< the reading follows from it
};

/// Returns every text that the definition looks for in a screen and a title, in the order in which they count, and
/// marks those that decide the reading. `reading` is the result of these sources and others, such as a state file.
/// `styled` and `cursor` are those of prompt_on(), if they are known.
std::vector<LookedFor> looked_for(const Harness& harness, std::string_view screen, std::string_view title,
                                  const Reading& reading, std::string_view styled = {},
                                  std::optional<std::size_t> cursor = std::nullopt);

}  // namespace orange::agents
