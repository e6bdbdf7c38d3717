#include "daemon/pool/occupants.hpp"

#include <algorithm>
#include <filesystem>

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

}  // namespace orange
