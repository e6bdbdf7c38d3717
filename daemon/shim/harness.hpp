#pragma once

#include <sys/types.h>

#include <cstdint>

#include "common/base/result.hpp"
#include "daemon/shim/spec.hpp"

/// The program that a shim runs: an agent's harness, in the foreground of the pane.
namespace orange::shim {

/// Returns the path of the spec's program; not_found if the spec's PATH has none.
Result<std::string> find_harness(const RunSpec& spec);

/// Starts `program` with the spec's arguments, environment and directory: in a process group of its own, which becomes
/// the terminal's foreground group, with default signals. It is killed when the shim dies, so that no agent ever works
/// unobserved. `memory` is the number of bytes of data that each of its processes may have; 0 means any. The caller has
/// blocked its signals. Errors: not_found if the program has gone meanwhile, else io.
Result<pid_t> start_harness(const RunSpec& spec, const std::string& program, std::int64_t memory);

/// Makes `group` the foreground group of the terminal on stdin, where there is one.
void give_terminal_to(pid_t group);

/// Each platform has these. They are called between fork and exec, and return the errno that they failed with, or 0.
int end_with_shim();         ///< where the system can: the agent is killed when the shim dies
int close_others_at_exec();  ///< every descriptor but the first three
void go_first();             ///< if memory is used up, the kernel ends the agent before tmux and the daemon

}  // namespace orange::shim
