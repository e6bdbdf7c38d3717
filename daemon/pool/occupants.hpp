#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "daemon/async/awaitable.hpp"
#include "daemon/files/file_system.hpp"

namespace orange {

struct Occupant {
    std::int64_t pid = 0;
    std::string name;
};

/// Processes with their working directory in `directory` that may be writing there: not the shell of a terminal (the
/// first of its session), which merely waits, nor the client that asks for it.
std::vector<Occupant> workers_in(const Path& directory);

/// Whoever still works in a worktree would write into the next task's: conflict, with the process. What has just been
/// ended gets two seconds for it.
Awaitable<Result<void>> check_nobody_works_in(Path worktree);

}  // namespace orange
