#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace orange::commands {

/// Runs `git diff` with `args` in the terminal, and returns its exit status. Only the objects of `repository` are used,
/// because agents can write the repository's configuration, attributes and refs/replace. No external diff and no text
/// conversion runs; the pager is the user's own, or another one if that is not installed.
Result<int> show_changes(const std::string& repository, std::vector<std::string> args);

}  // namespace orange::commands
