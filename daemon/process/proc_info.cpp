#include "daemon/process/proc_info.hpp"

namespace orange::process {

std::optional<std::int64_t> start_time(std::int64_t pid) {
    const auto started = look_up_start_time(pid);
    if (!started) return std::nullopt;
    return *started;
}

std::optional<std::chrono::milliseconds> began_after(std::int64_t pid, std::int64_t other) {
    const auto mine = start_time(pid), its = start_time(other);
    if (!mine || !its) return std::nullopt;
    return std::chrono::milliseconds((*mine - *its) * 1000 / start_ticks_per_second());
}

}  // namespace orange::process
