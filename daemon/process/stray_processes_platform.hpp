#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// The parts of finding stray processes that differ between systems. Private to this folder.
namespace orange::process {

/// Returns the processes that this process may have started: with subreapers its descendants, otherwise all but itself.
std::vector<std::int64_t> kin_of_this_process();

/// Returns true if a process that works in the worktree belongs to the run, and is not, for example, a human's shell.
bool is_surely_of(std::int64_t pid, const std::string& run);

}  // namespace orange::process
