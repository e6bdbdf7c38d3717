#pragma once

#include <compare>
#include <functional>
#include <string>
#include <string_view>

#include "common/base/result.hpp"

namespace orange {

/// The identity of a task: 21 characters of [0-9A-Za-z] (seed 001), safe as a file name and as an argument.
struct TaskId {
    std::string value;

    auto operator<=>(const TaskId&) const = default;
    bool empty() const { return value.empty(); }
};

/// One run of one agent process: names its spec, its exit file and its log. Same alphabet as TaskId, 12 characters.
struct RunId {
    std::string value;

    auto operator<=>(const RunId&) const = default;
    bool empty() const { return value.empty(); }
};

inline constexpr std::size_t k_task_id_length = 21;
inline constexpr std::size_t k_run_id_length = 12;

/// `length` characters of [0-9A-Za-z], uniform, from the kernel's random source.
std::string random_id(std::size_t length);

/// "0b1c…-…": a random UUID (version 4), for programs that want one.
std::string random_uuid();

/// True for a whole task id. People may name a task in other ways (TaskStore::resolve).
bool is_task_id(std::string_view text);

/// Project names become parts of paths and of tmux session names: [a-z0-9][a-z0-9_-]*, no "--", at most 40 characters.
Result<void> check_project_name(std::string_view name);

/// The nearest valid project name to a folder's name ("My Shop.git" → "my-shop"); "project" where nothing is left.
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
