#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"

/// What the kernel tells of other processes. Everything is a snapshot: nothing where the process is gone or may not be
/// looked at. A zombie still has a parent, but no start time here: for Orange it has ended.
namespace orange::process {

std::optional<std::int64_t> parent_of(std::int64_t pid);
std::optional<std::int64_t> group_of(std::int64_t pid);
std::optional<std::int64_t> session_of(std::int64_t pid);
/// Device number of the controlling terminal; nothing where it has none.
std::optional<std::int64_t> tty_of(std::int64_t pid);
/// Its device file ("/dev/pts/3"); nothing if it has no controlling terminal, or one that cannot be found.
std::optional<std::string> terminal_of(std::int64_t pid);
/// True if it is in the foreground of its terminal, as a program that draws the window, and its wrapper.
bool is_in_foreground(std::int64_t pid);
/// In clock ticks since boot; tells a process from a later one with the same pid.
std::optional<std::int64_t> start_time(std::int64_t pid);
/// How much later it began than another process; nothing if one of them is gone.
std::optional<std::chrono::milliseconds> began_after(std::int64_t pid, std::int64_t other);
/// For whoever concludes something from an end: not_found where that process is gone (or a zombie), another
/// error where it could not be looked at (no descriptor is left, no memory), and nothing is known of it.
Result<std::int64_t> look_up_start_time(std::int64_t pid);
/// The kernel's short name, at most 15 characters; any process may choose its own.
std::optional<std::string> name_of(std::int64_t pid);
/// The executable's path.
std::optional<std::string> exe_of(std::int64_t pid);
/// A deleted directory's path ends in " (deleted)".
std::optional<std::string> cwd_of(std::int64_t pid);
/// A variable of the environment that the process was started with.
std::optional<std::string> environ_of(std::int64_t pid, const std::string& name);
std::vector<std::string> argv_of(std::int64_t pid);
/// Physical memory in use.
std::optional<std::int64_t> resident_kib_of(std::int64_t pid);
/// Processor time that it has used, in milliseconds, its ended children's included.
std::optional<std::int64_t> cpu_ms_of(std::int64_t pid);
/// Every process there is, in no order.
std::vector<std::int64_t> all_pids();

}  // namespace orange::process
