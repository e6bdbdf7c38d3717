#include "common/base/error.hpp"

#include <cstring>

namespace orange {

std::string_view name_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid_argument:
            return "invalid_argument";
        case ErrorCode::not_found:
            return "not_found";
        case ErrorCode::illegal_transition:
            return "illegal_transition";
        case ErrorCode::gate_failed:
            return "gate_failed";
        case ErrorCode::guard_failed:
            return "guard_failed";
        case ErrorCode::pool_exhausted:
            return "pool_exhausted";
        case ErrorCode::conflict:
            return "conflict";
        case ErrorCode::forbidden:
            return "forbidden";
        case ErrorCode::needs_force:
            return "needs_force";
        case ErrorCode::external_failed:
            return "external_failed";
        case ErrorCode::workflow_invalid:
            return "workflow_invalid";
        case ErrorCode::timeout:
            return "timeout";
        case ErrorCode::unavailable:
            return "unavailable";
        case ErrorCode::io:
            return "io";
        case ErrorCode::internal:
            return "internal";
    }
    return "internal";
}

Error io_error(std::string_view doing, int error_number) {
    return {ErrorCode::io, std::string(doing) + ": " + std::strerror(error_number)};
}

Error in_context(std::string_view doing, Error error) {
    error.message = std::string(doing) + ": " + error.message;
    return error;
}

}  // namespace orange
