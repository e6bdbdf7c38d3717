#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>

#include "common/config/paths.hpp"

/// What can be seen of a home's daemon from outside. A daemon holds the home's lock from before it touches anything
/// until its process has ended; between its start and its end it listens.
namespace orange {

/// The process that holds the home's lock: the pid that it wrote there, or 0 where that cannot be read (yet). Nothing
/// where the lock is free.
std::optional<pid_t> lock_holder(const Paths& paths);

/// Somebody listens at `socket`, whether he answers or not.
bool is_listening(const std::filesystem::path& socket);

}  // namespace orange
