#include <array>
#include <cstdint>
#include <cstdio>

#include "common/base/text.hpp"
#include "daemon/yaml/node.hpp"

namespace orange::yaml {
namespace {

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Returns true for words that a YAML reader, also of YAML 1.1, takes for a boolean, null or a number.
bool is_reserved_word(std::string_view text) {
    static constexpr std::array words{"y",    "n",     "yes",  "no",  "on",  "off",
                                      "true", "false", "null", "nan", "inf", "infinity"};
    for (const std::string_view word : words) {
        if (equal_ignoring_case(text, word)) return true;
    }
    return false;
}

/// Returns true if a text is safe without quotes. The rule is narrow on purpose: the text begins with a letter, so that
/// it is no number, date or indicator, and has no character that could end it.
bool is_plain(std::string_view text) {
    if (text.empty() || text.size() > 200 || !is_letter(text.front()) || text.back() == ' ') return false;
    for (const char c : text) {
        const bool digit = c >= '0' && c <= '9';
        if (!is_letter(c) && !digit && std::string_view(" _-./").find(c) == std::string_view::npos) return false;
    }
    return !is_reserved_word(text);
}

/// Removes one code point from the front of `text`. If the bytes are not UTF-8, it removes one byte and returns false.
bool next_point(std::string_view& text, std::string_view& bytes, std::uint32_t& point) {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    bytes = text.substr(0, length);
    if (bytes.size() < length || !is_valid_utf8(bytes)) {
        text.remove_prefix(1);
        return false;
    }
    point = length == 1 ? first : first & (0xFFu >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) point = (point << 6) | (static_cast<unsigned char>(bytes[i]) & 0x3Fu);
    text.remove_prefix(length);
    return true;
}

bool needs_escape(std::uint32_t p) {
    return p < 0x20 || (p >= 0x7F && p <= 0x9F) || p == 0x200B || p == 0x200E || p == 0x200F || p == 0x061C ||
           (p >= 0x2028 && p <= 0x202E) || (p >= 0x2066 && p <= 0x2069) || p == 0xFEFF || (p & 0xFFFE) == 0xFFFE;
}

std::string escape_of(std::uint32_t point) {
    switch (point) {
        case '\n':
            return "\\n";
        case '\t':
            return "\\t";
        case '\r':
            return "\\r";
        case '"':
            return "\\\"";
        case '\\':
            return "\\\\";
        default:
            break;
    }
    char text[16];
    std::snprintf(text, sizeof text, point < 0x100 ? "\\x%02x" : point < 0x10000 ? "\\u%04x" : "\\U%08x", point);
    return text;
}

}  // namespace

std::string scalar_text(std::string_view text) {
    if (is_plain(text)) return std::string(text);
    std::string out = "\"";
    while (!text.empty()) {
        std::string_view bytes;
        std::uint32_t point = 0;
        if (!next_point(text, bytes, point)) {
            // YAML cannot hold raw bytes (\xff means U+00FF), so an invalid byte becomes the replacement character.
            out += "\xEF\xBF\xBD";
        } else if (point == '"' || point == '\\' || needs_escape(point)) {
            out += escape_of(point);
        } else {
            out += bytes;
        }
    }
    return out + "\"";
}

}  // namespace orange::yaml
