#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/output/terminal.hpp"

namespace orange::output {

/// A column of a table for people: its title, and how it gives way on a narrow terminal.
struct Column {
    std::string title;
    /// The minimum width to which the column shrinks if the table is too wide; 0: it does not shrink.
    std::size_t least = 0;
    /// If the table is still too wide, the column with the highest number is omitted first; 0: never omitted.
    int leaves = 0;
};

/// A cell. The table makes its text printable, because it may come from an agent.
using Cell = Span;

/// Rows under titles, with two blanks between columns and no line longer than the style's row. The widest shrinkable
/// column is shrunk first, and its cells end in "…". If that is not enough, columns are omitted.
class Table {
  public:
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

    void row(std::vector<Cell> cells);
    /// Adds a line below the last row, across all columns, wrapped.
    void remark(const std::string& text, Look look);
    bool empty() const { return rows_.empty(); }

    std::string render(const Style& style) const;

    /// The titles and widths of a table, for its next part.
    struct Shape {
        std::vector<std::string> titles;
        std::vector<std::size_t> widths;
    };
    /// Renders the next part of a table with that shape: without titles if they are the same, and no column gets
    /// narrower. Sets `shape` to the shape of this part.
    std::string render(const Style& style, Shape& shape) const;

  private:
    struct Row {
        std::vector<Cell> cells;
        std::vector<Cell> remarks;
    };
    std::vector<std::size_t> widths(std::size_t available, const std::vector<std::size_t>& before) const;
    /// Returns the visible column that is omitted next; nothing if none may be.
    std::optional<std::size_t> next_to_leave(const std::vector<std::size_t>& widths) const;

    std::vector<Column> columns_;
    std::vector<Row> rows_;
};

}  // namespace orange::output
