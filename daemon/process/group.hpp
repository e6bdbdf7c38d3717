#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "common/model/group_use.hpp"

/// The control groups (cgroup v2) of runs: each run has a scope, which is a control group. On machines without cgroup
/// v2 the functions return nothing, or false.
namespace orange::process {

/// Returns "orange-run-<run>.scope", the unit of a run and the name of its folder.
std::string scope_of_run(std::string_view run);

/// Returns the folder in which systemd's user manager of this user keeps the scopes of runs.
std::filesystem::path groups_of_runs();

/// Returns the folder of this process's control group; nothing without cgroup v2.
std::optional<std::filesystem::path> own_group();

/// Returns the kernel's counts for the group. Nothing if there is no such group.
std::optional<GroupUse> use_of(const std::filesystem::path& group);

/// The files with what a group may have at most: bytes of memory, and processes with their threads.
inline constexpr const char* k_most_memory = "memory.max";
inline constexpr const char* k_most_processes = "pids.max";

/// Returns true if the kernel holds the group to this limit.
bool is_limited_to(const std::filesystem::path& group, std::int64_t most, const char* file = k_most_memory);

/// Returns true if a process is in the group or in a group below it.
bool has_processes(const std::filesystem::path& group);

/// Kills all processes of the group at once. False if there is no such group, or the kernel refuses.
bool kill_all(const std::filesystem::path& group);

}  // namespace orange::process
