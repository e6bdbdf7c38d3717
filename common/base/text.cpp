#include "common/base/text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <iterator>

namespace orange {
namespace {

struct PointRange {
    char32_t first, last;
};

constexpr PointRange k_marks[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x05BF, 0x05BF}, {0x05C1, 0x05C2},
    {0x0610, 0x061A}, {0x064B, 0x065F}, {0x0670, 0x0670}, {0x06D6, 0x06DC}, {0x06DF, 0x06E4},
    {0x0900, 0x0902}, {0x093A, 0x093A}, {0x093C, 0x093C}, {0x0941, 0x0948}, {0x094D, 0x094D},
    {0x0951, 0x0957}, {0x0E31, 0x0E31}, {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E}, {0x1AB0, 0x1AFF},
    {0x1DC0, 0x1DFF}, {0x20D0, 0x20F0}, {0x302A, 0x302D}, {0x3099, 0x309A}, {0xFE20, 0xFE2F},
};
// Selectors, joiners, skin tones, keycap marks, tags, private use.
constexpr PointRange k_unsteady[] = {
    {0x00AD, 0x00AD}, {0x034F, 0x034F},   {0x061C, 0x061C},   {0x180B, 0x180F},   {0x200B, 0x200F},    {0x2028, 0x202E},
    {0x2060, 0x206F}, {0x20E3, 0x20E3},   {0xD800, 0xDFFF},   {0xE000, 0xF8FF},   {0xFE00, 0xFE0F},    {0xFEFF, 0xFEFF},
    {0xFFF0, 0xFFFB}, {0x1F1E6, 0x1F1FF}, {0x1F3FB, 0x1F3FF}, {0xE0000, 0xE0FFF}, {0xF0000, 0x10FFFF},
};
// Other characters that look like a blank, or like nothing.
constexpr PointRange k_empty[] = {
    {0x00A0, 0x00A0}, {0x115F, 0x1160},   {0x1680, 0x1680},   {0x17B4, 0x17B5},   {0x2000, 0x200A},
    {0x202F, 0x202F}, {0x205F, 0x205F},   {0x2800, 0x2800},   {0x3000, 0x3000},   {0x3164, 0x3164},
    {0xFFA0, 0xFFA0}, {0x1BCA0, 0x1BCA3}, {0x1D159, 0x1D159}, {0x1D173, 0x1D17A},
};

template <std::size_t N>
bool is_among(const PointRange (&ranges)[N], char32_t point) {
    const auto* after = std::upper_bound(std::begin(ranges), std::end(ranges), point,
                                         [](char32_t p, const PointRange& range) { return p < range.first; });
    return after != std::begin(ranges) && point <= std::prev(after)->last;
}

constexpr std::string_view k_blank = " \t\r\n\v\f";

/// Returns the length of the valid UTF-8 sequence at the front of `text`, with its code point in `point`; 0 if it is
/// invalid.
std::size_t sequence_at(std::string_view text, std::uint32_t& point) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned first = byte(0);
    if (first < 0x80) {
        point = first;
        return 1;
    }
    std::size_t length = 0;
    std::uint32_t least = 0;
    if ((first & 0xE0) == 0xC0) {
        length = 2, least = 0x80, point = first & 0x1F;
    } else if ((first & 0xF0) == 0xE0) {
        length = 3, least = 0x800, point = first & 0x0F;
    } else if ((first & 0xF8) == 0xF0) {
        length = 4, least = 0x10000, point = first & 0x07;
    } else {
        return 0;
    }
    if (text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80) return 0;
        point = (point << 6) | (byte(i) & 0x3Fu);
    }
    const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
    return point < least || point > 0x10FFFF || surrogate ? 0 : length;
}

bool is_bidi_or_invisible(std::uint32_t p) {
    return (p >= 0x202A && p <= 0x202E) || (p >= 0x2066 && p <= 0x2069) || p == 0x200E || p == 0x200F || p == 0x061C ||
           p == 0x200B || p == 0x2028 || p == 0x2029 || p == 0xFEFF;
}

void append_escape(std::string& out, const char* format, unsigned value) {
    char text[16];
    std::snprintf(text, sizeof text, format, value);
    out += text;
}

/// Replaces the line ends at the front of `text`, and the blanks around them, by a mark.
void join_lines(std::string& out, std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    out.erase(out.find_last_not_of(' ') + 1);
    if (!out.empty() && !text.empty()) out += " ⏎ ";
}

}  // namespace

std::string_view trim(std::string_view text) {
    const auto first = text.find_first_not_of(k_blank);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(k_blank) - first + 1);
}

std::vector<std::string_view> split_lines(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = text.find('\n');
        auto line = text.substr(0, end);
        if (line.ends_with('\r')) line.remove_suffix(1);
        lines.push_back(line);
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    }
    return lines;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (;;) {
        const auto end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
    std::string joined;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i > 0) joined += separator;
        joined += parts[i];
    }
    return joined;
}

std::string to_lower(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return lower;
}

bool found_in(std::string_view text, std::string_view wanted) {
    const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b; };
    const bool exact = std::any_of(wanted.begin(), wanted.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
    if (exact) return text.find(wanted) != std::string_view::npos;
    return std::search(text.begin(), text.end(), wanted.begin(), wanted.end(), same) != text.end() || wanted.empty();
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
    return to_lower(a) == to_lower(b);
}

