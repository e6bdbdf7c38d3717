#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace orange::connection {

/// What a child gets in place of the client's own descriptors; -1 is /dev/null. Everything else of the client's that is
/// CLOEXEC stays out.
struct ChildOptions {
    int in = -1;
    int out = -1;
    int err = -1;
    int extra = -1;            ///< becomes descriptor 3
    bool new_session = false;  ///< setsid: a Ctrl-C in the client's terminal does not reach it
    bool without_git_environment = false;
};

/// Starts `argv` (found on PATH where it has no slash), default signals, nothing blocked. Never a
/// shell. The caller reaps the pid.
Result<pid_t> start_child(const std::vector<std::string>& argv, const ChildOptions& options);

/// A program of Orange: beside the client's own, else on PATH.
std::optional<std::filesystem::path> find_program(const std::string& name);

/// The first `limit` bytes of what `argv` prints, and then it is ended; so is one that prints nothing for `patience`.
/// Nothing if it cannot be started.
std::optional<std::string> output_of(const std::vector<std::string>& argv, std::size_t limit = 4096,
                                     std::chrono::milliseconds patience = std::chrono::seconds(5));

}  // namespace orange::connection
