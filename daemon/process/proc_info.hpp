#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"

/// Facts about other processes, as a snapshot from the kernel. A function returns nothing if the process does not exist
/// or this user may not examine it. A zombie has a parent but no start time: for Orange it has ended.
namespace orange::process {

/// The relatives of a process: parent, session, terminal.
struct Relatives {
    std::int64_t parent = 0;
    std::int64_t session = 0;
    std::int64_t start_time = 0;  ///< see start_time()
    std::int64_t tty = 0;         ///< see tty_of(); 0: none
};
/// Returns all these facts from one read; nothing for a zombie.
std::optional<Relatives> relatives_of(std::int64_t pid);
std::optional<std::int64_t> parent_of(std::int64_t pid);
std::optional<std::int64_t> group_of(std::int64_t pid);
std::optional<std::int64_t> session_of(std::int64_t pid);
/// Returns the device number of the controlling terminal; nothing if there is none.
std::optional<std::int64_t> tty_of(std::int64_t pid);
/// Returns the terminal's device file ("/dev/pts/3"); nothing if there is no controlling terminal, or its file is not
/// found.
std::optional<std::string> terminal_of(std::int64_t pid);
/// Returns true if the process is in the foreground of its terminal, like the program that draws the window, and its
/// wrapper.
bool is_in_foreground(std::int64_t pid);
/// Returns the start time in ticks of the kernel's clock. The start time tells a process from a later one with the same
/// pid.
std::optional<std::int64_t> start_time(std::int64_t pid);
std::int64_t start_ticks_per_second();
/// Returns how much later the process started than the other one; nothing if one of them has ended.
std::optional<std::chrono::milliseconds> began_after(std::int64_t pid, std::int64_t other);
/// Returns the start time, for callers that draw conclusions from the end of a process. not_found if the process has
/// ended or is a zombie; another error if it could not be examined (no descriptor, no memory).
Result<std::int64_t> look_up_start_time(std::int64_t pid);
/// Returns the kernel's short name, at most 15 characters; a process may set its own.
std::optional<std::string> name_of(std::int64_t pid);
/// Returns the path of the executable.
std::optional<std::string> exe_of(std::int64_t pid);
/// Returns the working directory; the path of a deleted one ends in " (deleted)".
std::optional<std::string> cwd_of(std::int64_t pid);
/// Returns a variable of the environment with which the process was started.
std::optional<std::string> environ_of(std::int64_t pid, const std::string& name);
std::vector<std::string> argv_of(std::int64_t pid);
/// Returns the physical memory in use.
std::optional<std::int64_t> resident_kib_of(std::int64_t pid);
/// Returns the number of threads; those of a zombie count until its parent has waited for it.
std::optional<std::int64_t> threads_of(std::int64_t pid);
/// Returns the limit of processes (RLIMIT_NPROC) to which the kernel holds the process. Nothing if there is none, or if
/// the process is root's, which the kernel does not hold to it.
std::optional<std::int64_t> processes_limit_of(std::int64_t pid);
/// Returns a name of the process's user namespace, as "user:[4026531837]".
std::optional<std::string> user_namespace_of(std::int64_t pid);
/// Returns the processor time in milliseconds, including that of ended children.
std::optional<std::int64_t> cpu_ms_of(std::int64_t pid);
/// Returns the children of the process that have not been waited for, without reading facts of other processes. Nothing
/// if this kernel does not offer it. If a child ends meanwhile, other children may be missing.
std::optional<std::vector<std::int64_t>> children_of(std::int64_t pid);
/// Returns all processes, unordered.
std::vector<std::int64_t> all_pids();

}  // namespace orange::process
