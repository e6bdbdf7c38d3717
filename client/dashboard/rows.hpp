#pragma once

#include <span>

#include "client/dashboard/state.hpp"

/// One task as one row, and the list's columns.
namespace orange::dashboard {

/// What all rows of the list have to say, so that their columns stand below one another.
Columns columns_for(const State& state);
Line task_row(const State& state, const Item& item, std::size_t width, Timestamp now);
/// Returns a row for each task that has ended, with how it ended.
Lines ended_rows(std::span<const Row* const> tasks, std::size_t width, Timestamp now);
Line section_row(const Item& item, bool more, std::size_t width);
/// The titles of the panes, and which of them is at a column; -1: none.
Line tab_row(const State& state, std::size_t width);
int tab_at(int column);

/// Returns at most `room` rows for the space below the last task: what to press if there is no task, and what has ended
/// today if nothing needs the person.
Lines lines_below(const State& state, std::size_t width, std::size_t room, Timestamp now);

}  // namespace orange::dashboard
