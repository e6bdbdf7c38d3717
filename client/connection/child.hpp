#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace orange::connection {

/// The descriptors that a child gets; -1 is /dev/null. The child inherits no CLOEXEC descriptor.
struct ChildOptions {
    int in = -1;
    int out = -1;
    int err = -1;
    int extra = -1;            ///< becomes the child's descriptor 3
    bool new_session = false;  ///< calls setsid, so that a Ctrl-C in the client's terminal does not reach the child
    bool without_git_environment = false;
};

/// Starts `argv` without a shell, with default signals and none blocked. A program without a slash is looked up on
/// PATH. The caller has to reap the pid.
Result<pid_t> start_child(const std::vector<std::string>& argv, const ChildOptions& options);

/// Closes all descriptors of this process but 0, 1, 2 and `kept`.
void close_others(const std::vector<int>& kept);

/// Returns an exit status as a shell shows it: of a program that a signal ended, 128 and the signal.
int exit_status(int wait_status);
/// Waits for the end of a child and returns its exit status.
int wait_for_child(pid_t child);

/// Runs `argv` to its end. Returns its exit status: 127 if it cannot be started, 128 and the signal if one ended it.
int status_of(const std::vector<std::string>& argv, const ChildOptions& options);

/// Finds a program of Orange beside the client, or else on PATH.
std::optional<std::filesystem::path> find_program(const std::string& name);

/// Runs `argv` until it has printed `limit` bytes, has closed its output, or `patience` is over. Then kills it and the
/// programs that it has started, and returns the output. Returns nothing if it cannot be started.
std::optional<std::string> output_of(const std::vector<std::string>& argv, std::size_t limit = 4096,
                                     std::chrono::milliseconds patience = std::chrono::seconds(5));

}  // namespace orange::connection
