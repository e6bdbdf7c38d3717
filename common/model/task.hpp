#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "common/base/clock.hpp"
#include "common/base/ids.hpp"

namespace orange {

/// What is known of a task: the fields of TASK.md's frontmatter (docs/files.md). Field names go to disk and over the
/// wire. A plain record: only the daemon's store writes one back.
struct Task {
    TaskId id;
    std::string project;
    std::string branch;
    /// Where a new branch begins, where that is not the default branch: a full ref, or a commit's hash. What the
    /// branch is compared with; it is merged into the default branch all the same.
    std::optional<std::string> base;
    std::string workflow = "default";
    std::string workflow_hash;  ///< content of the definition the task began with
    std::string harness;
    std::string review_harness;
    std::optional<std::string> effort;
    std::optional<std::string> review_effort;
    std::string status;  ///< a state of the workflow; only the engine moves it
    /// The numeric fields that `when` may ask for and `increment` / `set_field` may change: review_round, crash_count,
    /// and whatever a custom workflow counts. A missing one is 0.
    std::map<std::string, std::int64_t> counters;
    std::string summary;  ///< one line, may be empty
    std::optional<std::string> workspace;
    std::optional<std::string> tmux_session;
    std::optional<std::string> pr_url;
    std::optional<std::string>
        attention;  ///< a sentence for the human; cleared by the next good transition or `task ack`
    Timestamp created_at{};
    Timestamp updated_at{};
    /// Frontmatter that Orange does not know, as its YAML lines; kept and written back.
    std::string extra_frontmatter;

    std::int64_t counter(const std::string& name) const {
        const auto found = counters.find(name);
        return found == counters.end() ? 0 : found->second;
    }
    std::int64_t review_round() const { return counter("review_round"); }
    std::int64_t crash_count() const { return counter("crash_count"); }

    bool operator==(const Task&) const = default;
};

}  // namespace orange
