#include "common/rpc/errors.hpp"

#include <array>
#include <utility>

namespace orange::rpc {
namespace {

constexpr const char* k_unknown_method = "unknown_method";

constexpr std::array k_numbers = {
    std::pair{ErrorCode::invalid_argument, k_invalid_params},
    std::pair{ErrorCode::internal, k_internal_error},
    std::pair{ErrorCode::not_found, -32001},
    std::pair{ErrorCode::illegal_transition, -32002},
    std::pair{ErrorCode::gate_failed, -32003},
    std::pair{ErrorCode::guard_failed, -32004},
    std::pair{ErrorCode::pool_exhausted, -32005},
    std::pair{ErrorCode::conflict, -32006},
    std::pair{ErrorCode::forbidden, -32007},
    std::pair{ErrorCode::needs_force, -32008},
    std::pair{ErrorCode::external_failed, -32009},
    std::pair{ErrorCode::workflow_invalid, -32010},
    std::pair{ErrorCode::timeout, -32011},
    std::pair{ErrorCode::unavailable, -32012},
    std::pair{ErrorCode::io, -32013},
};

}  // namespace

int number_of(ErrorCode code) {
    for (const auto& [c, number] : k_numbers) {
        if (c == code) return number;
    }
    return k_internal_error;
}

ErrorCode code_from(int number) {
    for (const auto& [code, n] : k_numbers) {
        if (n == number) return code;
    }
    const bool request_is_wrong =
        number == k_parse_error || number == k_invalid_request || number == k_method_not_found;
    return request_is_wrong ? ErrorCode::invalid_argument : ErrorCode::internal;
}

Json error_json(const Error& error) {
    Json data = {{"name", name_of(error.code)}};
    for (const auto& [key, value] : error.details) data[key] = value;
    return {{"code", number_of(error.code)}, {"message", error.message}, {"data", std::move(data)}};
}

Error error_from_json(const Json& json) {
    Error error;
    if (!json.is_object()) return {ErrorCode::internal, "the daemon sent an error that is not an object"};
    const auto code = json.find("code");
    const bool has_code = code != json.end() && code->is_number_integer();
    error.code = code_from(has_code ? code->get<int>() : k_internal_error);
    if (has_code && *code == k_method_not_found) error.details[k_unknown_method] = "true";
    if (const auto message = json.find("message"); message != json.end() && message->is_string()) {
        error.message = message->get<std::string>();
    }
    if (const auto data = json.find("data"); data != json.end() && data->is_object()) {
        for (const auto& [key, value] : data->items()) {
            if (key != "name" && value.is_string()) error.details[key] = value.get<std::string>();
        }
    }
    return error;
}

bool is_unknown_method(const Error& error) {
    return error.details.contains(k_unknown_method);
}

}  // namespace orange::rpc
