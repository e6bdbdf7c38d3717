#include "daemon/pool/occupants.hpp"

#include <chrono>

#include "common/base/text.hpp"
#include "daemon/async/async.hpp"
#include "daemon/process/proc_info.hpp"
#include "daemon/process/stray_processes.hpp"

namespace orange {

std::vector<Occupant> workers_in(const Path& directory) {
    std::vector<Occupant> found;
    for (const auto& [pid, started] : process::working_in(directory.string())) {
        const bool shell_of_terminal = process::session_of(pid) == pid && process::tty_of(pid);
        const auto name = process::name_of(pid).value_or("?");
        if (!shell_of_terminal && name != "orange") found.push_back({pid, name});
    }
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
