#pragma once

#include "common/base/result.hpp"
#include "common/config/paths.hpp"

namespace orange::connection {

/// Asks the daemon to end, and returns when its process has ended: the next one finds the home free. One that is just
/// starting is waited for and ended, one that is ending already is waited for. False: there was none to be asked.
Result<bool> end_daemon(const Paths& paths);

}  // namespace orange::connection
