#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace orange::connection {

/// Asks `look` until it returns something, with `pause` between; what it said last once the time is over.
template <class Look>
auto wait_until(std::chrono::steady_clock::time_point until, std::chrono::milliseconds pause, Look look) {
    for (;;) {
        auto found = look();
        const auto now = std::chrono::steady_clock::now();
        if (found || now >= until) return found;
        std::this_thread::sleep_for(std::min<std::chrono::steady_clock::duration>(pause, until - now));
    }
}

}  // namespace orange::connection
