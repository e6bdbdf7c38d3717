#pragma once

#include <cstdint>

namespace orange {

/// The kernel's counters for the control group of a run, sizes in bytes. Names go to disk and over the wire.
struct GroupUse {
    std::int64_t memory = 0;
    std::int64_t memory_peak = 0;
    std::int64_t memory_limit = 0;
    std::int64_t at_limit = 0;
    std::int64_t oom_kills = 0;
    std::int64_t cpu_ms = 0;
    std::int64_t forks_refused = 0;

    void describe(auto& v) {
        v.sparse("memory", memory, "bytes in use now");
        v.sparse("memory_peak", memory_peak, "the most bytes that were in use; absent: the kernel does not count it");
        v.sparse("memory_limit", memory_limit, "bytes that it may use; absent: no limit");
        v.sparse("at_limit", at_limit, "how often it needed more than its limit, and the kernel ended a process");
        v.sparse("oom_kills", oom_kills, "how many of its processes the kernel ended because memory was used up");
        v.sparse("cpu_ms", cpu_ms, "processor time in milliseconds");
        v.sparse("forks_refused", forks_refused,
                 "how often it had as many processes as it may and could start no more");
    }
    bool operator==(const GroupUse&) const = default;
};

}  // namespace orange
