#pragma once

#include <sys/types.h>

#include <cstdint>

#include "common/base/result.hpp"
#include "daemon/shim/spec.hpp"

/// The program that a shim runs: an agent's harness, in the foreground of the pane.
namespace orange::shim {

/// Limits that each process of an agent has; 0 means no limit.
struct ProcessLimits {
    std::int64_t data = 0;       ///< bytes of its memory
    std::int64_t processes = 0;  ///< of its user in its user namespace
    std::int64_t file = 0;       ///< bytes of a file that it writes
};

/// Returns the path of the spec's program; not_found if the spec's PATH has none.
Result<std::string> find_harness(const RunSpec& spec);

/// Starts `program` with the spec's arguments, environment and directory: in its own process group, which becomes the
/// terminal's foreground group, with default signals. Where the system can, it is killed when the shim dies, so that no
/// agent works unobserved. The caller has blocked its signals. Errors: not_found if the program no longer exists,
/// otherwise io.
Result<pid_t> start_harness(const RunSpec& spec, const std::string& program, const ProcessLimits& limits);

/// Gives this process the default signals, none of them blocked.
void reset_signals();

/// Makes `group` the foreground group of the terminal on stdin, if there is one.
void give_terminal_to(pid_t group);

/// Functions with an implementation for each system, called between fork and exec. An int is 0 or the errno of a
/// failure.
int end_with_shim(int signal);  ///< lets the system, if it can, send the agent a signal when the shim dies
int close_others_at_exec();     ///< every descriptor except the first three
/// Gives this process a keyring of its own in place of the session's, which it would share with its user's programs.
/// Called on the far side of an executor.
void leave_session_keyring();
/// Returns true if the kernel counts the processes of a limit only in this process's user namespace, which is another
/// one than `outer`, the daemon's.
bool is_counted_alone(const std::string& outer);
void go_first();  ///< if memory is used up, the kernel ends the agent before tmux and the daemon

}  // namespace orange::shim
