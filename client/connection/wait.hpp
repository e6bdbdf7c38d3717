#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace orange::connection {

/// Calls `attempt` until it returns a value or the time is over, with `pause` between two calls. Returns its last
/// result.
template <class Attempt>
auto wait_until(std::chrono::steady_clock::time_point until, std::chrono::milliseconds pause, Attempt attempt) {
    for (;;) {
        auto found = attempt();
        const auto now = std::chrono::steady_clock::now();
        if (found || now >= until) return found;
        std::this_thread::sleep_for(std::min<std::chrono::steady_clock::duration>(pause, until - now));
    }
}

}  // namespace orange::connection
