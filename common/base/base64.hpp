#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace orange {

/// Returns the bytes as base64 of RFC 4648 (+ and /), with padding and without line ends.
std::string to_base64(std::string_view bytes);

/// Returns the bytes of such a text; nothing for any other text: another alphabet, no padding, blanks, or bits that no
/// byte has. Each sequence of bytes has exactly one text.
std::optional<std::string> from_base64(std::string_view text);

/// Returns the length of the text of so many bytes.
constexpr std::size_t base64_length(std::size_t bytes) {
    return (bytes + 2) / 3 * 4;
}

}  // namespace orange
