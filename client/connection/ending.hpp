#pragma once

#include "common/base/result.hpp"
#include "common/config/paths.hpp"

namespace orange::connection {

enum class Ended {
    none_ran,
    by_itself,
    by_force,  ///< whoever supervises it takes that for a crash, and starts the next one
};

/// Asks the daemon to end, and returns when its process has ended: the next one finds the home free. One that is just
/// starting is waited for and ended, one that is ending already is waited for.
Result<Ended> end_daemon(const Paths& paths);

/// The same, but kills a daemon that does not answer, or does not end in time. Only a process that is an oranged.
Result<Ended> end_daemon_by_force(const Paths& paths);

}  // namespace orange::connection
