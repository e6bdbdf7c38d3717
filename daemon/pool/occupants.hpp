#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "daemon/async/awaitable.hpp"
#include "daemon/files/file_system.hpp"

namespace orange {

/// A process that works in a directory.
struct Occupant {
    std::int64_t pid = 0;
    std::string name;
};

/// Returns the processes whose working directory is in `directory` and that may write there. Excludes the shell of a
/// terminal (the first process of its session), which merely waits, and the orange client.
std::vector<Occupant> workers_in(const Path& directory);

/// Fails with conflict, naming the process, if one still works in the worktree: it would write into the next task's
/// files. Waits up to two seconds for processes that have just been told to end.
Awaitable<Result<void>> check_nobody_works_in(Path worktree);

}  // namespace orange
