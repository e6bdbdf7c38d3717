#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/model/fields.hpp"
#include "common/model/usage.hpp"

/// Parameters and result of `usage.show`: tokens and time of many tasks (docs/usage.md).
namespace orange::rpc {

/// The words for `by`, in the order in which help names them.
inline constexpr const char* k_usage_groups[] = {"task", "role", "project", "harness", "model", "day"};

/// Sums of some rows.
struct UsageSum {
    Tokens tokens;
    std::int64_t counted = 0;
    std::int64_t money = 0;
    std::int64_t untold = 0;
    std::int64_t doubtful = 0;
    void describe(auto& v) {
        v.required("tokens", tokens, "by kind");
        v.required("counted", counted, "tokens that budgets count: input, cache_write and output");
        v.sparse("money", money, "millionths of a dollar, as far as programs say so");
        v.sparse("untold", untold, "runs whose program told nothing: the sum is at least this");
        v.sparse("doubtful", doubtful, "runs that told more than is possible; their tokens are not in the sum");
    }
    bool operator==(const UsageSum&) const = default;
};

/// Seconds by what a task did.
struct TimeSum {
    std::int64_t worker = 0;
    std::int64_t reviewer = 0;
    std::int64_t place = 0;
    std::int64_t you = 0;
    void describe(auto& v) {
        v.optional("worker", worker, "seconds in which it was worked on");
        v.optional("reviewer", reviewer, "seconds in which it was reviewed");
        v.optional("place", place, "seconds in which it waited for a place");
        v.optional("you", you, "seconds in which it waited for its human");
    }
    bool operator==(const TimeSum&) const = default;
};

/// The use of one task, for task.show and task.list.
struct TaskUsage {
    UsageSum sum;
    TimeSum times;
    std::int64_t family = 0;
    std::int64_t budget = 0;
    bool is_doubtful = false;
    std::vector<std::string> models;
    void describe(auto& v) {
        sum.describe(v);
        v.optional("times", times, "how long it was worked on and waited");
        v.sparse("family", family, "`counted` of it and all its sub-tasks, if it has some");
        v.sparse("budget", budget, "its budget; absent: it has none");
        v.sparse("models", models, "that answered, as programs name them");
        v.sparse("is_doubtful", is_doubtful, "an agent told more than its harness says is possible");
    }
};

struct UsageShow {
    static constexpr const char* k_name = "usage.show";
    std::optional<std::string> id;
    std::optional<std::string> cwd;
    std::optional<std::string> project;
    std::optional<std::string> by;
    std::optional<std::string> since;
    void describe(auto& v) {
        v.optional("id", id, "only this task and its sub-tasks; a task as in task.show");
        v.optional("cwd", cwd, "the caller's directory, for `id`");
        v.optional("project", project, "only this project's tasks");
        v.optional("by", by, "task, role, project, harness, model or day; absent: project, of one task: role");
        v.optional("since", since, "from this day on, as 7d, 2026-11-30 or today; absent: everything");
    }
    /// The tasks that share a value of `by`.
    struct Group {
        std::string name;
        std::string short_id;
        std::string summary;
        UsageSum sum;
        TimeSum times;
        void describe(auto& v) {
            v.required("name", name, "the value of `by`; of a task, its id");
            v.sparse("short_id", short_id, "of a task: enough of its id to name it");
            v.sparse("summary", summary, "of a task");
            sum.describe(v);
            v.optional("times", times, "how long they were worked on and waited; only by task, project and day");
        }
    };
    /// A program's window.
    struct Window {
        std::string harness;
        UsageWindow window;
        Timestamp at{};
        void describe(auto& v) {
            v.required("harness", harness, "whose program says so");
            window.describe(v);
            v.optional("at", at, "when it was read");
        }
    };
    /// The day's budget of a project.
    struct Day {
        std::string project;
        std::int64_t used = 0;
        std::int64_t budget = 0;
        void describe(auto& v) {
            v.required("project", project, "the project");
            v.required("used", used, "tokens of today that count");
            v.required("budget", budget, "the setting budget.day");
        }
    };
    struct Reply {
        std::string by;
        std::vector<Group> groups;
        UsageSum total;
        TimeSum times;
        std::vector<Window> windows;
        std::vector<Day> days;
        std::int64_t unreadable = 0;
        void describe(auto& v) {
            v.required("by", by, "what the groups share");
            v.required("groups", groups, "most tokens first; days in their order");
            v.required("total", total, "of all groups");
            v.optional("times", times, "of all groups");
            v.sparse("windows", windows, "how much of their accounts' windows programs have used");
            v.sparse("days", days, "projects with a budget for each day, and what is used of it today");
            v.sparse("unreadable", unreadable, "tasks whose state.json cannot be read: they are in no sum");
        }
    };
};

}  // namespace orange::rpc
