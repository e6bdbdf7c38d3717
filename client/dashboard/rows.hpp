#pragma once

#include "client/dashboard/state.hpp"

/// One task as one row, and the list's columns.
namespace orange::dashboard {

/// What all rows of the list have to say, so that their columns stand below one another.
Columns columns_for(const State& state);
Line task_row(const State& state, const Item& item, std::size_t width, Timestamp now);
Line section_row(const Item& item, bool more, std::size_t width);
/// The titles of the panes, and which of them is at a column; -1: none.
Line tab_row(const State& state, std::size_t width);
int tab_at(int column);

}  // namespace orange::dashboard