bool is_valid_utf8(std::string_view text) {
    std::uint32_t point = 0;
    while (!text.empty()) {
        const auto length = sequence_at(text, point);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

std::string printable(std::string_view text, bool keep_newlines) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        std::uint32_t point = 0;
        const auto length = sequence_at(text, point);
        if (length == 0) {
            append_escape(out, "\\x%02x", static_cast<unsigned char>(text.front()));
            text.remove_prefix(1);
            continue;
        }
        if (!keep_newlines && (point == '\n' || text.starts_with("\r\n"))) {
            join_lines(out, text);
            continue;
        }
        if (point == '\n') {
            out += '\n';
        } else if (point == '\t') {
            out += ' ';
        } else if (point < 0x20 || point == 0x7F) {
            append_escape(out, "\\x%02x", point);
        } else if ((point >= 0x80 && point <= 0x9F) || is_bidi_or_invisible(point)) {
            append_escape(out, "\\u%04x", point);
        } else {
            out += text.substr(0, length);
        }
        text.remove_prefix(length);
    }
    return out;
}

bool is_mark(char32_t point) {
    return is_among(k_marks, point);
}

bool is_unsteady(char32_t point) {
    return is_among(k_unsteady, point);
}

std::string revealed(std::string_view text, bool keep_newlines) {
    constexpr int k_most_marks = 2;  ///< that a terminal puts on one character
    const auto shown = printable(text, keep_newlines);
    std::string out;
    out.reserve(shown.size());
    int marks = k_most_marks;
    for (std::string_view rest = shown; !rest.empty();) {
        std::uint32_t point = 0;
        const auto length = sequence_at(rest, point);
        const bool is_joined = is_mark(point);
        const bool is_hidden = is_unsteady(point) || is_among(k_empty, point) || (is_joined && marks >= k_most_marks);
        if (is_hidden) append_escape(out, point > 0xFFFF ? "\\U%08x" : "\\u%04x", point);
        if (!is_hidden) out += rest.substr(0, length);
        marks = is_joined ? marks + 1 : point == '\n' ? k_most_marks : 0;
        rest.remove_prefix(length);
    }
    return out;
}

std::size_t columns_of(std::string_view text) {
    std::size_t columns = 0;
    for (const char c : text) {
        if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) ++columns;
    }
    return columns;
}

std::string with_word(std::string text, std::string_view word, std::string_view by) {
    const auto is_part = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' ||
               c == '/';
    };
    const auto is_number = [&](std::string_view rest) {
        const auto end = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
        return rest.starts_with('.') && end > 1 && (end == rest.size() || (!is_part(rest[end]) && rest[end] != '.'));
    };
    if (word.empty()) return text;
    for (auto at = text.find(word); at != std::string::npos;) {
        const auto end = at + word.size();
        const bool begins = at == 0 || (!is_part(text[at - 1]) && text[at - 1] != '.');
        const bool ends =
            end == text.size() || is_number(std::string_view(text).substr(end)) ||
            (!is_part(text[end]) && (text[end] != '.' || end + 1 == text.size() || !is_part(text[end + 1])));
        if (begins && ends) text.replace(at, word.size(), by);
        at = text.find(word, begins && ends ? at + by.size() : end);
    }
    return text;
}

std::string first_line(std::string_view text) {
    for (const auto line : split_lines(text)) {
        if (!trim(line).empty()) return std::string(trim(line));
    }
    return {};
}

std::string shell_word(std::string_view text) {
    constexpr std::string_view k_plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@%:,=";
    if (!text.empty() && text.find_first_not_of(k_plain) == std::string_view::npos) return std::string(text);
    std::string word = "'";
    for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return word + "'";
}

std::string_view first_columns(std::string_view text, std::size_t columns) {
    std::size_t seen = 0, at = 0;
    while (at < text.size()) {
        if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80 && seen++ == columns) break;
        ++at;
    }
    return text.substr(0, at);
}

bool is_option_word(std::string_view text) {
    constexpr std::size_t k_longest = 200;
    return !text.empty() && text.size() <= k_longest && text.front() != '-' &&
           std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > ' ' && c < 127; });
}

std::string_view first_bytes(std::string_view text, std::size_t bytes) {
    if (text.size() <= bytes) return text;
    while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
    return text.substr(0, bytes);
}

std::string ellipsized(std::string_view text, std::size_t columns) {
    if (columns_of(text) <= columns) return std::string(text);
    if (columns == 0) return {};
    return std::string(first_columns(text, columns - 1)) + "…";
}

std::string fast_hash(std::string_view bytes) {
    std::uint64_t hash = 0xcbf29ce484222325ull;
    for (const char c : bytes) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 0x100000001b3ull;
    }
    char text[20];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
    return text;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

std::string counted(std::size_t n, std::string_view noun) {
    return std::to_string(n) + " " + std::string(noun) + (n == 1 ? "" : "s");
}

std::string size_text(std::int64_t bytes) {
    constexpr std::int64_t k_kibibyte = 1 << 10, k_mebibyte = 1 << 20, k_gibibyte = 1 << 30;
    if (bytes < k_kibibyte) return counted(static_cast<std::size_t>(bytes), "byte");
    if (bytes < k_mebibyte) return std::to_string(bytes / k_kibibyte) + " KiB";
    const auto unit = bytes < k_gibibyte ? k_mebibyte : k_gibibyte;
    const auto tenths = bytes / unit * 10 + bytes % unit * 10 / unit;
    return std::to_string(tenths / 10) + (tenths % 10 == 0 ? "" : "." + std::to_string(tenths % 10)) +
           (unit == k_mebibyte ? " MiB" : " GiB");
}

}  // namespace orange
