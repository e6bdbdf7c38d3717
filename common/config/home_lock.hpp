#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>

#include "common/config/paths.hpp"

/// Tells from outside whether a home has a daemon. A daemon holds the home's lock from before its first change until
/// its process has ended. The daemon listens on the socket while it is up.
namespace orange {

/// Returns the process that holds the home's lock: the pid in the lock file, or 0 if that cannot be read (yet) or is of
/// another PID namespace. Nothing if the lock is free.
std::optional<pid_t> lock_holder(const Paths& paths);

/// Returns true if the daemon and the agents of this home have their pids in another PID namespace of this boot, for
/// example in another container. A pid that the home has names no process, or another one, here.
bool is_of_other_namespace(const Paths& paths);

/// Returns true if a process listens at `socket`, even if it does not answer.
bool is_listening(const std::filesystem::path& socket);

}  // namespace orange
