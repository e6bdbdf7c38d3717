#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>

#include "common/config/paths.hpp"

/// Tells from outside whether a home has a daemon. A daemon holds the home's lock from before its first change until
/// its process has ended. The daemon listens on the socket while it is up.
namespace orange {

/// Returns the process that holds the home's lock: the pid in the lock file, or 0 if that cannot be read (yet). Nothing
/// if the lock is free.
std::optional<pid_t> lock_holder(const Paths& paths);

/// Returns true if a process listens at `socket`, even if it does not answer.
bool is_listening(const std::filesystem::path& socket);

}  // namespace orange
