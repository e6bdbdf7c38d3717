#include "client/output/cells.hpp"

#include <algorithm>
#include <iterator>

#include "common/base/text.hpp"

namespace orange::output {
namespace {

struct PointRange {
    char32_t first, last;
};

// East Asian wide and full-width characters, and emoji that are shown as pictures by default.
constexpr PointRange k_wide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},   {0x23F0, 0x23F0},
    {0x23F3, 0x23F3},   {0x25FD, 0x25FE},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267F, 0x267F},
    {0x2693, 0x2693},   {0x26A1, 0x26A1},   {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x26C4, 0x26C5},
    {0x26CE, 0x26CE},   {0x26D4, 0x26D4},   {0x26EA, 0x26EA},   {0x26F2, 0x26F3},   {0x26F5, 0x26F5},
    {0x26FA, 0x26FA},   {0x26FD, 0x26FD},   {0x2705, 0x2705},   {0x270A, 0x270B},   {0x2728, 0x2728},
    {0x274C, 0x274C},   {0x274E, 0x274E},   {0x2753, 0x2755},   {0x2757, 0x2757},   {0x2795, 0x2797},
    {0x27B0, 0x27B0},   {0x27BF, 0x27BF},   {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},
    {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},
    {0xA960, 0xA97F},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
    {0xFFE0, 0xFFE6},   {0x1F004, 0x1F004}, {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A},
    {0x1F200, 0x1F320}, {0x1F32D, 0x1F335}, {0x1F337, 0x1F37C}, {0x1F37E, 0x1F393}, {0x1F3A0, 0x1F3CA},
    {0x1F3CF, 0x1F3D3}, {0x1F3E0, 0x1F3F0}, {0x1F3F4, 0x1F3F4}, {0x1F3F8, 0x1F3FA}, {0x1F400, 0x1F43E},
    {0x1F440, 0x1F440}, {0x1F442, 0x1F4FC}, {0x1F4FF, 0x1F53D}, {0x1F54B, 0x1F54E}, {0x1F550, 0x1F567},
    {0x1F57A, 0x1F57A}, {0x1F595, 0x1F596}, {0x1F5A4, 0x1F5A4}, {0x1F5FB, 0x1F64F}, {0x1F680, 0x1F6C5},
    {0x1F6CC, 0x1F6CC}, {0x1F6D0, 0x1F6D2}, {0x1F6EB, 0x1F6EC}, {0x1F6F4, 0x1F6FC}, {0x1F7E0, 0x1F7EB},
    {0x1F90C, 0x1F93A}, {0x1F93C, 0x1F945}, {0x1F947, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD},
};

bool is_wide(char32_t point) {
    const auto* after = std::upper_bound(std::begin(k_wide), std::end(k_wide), point,
                                         [](char32_t p, const PointRange& range) { return p < range.first; });
    return after != std::begin(k_wide) && point <= std::prev(after)->last;
}

}  // namespace

int width_of(char32_t point) {
    if (point < 0x20 || (point >= 0x7F && point < 0xA0)) return -1;
    if (point < 0x300) return point == 0xAD ? -1 : 1;
    if (is_unsteady(point)) return -1;  // the text is readable without it
    if (is_mark(point)) return 0;
    return is_wide(point) ? 2 : 1;
}

char32_t next_point(std::string_view text, std::size_t& at) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const auto first = byte(at);
    const int more = first < 0x80                    ? 0
                     : first >= 0xC2 && first < 0xE0 ? 1
                     : (first & 0xF0) == 0xE0        ? 2
                     : first >= 0xF0 && first < 0xF5 ? 3
                                                     : -1;
    if (more < 0 || at + static_cast<std::size_t>(more) >= text.size()) {
        ++at;
        return more == 0 ? first : 0xFFFD;
    }
    char32_t point = more == 0 ? first : first & (0x3F >> more);
    for (int i = 1; i <= more; ++i) {
        const auto next = byte(at + static_cast<std::size_t>(i));
        if ((next & 0xC0) != 0x80) {
            ++at;
            return 0xFFFD;
        }
        point = (point << 6) | (next & 0x3F);
    }
    at += static_cast<std::size_t>(more) + 1;
    return point;
}

void append_point(std::string& text, char32_t point) {
    const auto put = [&](char32_t bits) { text += static_cast<char>(static_cast<unsigned char>(bits)); };
    if (point < 0x80) {
        put(point);
    } else if (point < 0x800) {
        put(0xC0 | (point >> 6));
        put(0x80 | (point & 0x3F));
    } else if (point < 0x10000) {
        put(0xE0 | (point >> 12));
        put(0x80 | ((point >> 6) & 0x3F));
        put(0x80 | (point & 0x3F));
    } else {
        put(0xF0 | (point >> 18));
        put(0x80 | ((point >> 12) & 0x3F));
        put(0x80 | ((point >> 6) & 0x3F));
        put(0x80 | (point & 0x3F));
    }
}

