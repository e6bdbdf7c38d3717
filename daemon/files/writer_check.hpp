#pragma once

#include "daemon/files/file_system.hpp"

namespace orange {

/// Whether a process (this one included) has the file open for writing, so that its content may still change although
/// it has lost its name. Exact where the kernel gives leases (Linux, the file being ours); elsewhere a file counts as
/// open while it was modified within the last second. False where there is no such file.
bool open_elsewhere(const Path& path);

}  // namespace orange
