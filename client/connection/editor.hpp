#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace orange::connection {

/// Returns the words of $VISUAL, $EDITOR or vi. invalid_argument if a shell would have to read them.
Result<std::vector<std::string>> editor();

}  // namespace orange::connection
