#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/output/terminal.hpp"

namespace orange::output {

struct Column {
    std::string title;
    /// How far it may be shrunk when the table is wider than the terminal; 0: never.
    std::size_t least = 0;
    /// The column with the highest number is left out first if the table is too wide all the same; 0: never.
    int leaves = 0;
};

/// Its text is made printable by the table: it may come from an agent.
using Cell = Span;

/// Rows under titles, columns two blanks apart, no line longer than the style's row. The widest shrinkable column is
/// shrunk first, and its cells end in "…". If that is not enough, columns are left out.
class Table {
  public:
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

    void row(std::vector<Cell> cells);
    /// A line below the last row, across all columns, wrapped.
    void remark(const std::string& text, Look look);
    bool empty() const { return rows_.empty(); }

    std::string render(const Style& style) const;

  private:
    struct Row {
        std::vector<Cell> cells;
        std::vector<Cell> remarks;
    };
    std::vector<std::size_t> widths(std::size_t available) const;
    /// The place of the column that is left out next, of those that have a width; nothing if none may be.
    std::optional<std::size_t> next_to_leave(const std::vector<std::size_t>& widths) const;

    std::vector<Column> columns_;
    std::vector<Row> rows_;
};

}  // namespace orange::output
