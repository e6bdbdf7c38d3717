#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/clock.hpp"
#include "common/model/role.hpp"

namespace orange {

/// The reason why an agent that a task needs has not started yet, for replies.
struct StartWait {
    Role role = Role::worker;
    std::string harness;
    std::string reason;
    std::int64_t running = 0;
    std::int64_t limit = 0;
    std::optional<Timestamp> until;
    bool for_human = false;
    std::int64_t place = 0;
    std::string text;
    std::string command = {};

    void describe(auto& v) {
        v.required("role", role, "worker or reviewer");
        v.required("harness", harness, "which agent it is");
        v.required("reason", reason,
                   "role_limit: the project's limit for the role; harness_limit: the limit for the harness; "
                   "usage_limit: the harness is at its usage limit; resume: that limit is over, and the setting "
                   "resume_after_limit holds the agent back; memory: memory is short; login: another agent of the "
                   "harness has just been started; executor: its executor has not ended the run before; budget: the "
                   "task's budget, or "
                   "that of the day, is used up; order: others "
                   "start first");
        v.sparse("running", running, "how many run that count for that limit");
        v.sparse("limit", limit, "the limit");
        v.sparse("until", until, "when the agent may start: after the usage limit, as resume_after_limit says");
        v.sparse("for_human", for_human, "it does not start by itself then: its human starts it");
        v.required("place", place, "1: it is the next of those that wait for the same");
        v.sparse("command", command, "what raises the budget that it waits for");
        v.required("text", text, "the same for people: \"waits for a reviewer (2 of 2 run)\"");
    }
    bool operator==(const StartWait&) const = default;
};

}  // namespace orange
