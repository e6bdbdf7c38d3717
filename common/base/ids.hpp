#pragma once

#include <compare>
#include <functional>
#include <string>
#include <string_view>

#include "common/base/result.hpp"

namespace orange {

/// The id of a task: 21 characters of [0-9A-Za-z], safe as a file name and as an argument.
struct TaskId {
    std::string value;

    auto operator<=>(const TaskId&) const = default;
    bool empty() const { return value.empty(); }
};

/// The id of one run of an agent's process, which names its spec, exit file and log: 12 characters of the same
/// alphabet.
struct RunId {
    std::string value;

    auto operator<=>(const RunId&) const = default;
    bool empty() const { return value.empty(); }
};

inline constexpr std::size_t k_task_id_length = 21;
inline constexpr std::size_t k_run_id_length = 12;

/// Returns `length` random characters of [0-9A-Za-z], uniformly distributed, from the kernel's random source.
std::string random_id(std::size_t length);

/// Returns a random UUID (version 4), for programs that need one.
std::string random_uuid();

/// Returns true for a whole task id. People may name a task in other ways, too (TaskStore::resolve).
bool is_task_id(std::string_view text);

/// Checks a project's name: [a-z0-9][a-z0-9_-]*, no "--", at most 40 characters. The name becomes part of paths and of
/// tmux session names.
Result<void> check_project_name(std::string_view name);

/// Returns the valid project name that is closest to a folder's name ("My Shop.git" → "my-shop"); "project" if no valid
/// character is left.
std::string project_name_from(std::string_view folder);

}  // namespace orange

template <>
struct std::hash<orange::TaskId> {
    std::size_t operator()(const orange::TaskId& id) const { return std::hash<std::string>{}(id.value); }
};
template <>
struct std::hash<orange::RunId> {
    std::size_t operator()(const orange::RunId& id) const { return std::hash<std::string>{}(id.value); }
};
