#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/names.hpp"

namespace orange {

/// What a caller can act on; nothing finer. Each code has one JSON-RPC number (common/rpc/errors.hpp), and both go over
/// the wire: never renamed.
enum class ErrorCode {
    invalid_argument,    ///< the request itself is wrong; the message says what would be right
    not_found,           ///< no such task, project, workflow, file …
    illegal_transition,  ///< the workflow has no such edge
    gate_failed,         ///< an artifact is missing in TASK.md
    guard_failed,        ///< no `when` of the edge holds
    pool_exhausted,      ///< every workspace of the project is taken
    conflict,            ///< it exists already, or two things contradict each other (a merge conflict too)
    forbidden,           ///< the caller may not ask for this
    needs_force,         ///< possible, but only when a human confirms
    external_failed,     ///< a command failed; `details` has command, exit_status, stderr
    workflow_invalid,    ///< a workflow definition does not validate
    timeout,             ///< a deadline passed
    unavailable,         ///< the daemon, or something it needs, does not answer
    io,                  ///< the file system said no
    internal,            ///< a bug
};

/// The name that goes over the wire and into logs ("gate_failed").
std::string_view name_of(ErrorCode code);

/// Why something did not happen, as a sentence that a person or an agent can act on. `message` names the operation and
/// the object; `details` is for programs (JSON-RPC `data`).
struct Error {
    Error() = default;
    Error(ErrorCode what, std::string why, std::map<std::string, std::string> more = {})
        : code(what), message(std::move(why)), details(std::move(more)) {}

    ErrorCode code = ErrorCode::internal;
    std::string message;
    std::map<std::string, std::string> details;

    bool operator==(const Error&) const = default;
};

/// An `io` error from errno, as "reading tasks/x/TASK.md: No space left on device".
Error io_error(std::string_view doing, int error_number);

/// The same error with what was being done put in front: "spawning the worker: <message>".
Error in_context(std::string_view doing, Error error);

}  // namespace orange
