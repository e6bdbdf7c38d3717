#include "daemon/agents/remains.hpp"

#include "daemon/process/proc_info.hpp"

namespace orange::agents {

Awaitable<std::vector<process::StrayProcess>> Remains::of_run(std::string run) {
    const auto seen = co_await seen_.get();
    const auto found = seen->find(run);
    if (found == seen->end()) co_return std::vector<process::StrayProcess>();
    co_return found->second;
}

Awaitable<Remains::ByRun> Remains::look() {
    constexpr std::size_t k_at_once = 50;
    ByRun found;
    std::size_t seen = 0;
    const auto pids = process::all_pids();
    for (const auto pid : pids) {
        if (++seen % k_at_once == 0) co_await async::yield();
        const auto run = process::environ_of(pid, "ORANGE_RUN");
        const auto started = run ? process::start_time(pid) : std::nullopt;  // zombies have ended
        if (started) found[*run].push_back({pid, *started});
    }
    co_return found;
}

}  // namespace orange::agents
