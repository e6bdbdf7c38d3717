#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/names.hpp"

namespace orange {

/// The kinds of errors that a caller can handle differently. Each code has a JSON-RPC number (common/rpc/errors.hpp).
/// Names and numbers go over the wire, so they never change.
enum class ErrorCode {
    invalid_argument,    ///< the request is wrong; the message contains the correct form
    not_found,           ///< no such task, project, workflow, file …
    illegal_transition,  ///< the workflow has no such edge
    gate_failed,         ///< an artifact is missing in TASK.md
    guard_failed,        ///< no `when` of the edge holds
    pool_exhausted,      ///< every workspace of the project is taken
    conflict,            ///< the object exists already, or two things contradict each other (also a merge conflict)
    forbidden,           ///< the caller is not allowed to do this
    needs_force,         ///< possible after a human has confirmed it
    external_failed,     ///< a command failed; `details` has command, exit_status, stderr
    workflow_invalid,    ///< a workflow definition does not validate
    timeout,             ///< a deadline passed
    unavailable,         ///< the daemon, or something it needs, does not answer
    io,                  ///< a failure of the file system
    internal,            ///< a bug
};

/// Returns the name that goes over the wire and into logs ("gate_failed").
std::string_view name_of(ErrorCode code);

/// The reason of a failure, as a sentence on which a person or an agent can act. `message` names the operation and the
/// object; `details` is for programs (`data` of JSON-RPC).
struct Error {
    Error() = default;
    Error(ErrorCode what, std::string why, std::map<std::string, std::string> more = {})
        : code(what), message(std::move(why)), details(std::move(more)) {}

    ErrorCode code = ErrorCode::internal;
    std::string message;
    std::map<std::string, std::string> details;

    bool operator==(const Error&) const = default;
};

/// Makes an `io` error from errno: "reading tasks/x/TASK.md: No space left on device".
Error io_error(std::string_view doing, int error_number);

/// Returns the error with the operation in front of its message: "spawning the worker: <message>".
Error in_context(std::string_view doing, Error error);

}  // namespace orange
