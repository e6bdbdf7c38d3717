#pragma once

#include <cstdint>
#include <string>

#include "common/base/clock.hpp"

namespace orange {

/// The result of a task's checks, the last time that they ran to their end.
struct CheckRecord {
    std::string commit;
    std::string checks;
    bool passed = false;
    Timestamp at{};
    std::string failed;
    std::string why = {};
    std::string tail = {};
    std::int64_t seconds = 0;
    std::string tree = {};
    std::string merged_with = {};

    void describe(auto& v) {
        v.required("commit", commit, "what was checked");
        v.optional("checks", checks, "hash of the commands");
        v.optional("passed", passed, "all of them succeeded");
        v.optional("at", at, "when they ended");
        v.sparse("failed", failed, "the command that did not succeed; those after it were not run");
        v.sparse("why", why, "how that one ended");
        v.sparse("tail", tail, "its last lines");
        v.sparse("seconds", seconds, "how long they took");
        v.sparse("tree", tree, "what was tested, if it was not the worktree: the tree of a merge of the commit");
        v.sparse("merged_with", merged_with, "what that merge is with, as \"origin/main\"");
    }
    bool operator==(const CheckRecord&) const = default;
};

}  // namespace orange
