#include "client/dashboard/pane_comments.hpp"

#include <algorithm>

#include "client/output/comments.hpp"
#include "common/base/text.hpp"

namespace orange::dashboard {
namespace {

constexpr std::string_view k_edge = "  │ ";  ///< before each row of a comment
constexpr std::size_t k_edge_width = 4, k_most_quoted = 8;

bool is_same_group(const Place& a, const Place& b) {
    return a.path == b.path && a.section == b.section && a.now == b.now && a.before == b.before &&
           a.comment == b.comment && a.remark == b.remark && a.attempt == b.attempt;
}

Look look_of_state(std::string_view state) {
    if (state == "draft") return Look{3, -1, true};
    if (state == "answered") return Look{2, -1, true};
    return state == "resolved" ? k_dim : k_bold;
}

std::string lines_text(std::int64_t line, std::int64_t end) {
    return end > line ? ", lines " + std::to_string(line) + "-" + std::to_string(end) : "";
}

std::string heading_of(const rpc::CommentView& comment, bool is_elsewhere) {
    auto text = "#" + std::to_string(comment.number) + " " + clean(comment.state);
    if (!comment.author.empty()) text += ", by " + clean(comment.author);
    if (is_elsewhere) {
        text += ", " + clean(output::place_text(comment));
        if (comment.place == "outdated") text += ", outdated";
    } else {
        text += lines_text(comment.line, comment.end);
        if (!comment.was.empty()) text += ", was at " + clean(comment.was);
    }
    return text;
}

}  // namespace

std::string without_tabs(std::string_view line) {
    std::string out;
    for (const char c : line) out += c == '\t' ? std::string("    ") : std::string(1, c);
    return out;
}

PlacedRows::PlacedRows(Lines& lines, Places& places, std::size_t width)
    : lines_(lines), places_(places), width_(width) {
    for (std::size_t i = 0; i < places.comments.size(); ++i) {
        const auto& comment = places.comments[i];
        const bool is_file = comment.section.empty();
        const auto side = !is_file ? Side::section : comment.side == DiffSide::before ? Side::before : Side::now;
        // An outdated one waits for a line that is not there: it must never stand at other code.
        const auto end = comment.place == "outdated" ? 0 : comment.end;
        waiting_.emplace(Key(side, is_file ? comment.path : comment.section, end), i);
    }
    for (std::size_t i = 0; i < places.remarks.size(); ++i) {
        const auto& remark = places.remarks[i];
        const auto end = remark.place == "outdated" ? 0 : remark.end;
        waiting_.emplace(Key(Side::now, remark.path, end), places.comments.size() + i);
    }
}

void PlacedRows::end_line(Place place) {
    note_rows(place);
    if (waiting_.empty() || !place.is_line()) return;
    if (!place.section.empty()) return add_at(place, Side::section, place.section, place.now);
    add_at(place, Side::before, place.before_path, place.before);
    add_at(place, Side::now, place.path, place.now);
}

void PlacedRows::add_rest() {
    if (waiting_.empty()) return;
    std::vector<std::size_t> rest;
    for (const auto& [key, note] : waiting_) rest.push_back(note);
    std::ranges::sort(rest);
    lines_.emplace_back();
    lines_.emplace_back("Comments on lines that are not shown here", k_bold);
    end_line();
    for (const auto note : rest) add_note(note, {}, true);
    waiting_.clear();
}

void PlacedRows::add_at(const Place& place, Side side, const std::string& name, std::int64_t line) {
    if (line <= 0) return;
    const auto [begin, end] = waiting_.equal_range({side, name, line});
    for (auto each = begin; each != end; ++each) add_note(each->second, place, false);
    waiting_.erase(begin, end);
}

void PlacedRows::add_note(std::size_t note, const Place& line, bool is_elsewhere) {
    auto place = line;
    const auto quote = [&](std::string_view quoted) {
        const auto rows = split_lines(quoted);
        for (std::size_t i = 0; i < std::min(rows.size(), k_most_quoted); ++i)
            add_text("> " + std::string(rows[i]), k_dim, place);
        if (rows.size() > k_most_quoted) add_text("> …", k_dim, place);
    };
    if (note >= places_.comments.size()) {
        const auto number = note - places_.comments.size();
        const auto& remark = places_.remarks[number];
        place.remark = number + 1;
        add_text("The reviewer" +
                     (is_elsewhere ? ", " + clean(output::place_text(remark)) : lines_text(remark.line, remark.end)) +
                     (remark.place == "outdated" ? " (outdated)" : ""),
                 k_bold, place);
        return add_text(remark.text, {}, place);
    }
    const auto& comment = places_.comments[note];
    place.comment = comment.number;
    const auto look = comment.state == "resolved" ? k_dim : Look{};
    add_text(heading_of(comment, is_elsewhere), look_of_state(comment.state), place);
    if (is_elsewhere) quote(comment.quoted);
    for (const auto& turn : comment.turns) {
        const bool is_again = &turn != &comment.turns.front();
        add_text((is_again ? "again: " : "") + turn.text, look, place);
        if (turn.answer) add_text("→ " + *turn.answer, look, place);
    }
}

void PlacedRows::add_text(std::string_view text, Look look, const Place& place) {
    const auto room = width_ > k_edge_width ? width_ - k_edge_width : 1;
    for (const auto line : split_lines(text)) {
        for (auto& row : wrapped(clean(without_tabs(line)), room))
            lines_.push_back(Line(std::string(k_edge), k_dim).add(std::move(row), look));
        note_rows(place);
    }
}

void PlacedRows::note_rows(Place place) {
    if (lines_.size() <= places_.of_row.size()) return;
    const bool goes_on = !places_.all.empty() && is_same_group(places_.all.back(), place);
    place.part = part_ = goes_on ? part_ + 1 : 0;
    places_.of_row.resize(lines_.size(), places_.all.size());
    places_.all.push_back(std::move(place));
}

}  // namespace orange::dashboard
