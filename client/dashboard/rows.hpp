#pragma once

#include <span>

#include "client/dashboard/state.hpp"

/// Draws a task as one row, and the columns of the list.
namespace orange::dashboard {

/// Returns the widths that all rows of the list share, so that their columns are aligned.
Columns columns_for(const State& state);
Line task_row(const State& state, const Item& item, std::size_t width, Timestamp now);
/// Returns a row for each ended task, with its result.
Lines ended_rows(std::span<const Row* const> tasks, std::size_t width, Timestamp now);
Line section_row(const Item& item, bool more, std::size_t width);
/// Returns the titles of the panes; tab_at() returns the pane at a column, -1 if there is none.
Line tab_row(const State& state, std::size_t width);
/// Returns "diff", "TASK.md" …
std::string_view name_of(Pane pane);
int tab_at(const State& state, int column);

/// Returns at most `room` rows for the space below the last task: which keys to press if there is no task, and today's
/// ended tasks if nothing needs the person.
Lines lines_below(const State& state, std::size_t width, std::size_t room, Timestamp now);

}  // namespace orange::dashboard
