#pragma once

#include <signal.h>

#include <chrono>
#include <optional>

/// System calls that one platform has and the other has to do without. errno says why one failed.
namespace orange::system {

/// A pipe, both ends CLOEXEC; 0, or -1.
int make_pipe(int ends[2]);

/// A Unix stream socket, CLOEXEC and non-blocking, whose writes raise no SIGPIPE where send() cannot be told so.
int local_socket();

/// Flags for send(): no SIGPIPE, where there is such a flag.
int send_flags();

/// One of `signals`, which the caller has blocked; -1 when the time is over (never, where there is none) or a wait was
/// interrupted.
int wait_for_signal(const sigset_t& signals, std::optional<std::chrono::nanoseconds> time);

/// How long the machine has run, the time included in which it slept; nothing if it cannot be found out.
std::optional<std::chrono::seconds> uptime();

/// Orphans among this process's descendants become its children, where the kernel has that.
void adopt_orphans();

}  // namespace orange::system
