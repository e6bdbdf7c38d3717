#pragma once

#include "common/base/result.hpp"
#include "common/config/paths.hpp"

namespace orange::connection {

/// The way in which a daemon ended that this client asked to end.
enum class Ended {
    none_ran,
    by_itself,
    by_force,  ///< its supervisor treats that as a crash and starts the next daemon
};

/// Asks the daemon to end, and returns when its process has ended, so that the home is free for the next one. Waits for
/// a daemon that is starting and ends it; waits for one that is ending already.
Result<Ended> end_daemon(const Paths& paths);

/// Does the same, but kills a daemon that does not answer or does not end in time, if its process really is an oranged.
Result<Ended> end_daemon_by_force(const Paths& paths);

}  // namespace orange::connection
