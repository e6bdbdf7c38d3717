#pragma once

#include <span>
#include <string>

#include "client/output/cells.hpp"
#include "client/output/row.hpp"

/// The cells of a task in lists: the command line prints them as a table, the dashboard as rows. Pure.
namespace orange::output {

/// Returns ● if an agent runs, ✗ if a needed one has died, ? if that is unknown, ○ if there is none.
Span mark_of(const Row& task);
/// Returns "reviewing 3/5 #2".
std::string status_of(const Row& task);
/// Returns "● working", "✗ working (dead)", with the look of the mark.
Span marked(const Row& task, const std::string& status);
Look look_of(Need need);
/// Returns the task's need; empty if it needs nothing.
Span need_of(const Row& task);
/// Returns what a list, a page and a row of the dashboard say of an age: "42s", "5m". It is empty for a task that
/// cannot be read, which has no time.
std::string age_of(Timestamp time, Timestamp now);

/// A column that is shown only if a task has a text in it.
struct ListColumn {
    const char* title;
    const char* sign;  ///< put before the text where there is no title
    std::size_t most;  ///< maximum width
    bool fixed;        ///< always has its maximum width, because ages change its texts without a new list
    Line (*cell)(const Row& task, const rpc::ChangeCounts* changes, Timestamp now);
};
/// Returns the columns, the most important one first.
std::span<const ListColumn> list_columns();

}  // namespace orange::output
