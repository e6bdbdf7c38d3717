#pragma once

#include <string>
#include <vector>

#include "daemon/engine/artifacts.hpp"

namespace orange::engine {

/// Returns the paths that `## Plan` names in its lines `TOUCHING: …`, each once, sorted: words apart by blanks, commas
/// or semicolons, without quotes. An agent has written them: a path need not exist, and may be any text.
std::vector<std::string> touched_by_plan(const Artifacts& artifacts);

}  // namespace orange::engine
