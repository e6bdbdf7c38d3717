#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "client/dashboard/state.hpp"

namespace orange::dashboard {

/// A whole screen: `height` rows of exactly `width` columns.
struct Frame {
    std::vector<Line> rows;
    std::optional<std::pair<int, int>> cursor;  ///< row and column of the typed text
    std::size_t tasks_drawn = 0;                ///< the cost of the frame: never more than its rows
    std::string title;                          ///< of the terminal
    std::size_t rings = 0;                      ///< State::rings
    bool operator==(const Frame& other) const {
        return rows == other.rows && cursor == other.cursor && title == other.title && rings == other.rings;
    }
};

/// Draws the state. Pure; call Core::prepare() first.
Frame draw(const State& state, Timestamp now);

}  // namespace orange::dashboard
