#pragma once

#include <optional>
#include <string>
#include <utility>

#include "client/dashboard/state.hpp"
#include "common/model/fields.hpp"

namespace orange::dashboard {

/// The row of a task shows this while a comment is made or changed.
inline constexpr const char* k_commenting = "commenting";
/// A new task has this in State::busy while its files are sent, and until it is created.
inline constexpr const char* k_creating_with_files = "sending files";

/// Makes a request from typed parameters.
template <class Method>
Request request_of(const Method& params, Purpose purpose, std::string task = {}) {
    Request request;
    request.method = Method::k_name;
    request.params = written(params);
    request.purpose = purpose;
    request.task = std::move(task);
    return request;
}

/// Makes a request that asks something about the task.
template <class Method>
Request request_about(Method params, Purpose purpose, const std::string& task) {
    params.id = task;
    return request_of(params, purpose, task);
}

/// Adds a request that a host answers.
inline void add_request(Effects& effects, Request request, std::size_t host) {
    request.host = host;
    effects.requests.push_back(std::move(request));
}

/// Makes a request that changes the task. Its row shows `doing`, and the message at the end is `done`.
template <class Method>
Request action_of(Method params, const std::string& task, std::string doing, std::string done) {
    params.id = task;
    auto request = request_of(params, Purpose::act, task);
    request.doing = std::move(doing);
    request.done = std::move(done);
    return request;
}

/// Reads a reply or a request's parameters; nothing if the JSON has another form.
template <class T>
std::optional<T> typed(const Json& json) {
    auto value = read_as<T>(json, "", UnknownKeys::ignore);
    if (!value) return std::nullopt;
    return std::move(*value);
}

/// Returns a detail of the error; empty if it has none.
inline std::string detail(const Error& error, const char* key) {
    const auto found = error.details.find(key);
    return found == error.details.end() ? std::string() : found->second;
}

}  // namespace orange::dashboard
