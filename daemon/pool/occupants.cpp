#include "daemon/pool/occupants.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "common/base/text.hpp"
#include "daemon/async/async.hpp"
#include "daemon/process/proc_info.hpp"

namespace orange {

std::vector<Occupant> occupants(const Path& directory) {
    std::error_code error;
    const auto resolved = std::filesystem::weakly_canonical(directory, error);
    const auto place = error ? directory.string() : resolved.string();
    std::vector<Occupant> found;
    for (const auto pid : proc::all_pids()) {
        const auto cwd = proc::cwd_of(pid);
        if (!cwd || !(*cwd == place || cwd->starts_with(place + "/"))) continue;
        if (!proc::start_time(pid)) continue;
        found.push_back({pid, proc::name_of(pid).value_or("?")});
    }
    return found;
}

std::vector<Occupant> workers_in(const Path& directory) {
    auto found = occupants(directory);
    std::erase_if(found, [](const Occupant& process) {
        const bool shell_of_terminal = proc::session_of(process.pid) == process.pid && proc::tty_of(process.pid);
        return shell_of_terminal || process.name == "orange";
    });
    return found;
}

Awaitable<Result<void>> check_nobody_works_in(Path worktree) {
    constexpr int k_looks = 40;
    std::vector<Occupant> busy;
    for (int look = 0; look < k_looks; ++look) {
        busy = workers_in(worktree);
        if (busy.empty()) co_return Result<void>{};
        const std::chrono::milliseconds moment(50);
        co_await async::sleep(moment);
    }
    co_return Error(ErrorCode::conflict, "process " + std::to_string(busy.front().pid) + " (" +
                                             printable(busy.front().name) + ") still works in " + worktree.string() +
                                             "; end it, then run: orange workspace gc");
}

}  // namespace orange
