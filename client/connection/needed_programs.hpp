#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace orange::connection {

/// Returns the version that `argv` prints, for example {"git", "--version"}. The error is a sentence for people: the
/// program is missing, with the command that installs it, or is older than `oldest`.
Result<std::string> version_of(const std::vector<std::string>& argv, std::string_view oldest);

/// Fails with that sentence if git or tmux cannot work with Orange. A daemon would start with them, and show what they
/// say about options that they do not know.
Result<void> check_programs();

}  // namespace orange::connection
