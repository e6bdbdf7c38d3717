#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "client/dashboard/state.hpp"

namespace orange::dashboard {

/// A whole screen: `height` rows of exactly `width` columns.
struct Frame {
    std::vector<Line> rows;
    std::optional<std::pair<int, int>> cursor;  ///< row and column, where something is typed
    std::size_t tasks_drawn = 0;                ///< what a frame costs: never more than rows
    std::string title;                          ///< of the terminal
    std::size_t rings = 0;                      ///< State::rings
    bool operator==(const Frame& other) const {
        return rows == other.rows && cursor == other.cursor && title == other.title && rings == other.rings;
    }
};

/// What `state` looks like. Pure; Core::prepare() comes before it.
Frame draw(const State& state, Timestamp now);

}  // namespace orange::dashboard