std::string clean(std::string_view text) {
    const auto visible = printable(text);
    if (std::ranges::all_of(visible, [](unsigned char c) { return c < 0x80; })) return visible;
    std::string out;
    int marks = 0;
    bool has_base = false;
    for (std::size_t at = 0; at < visible.size();) {
        const auto point = next_point(visible, at);
        const int width = width_of(point);
        if (width < 0) {
            if (point >= 0x1F1E6 && point <= 0x1F1FF) {  // half a flag: show its letter
                out += static_cast<char>('A' + (point - 0x1F1E6));
                has_base = true;
            } else if (point >= 0xE000 && point <= 0xF8FF) {
                out += '?';
                has_base = true;
            }
            continue;
        }
        if (width == 0 && (!has_base || ++marks > 2)) continue;
        if (width > 0) marks = 0;
        has_base = has_base || width > 0;
        append_point(out, point);
    }
    return out;
}

std::size_t columns(std::string_view clean_text) {
    std::size_t sum = 0;
    for (std::size_t at = 0; at < clean_text.size();)
        sum += static_cast<std::size_t>(std::max(0, width_of(next_point(clean_text, at))));
    return sum;
}

std::string cut(std::string_view clean_text, std::size_t room) {
    if (clean_text.size() <= room || columns(clean_text) <= room) return std::string(clean_text);
    if (room == 0) return {};
    std::size_t used = 0, end = 0;
    for (std::size_t at = 0; at < clean_text.size();) {
        used += static_cast<std::size_t>(std::max(0, width_of(next_point(clean_text, at))));
        if (used > room - 1) break;
        end = at;
    }
    return std::string(clean_text.substr(0, end)) + "…";
}

std::string padded(std::string_view clean_text, std::size_t room) {
    auto text = cut(clean_text, room);
    const auto used = columns(text);
    return text + std::string(room > used ? room - used : 0, ' ');
}

std::vector<std::string> wrapped(std::string_view clean_text, std::size_t room, bool whole_paths) {
    std::vector<std::string> rows;
    if (room == 0) return rows;
    const auto indent = std::min(clean_text.find_first_not_of(' '), clean_text.size());
    std::string row(indent < room ? indent : 0, ' ');
    std::size_t used = row.size();
    bool has_word = false;
    const auto finish = [&] {
        rows.push_back(std::move(row));
        row.clear();
        used = 0;
        has_word = false;
    };
    for (const auto word : split(clean_text.substr(indent), ' ')) {
        if (has_word && used + 1 + columns(word) > room) finish();
        if (has_word) {
            row += ' ';
            ++used;
        }
        const bool stays_whole = whole_paths && (word.starts_with('/') || word.starts_with("~/"));
        if (stays_whole) row += word, used += columns(word);
        for (std::size_t at = stays_whole ? word.size() : 0; at < word.size();) {
            const auto begin = at;
            const auto point_width = static_cast<std::size_t>(std::max(0, width_of(next_point(word, at))));
            if (used + point_width > room) finish();
            row += word.substr(begin, at - begin);
            used += point_width;
        }
        has_word = true;
    }
    if (!row.empty() || rows.empty()) finish();
    return rows;
}

Line& Line::add(std::string text, Look look) {
    if (text.empty()) return *this;
    if (!spans.empty() && spans.back().look == look) {
        spans.back().text += text;
    } else {
        spans.push_back({std::move(text), look});
    }
    return *this;
}

Line& Line::add(Line more) {
    for (auto& span : more.spans) add(std::move(span.text), span.look);
    return *this;
}

std::size_t Line::width() const {
    std::size_t sum = 0;
    for (const auto& span : spans) sum += columns(span.text);
    return sum;
}

Line& Line::fit(std::size_t room) {
    std::size_t used = 0;
    for (std::size_t i = 0; i < spans.size(); ++i) {
        const auto wide = columns(spans[i].text);
        if (used + wide > room || (used + wide == room && i + 1 < spans.size())) {
            // The line ends with this span and the sign of the cut: either it does not fit, or further spans do not.
            spans[i].text = used + wide > room ? cut(spans[i].text, room - used) : std::move(spans[i].text);
            spans.resize(i + 1);
            used += columns(spans[i].text);
            break;
        }
        used += wide;
    }
    if (used < room) add(std::string(room - used, ' '), spans.empty() ? Look{} : Look{-1, spans.back().look.bg});
    return *this;
}

Line& Line::reversed() {
    return *this = Line(text(), Look{.reverse = true});
}

std::string Line::text() const {
    std::string all;
    for (const auto& span : spans) all += span.text;
    return all;
}

}  // namespace orange::output
