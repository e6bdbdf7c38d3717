#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"

/// Facts about other processes, from the kernel. Each is a snapshot. A function returns nothing if the process is gone
/// or this user may not look at it. A zombie has a parent, but no start time: for Orange it has ended.
namespace orange::process {

/// The place of a process among others.
struct Standing {
    std::int64_t parent = 0;
    std::int64_t session = 0;
    std::int64_t start_time = 0;  ///< as of start_time()
    std::int64_t tty = 0;         ///< as of tty_of(); 0: none
};
/// Returns all of it from one read. Nothing for a zombie.
std::optional<Standing> standing_of(std::int64_t pid);
std::optional<std::int64_t> parent_of(std::int64_t pid);
std::optional<std::int64_t> group_of(std::int64_t pid);
std::optional<std::int64_t> session_of(std::int64_t pid);
/// The device number of the controlling terminal; nothing if it has none.
std::optional<std::int64_t> tty_of(std::int64_t pid);
/// The terminal's device file ("/dev/pts/3"); nothing if there is no controlling terminal, or it cannot be found.
std::optional<std::string> terminal_of(std::int64_t pid);
/// True if the process is in the foreground of its terminal, like a program that draws the window, and its wrapper.
bool is_in_foreground(std::int64_t pid);
/// In ticks of the kernel's own clock; tells a process from a later one with the same pid.
std::optional<std::int64_t> start_time(std::int64_t pid);
std::int64_t start_ticks_per_second();
/// Returns how much later the process began than the other one; nothing if one of them is gone.
std::optional<std::chrono::milliseconds> began_after(std::int64_t pid, std::int64_t other);
/// For callers that conclude something from the end of a process. Fails with not_found if the process is gone or a
/// zombie, and with another error if it could not be looked at (no descriptor, no memory).
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
/// The physical memory in use.
std::optional<std::int64_t> resident_kib_of(std::int64_t pid);
/// The processor time in milliseconds, including that of its ended children.
std::optional<std::int64_t> cpu_ms_of(std::int64_t pid);
/// The processes that it has started and that have not been waited for. Reads nothing of other processes. Nothing if
/// this kernel does not tell. If one of them ends meanwhile, others may be missing.
std::optional<std::vector<std::int64_t>> children_of(std::int64_t pid);
/// All processes, in no order.
std::vector<std::int64_t> all_pids();

}  // namespace orange::process
