#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "client/dashboard/state.hpp"

namespace orange::dashboard {

/// Puts comments and remarks below the lines of a pane that they are about, and notes the place of each row.
class PlacedRows {
  public:
    /// `places` has the comments and remarks already. Both must live as long as this object.
    PlacedRows(Lines& lines, Places& places, std::size_t width);

    /// Makes the rows that were added since the last call one line. The comments whose last line it is follow.
    void end_line(Place place = {});
    /// Adds the comments and remarks that no line had, with the lines that they are about.
    void add_rest();

  private:
    enum class Side { now, before, section };
    using Key = std::tuple<Side, std::string, std::int64_t>;  ///< the file or section, and the last line

    void add_at(const Place& place, Side side, const std::string& name, std::int64_t line);
    void add_note(std::size_t note, const Place& place, bool is_elsewhere);
    void add_text(std::string_view text, Look look, const Place& place);
    void note_rows(Place place);

    Lines& lines_;
    Places& places_;
    std::size_t width_;
    std::multimap<Key, std::size_t> waiting_;  ///< an index into the comments, and behind their end into the remarks
    std::size_t part_ = 0;
};

/// Returns the text with blanks for tabs.
std::string without_tabs(std::string_view line);

}  // namespace orange::dashboard
