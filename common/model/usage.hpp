#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.hpp"
#include "common/model/role.hpp"

/// The use of agents: tokens, as their own programs report them, and time. docs/usage.md says what counts.
namespace orange {

/// Tokens of requests to a model. Each token is in one of the four numbers.
struct Tokens {
    std::int64_t requests = 0;
    std::int64_t input = 0;
    std::int64_t cache_read = 0;
    std::int64_t cache_write = 0;
    std::int64_t output = 0;

    /// The tokens that sums and budgets count: all but those that came from a cache, which cost a small part of others.
    std::int64_t counted() const { return input + cache_write + output; }
    Tokens& operator+=(const Tokens& more);
    Tokens& operator-=(const Tokens& less);

    void describe(auto& v) {
        v.optional("requests", requests, "requests to the model");
        v.optional("input", input, "tokens sent that were in no cache");
        v.optional("cache_read", cache_read, "tokens sent that came from a cache; no sum or budget counts them");
        v.optional("cache_write", cache_write, "tokens sent that were written to a cache");
        v.optional("output", output, "tokens received, with those of reasoning");
    }
    bool operator==(const Tokens&) const = default;
};

/// The tokens of the agents of one role on one day, with one program and model.
struct UsageRow {
    std::string day;
    Role role = Role::worker;
    std::string harness;
    std::string model;
    Tokens tokens;
    std::int64_t money = 0;
    std::int64_t untold = 0;
    std::int64_t doubtful = 0;

    void describe(auto& v) {
        v.required("day", day, "the day of this machine, as 2026-11-30");
        v.required("role", role, "worker or reviewer");
        v.required("harness", harness, "whose program it was");
        v.sparse("model", model, "the model that answered, as the program names it");
        v.optional("tokens", tokens, "what it used");
        v.sparse("money", money, "millionths of a dollar, where the program itself says so");
        v.sparse("untold", untold, "runs whose program told nothing: the sum is at least this");
        v.sparse("doubtful", doubtful, "runs that told more than is possible: their tokens are in no sum of others");
    }
    bool operator==(const UsageRow&) const = default;
};

/// The used part of a program's account's window, as the program says it itself.
struct UsageWindow {
    std::int64_t percent = 0;
    std::optional<Timestamp> resets = {};

    void describe(auto& v) {
        v.required("percent", percent, "used, from 0 to 100");
        v.optional("resets", resets, "when it begins again");
    }
    bool operator==(const UsageWindow&) const = default;
};

/// The use of a run so far, in its record.
struct RunUsage {
    std::vector<UsageRow> rows;
    std::vector<std::string> files;
    Timestamp read_at{};
    bool is_doubtful = false;
    bool is_told = false;
    bool is_settled = false;
    std::optional<UsageWindow> window = {};

    void describe(auto& v) {
        v.required("rows", rows, "by day and model");
        v.sparse("files", files, "its program's files that were counted");
        v.optional("read_at", read_at, "when its program's files were read last");
        v.sparse("doubtful", is_doubtful, "it grew faster than its harness says is possible");
        v.sparse("told", is_told, "its human was told of that");
        v.sparse("settled", is_settled, "the run has ended, and its sums are in those of the task");
        v.optional("window", window, "how much of its account's window is used, as its program says");
    }
    bool operator==(const RunUsage&) const = default;
};

/// A human's start of something for a task whose budget is used up: it may use a part of the budget more.
struct BudgetPass {
    std::string day;
    std::string task;
    std::int64_t task_limit = 0;
    std::int64_t task_used = 0;
    std::int64_t day_limit = 0;
    std::int64_t day_used = 0;

    void describe(auto& v) {
        v.required("day", day, "the day of the start");
        v.sparse("task", task, "whose budget was used up: the task, or one above it");
        v.sparse("task_limit", task_limit, "that budget; absent: it was not used up");
        v.sparse("task_used", task_used, "what was used of it");
        v.sparse("day_limit", day_limit, "the day's budget; absent: it was not used up");
        v.sparse("day_used", day_used, "what its project had used that day");
    }
    bool operator==(const BudgetPass&) const = default;
};

/// The seconds that a task spent on one day in one way.
struct TimeRow {
    std::string day;
    std::string what;
    std::int64_t seconds = 0;

    void describe(auto& v) {
        v.required("day", day, "the day of this machine");
        v.required("what", what,
                   "worker or reviewer: it worked; place: it waited for one; you: it waited for its human");
        v.optional("seconds", seconds, "how long");
    }
    bool operator==(const TimeRow&) const = default;
};

/// The present occupation of a task, and since when: the beginning of the next TimeRow.
struct TimeOpen {
    std::string what;
    Timestamp since{};

    void describe(auto& v) {
        v.required("what", what, "as in `times`");
        v.required("since", since, "since when");
    }
    bool operator==(const TimeOpen&) const = default;
};

/// Adds to the row of the same day, role, harness and model, or a new row.
void add(std::vector<UsageRow>& rows, const UsageRow& row);
/// Adds the time from `open.since` to `until` to the rows, a row for each day.
void add(std::vector<TimeRow>& rows, const TimeOpen& open, Timestamp until);

/// Returns the day of this machine: "2026-11-30"; with `before`, so many days earlier.
std::string day_of(Timestamp time, int before = 0);

/// Parses a number of tokens such as "3M", "1.5M", "400k" or "25000"; nothing for another text. 0: no limit.
std::optional<std::int64_t> tokens_in(std::string_view text);
/// The end of a sentence that says what tokens_in() takes.
inline constexpr std::string_view k_tokens_form = "as 3M, 1.5M or 400k; 0 means no limit";
/// The value of `budget.task_stop` and `budget.day_stop` with which a budget stops no agent.
inline constexpr std::string_view k_never = "never";

/// Returns a number of tokens for people, with at most three digits: "840", "41k", "1.2M", "12M".
std::string tokens_text(std::int64_t tokens);

}  // namespace orange
