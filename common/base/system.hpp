#pragma once

#include <signal.h>

#include <chrono>
#include <optional>
#include <string>

/// System calls that differ between platforms. A failure sets errno.
namespace orange::system {

/// Makes a pipe, both ends CLOEXEC. Returns 0, or -1.
int make_pipe(int ends[2]);

/// Makes a Unix stream socket, CLOEXEC and non-blocking. Writes to it raise no SIGPIPE, or send_flags() has the flag
/// for that.
int local_socket();

/// Returns the flags for send() that prevent SIGPIPE, if the platform has such a flag.
int send_flags();

/// Waits for one of `signals`, which the caller has blocked, and returns it. -1 if the time is over (without `time` it
/// waits for ever) or the wait was interrupted.
int wait_for_signal(const sigset_t& signals, std::optional<std::chrono::nanoseconds> time);

/// Returns how long the machine has run, including the time in which it slept; nothing if that cannot be found out.
std::optional<std::chrono::seconds> uptime();

/// A PID namespace, as a container has one of its own: a pid of one names another process, or none, in another one.
struct PidNamespace {
    std::string boot;    ///< of the kernel
    std::string number;  ///< of the namespace; the kernel may give it to another one when this one is gone

    bool operator==(const PidNamespace&) const = default;
};
/// Returns the namespace of this process; nothing on a system without them, or if it cannot be found out.
std::optional<PidNamespace> pid_namespace();

/// Makes this process the parent of orphans among its descendants (child subreaper), if the kernel supports it.
void adopt_orphans();

/// Lets everybody else go first, for the processor and for the disk. Success is not needed.
void be_idle();

}  // namespace orange::system
