#pragma once

#include "common/base/result.hpp"
#include "common/config/paths.hpp"
#include "daemon/files/file_system.hpp"

namespace orange {

/// Notes that the agents of this home have their pids in the PID namespace of this process. The caller holds the home's
/// lock. conflict if the agents that the home records were started in another namespace of this boot (a container) and
/// may live there: to this daemon their pids are those of other processes, so that it would take them for dead. The
/// message has the command for a namespace that is gone.
Result<void> take_pid_namespace(FileSystem& files, const Paths& paths);

}  // namespace orange
