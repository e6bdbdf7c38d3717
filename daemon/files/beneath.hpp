#pragma once

namespace orange::files {

/// Opens `path` below the folder `root` in one call and follows no link on the way (openat2 with RESOLVE_BENEATH and
/// RESOLVE_NO_SYMLINKS). Returns the descriptor, or -1 and errno; ENOSYS if the system has no such call.
int open_beneath(int root, const char* path, int flags);

}  // namespace orange::files
