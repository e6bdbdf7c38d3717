#pragma once

#include <optional>
#include <string>
#include <utility>

#include "client/dashboard/state.hpp"
#include "common/model/fields.hpp"

namespace orange::dashboard {

/// A request from typed parameters.
template <class Method>
Request request_of(const Method& params, Purpose purpose, std::string task = {}) {
    Request request;
    request.method = Method::k_name;
    request.params = written(params);
    request.purpose = purpose;
    request.task = std::move(task);
    return request;
}

/// One that changes the task: its row shows `doing`, and `done` is the message in the end.
template <class Method>
Request action_of(Method params, const std::string& task, std::string doing, std::string done) {
    params.id = task;
    auto request = request_of(params, Purpose::act, task);
    request.doing = std::move(doing);
    request.done = std::move(done);
    return request;
}

/// A reply, or a request's parameters; nothing if it is something else.
template <class T>
std::optional<T> typed(const Json& json) {
    auto value = read_as<T>(json, "", UnknownKeys::ignore);
    if (!value) return std::nullopt;
    return std::move(*value);
}

/// Empty: the error has no such detail.
inline std::string detail(const Error& error, const char* key) {
    const auto found = error.details.find(key);
    return found == error.details.end() ? std::string() : found->second;
}

}  // namespace orange::dashboard
