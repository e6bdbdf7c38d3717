#include "client/commands/comment_place.hpp"

#include <algorithm>
#include <optional>

#include "common/base/text.hpp"

namespace orange::commands {
namespace {

constexpr std::string_view k_heading = "## ";

/// The text behind the last colon of a place: "-12-14" is a range of the old text.
struct LineRange {
    bool is_old = false;
    std::string_view first, last;  ///< digits
};

bool is_digits(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<LineRange> range_in(std::string_view text) {
    LineRange range;
    range.is_old = text.starts_with('-');
    if (range.is_old) text.remove_prefix(1);
    const auto dash = text.find('-');
    range.first = text.substr(0, dash);
    range.last = dash == std::string_view::npos ? range.first : text.substr(dash + 1);
    if (!is_digits(range.first) || !is_digits(range.last)) return std::nullopt;
    return range;
}

Error wrong_place(std::string_view word, const std::string& why) {
    return {ErrorCode::invalid_argument, "\"" + printable(word) + "\" names no lines: " + why};
}

/// Sets the path or the section that `name` means.
Result<void> take_name(std::string_view word, std::string_view name, LinePlace& place) {
    if (name.starts_with(k_heading) || name == "Plan" || name == "Handoff") {
        place.section = trim(name.starts_with(k_heading) ? name.substr(k_heading.size()) : name);
        if (place.section.empty()) return wrong_place(word, "the heading is missing, as in '## Plan:3'");
        if (place.side == DiffSide::before) return wrong_place(word, "a section of TASK.md has no old text");
        return {};
    }
    while (name.starts_with("./")) name.remove_prefix(2);
    if (name.empty()) return wrong_place(word, "the file is missing, as in src/cart.py:12");
    if (name.starts_with('/')) return wrong_place(word, "a path begins at the root of the repository, without a slash");
    place.path = name;
    return {};
}

}  // namespace

bool looks_like_place(std::string_view word) {
    const auto colon = word.rfind(':');
    return colon != std::string_view::npos && range_in(word.substr(colon + 1));
}

Result<LinePlace> place_in(std::string_view word) {
    const auto colon = word.rfind(':');
    const auto range = colon == std::string_view::npos ? std::nullopt : range_in(word.substr(colon + 1));
    if (!range) return wrong_place(word, "write FILE:LINE, FILE:LINE-LINE, or FILE:-LINE for a line of the old text");
    LinePlace place;
    place.side = range->is_old ? DiffSide::before : DiffSide::now;
    const auto line = whole_number(range->first), end = whole_number(range->last);
    if (!line || !end || *line < 1) return wrong_place(word, "lines are counted from 1");
    if (*end < *line) return wrong_place(word, "the last line is above the first one");
    place.line = *line;
    place.end = *end;
    if (const auto named = take_name(word, word.substr(0, colon), place); !named) return named.error();
    return place;
}

bool begins_with_task(const std::vector<std::string>& words) {
    if (words.empty()) return false;
    return !looks_like_place(words.front()) || (words.size() > 2 && looks_like_place(words[1]));
}

}  // namespace orange::commands
