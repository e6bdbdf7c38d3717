#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// What differs between the systems in finding leftovers. Private to this folder.
namespace orange::process {

/// Who may have been started by this process: with subreapers its descendants, else everybody but itself.
std::vector<std::int64_t> kin_of_this_process();

/// Whether one of them that works in the worktree is the run's, and no shell of a human's.
bool is_surely_of(std::int64_t pid, const std::string& run);

}  // namespace orange::process
