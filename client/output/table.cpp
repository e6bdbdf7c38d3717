#include "client/output/table.hpp"

#include <algorithm>
#include <utility>

#include "common/base/text.hpp"

namespace orange::output {
namespace {

constexpr std::size_t k_gap = 2;

}  // namespace

void Table::row(std::vector<Cell> cells) {
    cells.resize(columns_.size());
    for (auto& cell : cells) cell.text = clean(cell.text);
    rows_.push_back({std::move(cells), {}});
}

void Table::remark(const std::string& text, Look look) {
    if (!rows_.empty()) rows_.back().remarks.push_back({clean(text), look});
}

std::optional<std::size_t> Table::next_to_leave(const std::vector<std::size_t>& widths) const {
    std::optional<std::size_t> found;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        if (widths[c] == 0 || columns_[c].leaves == 0) continue;
        if (!found || columns_[c].leaves > columns_[*found].leaves) found = c;
    }
    return found;
}

/// `before`: the widths of the part of the table above this one; empty if this is the first part.
std::vector<std::size_t> Table::widths(std::size_t available, const std::vector<std::size_t>& before) const {
    std::vector<std::size_t> widths;
    std::size_t total = 0, least = 0;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        std::size_t width = std::max(columns(columns_[c].title), c < before.size() ? before[c] : 0);
        for (const auto& row : rows_) width = std::max(width, columns(row.cells[c].text));
        widths.push_back(width);
        total += width + (c > 0 ? k_gap : 0);
        least += (columns_[c].least > 0 ? std::min(columns_[c].least, width) : width) + (c > 0 ? k_gap : 0);
    }
    while (least > available) {
        const auto leaving = next_to_leave(widths);
        if (!leaving) break;
        const auto& column = columns_[*leaving];
        least -= (column.least > 0 ? std::min(column.least, widths[*leaving]) : widths[*leaving]) + k_gap;
        total -= std::exchange(widths[*leaving], 0) + k_gap;
    }
    while (total > available) {
        std::size_t widest = columns_.size();
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            const bool can_shrink = columns_[c].least > 0 && widths[c] > columns_[c].least;
            if (can_shrink && (widest == columns_.size() || widths[c] > widths[widest])) widest = c;
        }
        if (widest == columns_.size()) break;
        --widths[widest];
        --total;
    }
    return widths;
}

std::string Table::render(const Style& style) const {
    Shape first;
    return render(style, first);
}

std::string Table::render(const Style& style, Shape& shape) const {
    std::vector<std::string> names;
    for (const auto& column : columns_) names.push_back(column.title);
    const bool goes_on = names == shape.titles;
    const auto width = widths(style.row, goes_on ? shape.widths : std::vector<std::size_t>());
    shape = {std::move(names), width};
    const auto line = [&](const std::vector<Cell>& cells) {
        std::string text;
        std::size_t pending = 0;  // blanks that are written only if text follows
        for (std::size_t c = 0; c < cells.size(); ++c) {
            if (width[c] == 0) continue;
            const auto shown = cut(cells[c].text, width[c]);
            const auto used = columns(shown);
            if (used > 0) text += std::string(pending, ' ') + style.paint(shown, cells[c].look);
            pending = (used > 0 ? 0 : pending) + (width[c] - used) + k_gap;
        }
        return text + "\n";
    };
    std::vector<Cell> titles;
    for (const auto& column : columns_) titles.push_back({column.title, k_dim});
    std::string out = goes_on ? std::string() : line(titles);
    for (const auto& row : rows_) {
        out += line(row.cells);
        for (const auto& remark : row.remarks) {
            const auto text = wrapped(remark.text, "          ", style.width);
            for (const auto part : split_lines(text)) {
                out += style.paint(part, remark.look) + "\n";
            }
        }
    }
    return out;
}

}  // namespace orange::output
