#pragma once

#include <span>
#include <string>

#include "client/output/cells.hpp"
#include "client/output/row.hpp"

/// What a list says of each task: the command line prints these cells as a table, the dashboard as rows. Pure.
namespace orange::output {

/// ● an agent runs, ✗ the one that is needed has died, ? nobody knows, ○ none.
Span mark_of(const Row& task);
/// "reviewing 3/5 #2"
std::string status_of(const Row& task);
/// "● working", "✗ working (dead)", with the look of the mark.
Span marked(const Row& task, const std::string& status);
Look look_of(Need need);
/// Empty if the task needs nothing.
Span need_of(const Row& task);
/// Returns what a list, a page and a row of the dashboard say of an age: "42s", "5m". It is empty for a task that
/// cannot be read, which has no time.
std::string age_of(Timestamp time, Timestamp now);

/// A column that stands only where a task has something to say in it.
struct ListColumn {
    const char* title;
    const char* sign;  ///< stands before the text where there is no title
    std::size_t most;  ///< columns that it takes
    bool fixed;        ///< it takes them all, because ages change its texts while the list stays
    Line (*cell)(const Row& task, const rpc::ChangeCounts* changes, Timestamp now);
};
/// The most important one first.
std::span<const ListColumn> list_columns();

}  // namespace orange::output
