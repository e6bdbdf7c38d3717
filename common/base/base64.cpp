#include "common/base/base64.hpp"

#include <array>
#include <cstdint>

namespace orange {
namespace {

constexpr std::string_view k_base64_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t k_no_digit = 64;

constexpr std::array<std::uint8_t, 256> k_values = [] {
    std::array<std::uint8_t, 256> values{};
    values.fill(k_no_digit);
    for (std::size_t i = 0; i < k_base64_digits.size(); ++i) {
        values[static_cast<unsigned char>(k_base64_digits[i])] = static_cast<std::uint8_t>(i);
    }
    return values;
}();

}  // namespace

std::string to_base64(std::string_view bytes) {
    std::string text;
    text.reserve(base64_length(bytes.size()));
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const auto three = bytes.substr(at, 3);
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            bits = bits << 8 | (i < three.size() ? static_cast<unsigned char>(three[i]) : 0U);
        }
        for (std::size_t i = 0; i < 4; ++i) {
            text += i <= three.size() ? k_base64_digits[bits >> (18 - 6 * i) & 63] : '=';
        }
    }
    return text;
}

std::optional<std::string> from_base64(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3);
    for (std::size_t at = 0; at < text.size(); at += 4) {
        const std::size_t digits = at + 4 == text.size() ? 4 - padding : 4;
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            const auto value = i < digits ? k_values[static_cast<unsigned char>(text[at + i])] : std::uint8_t{0};
            if (value == k_no_digit) return std::nullopt;
            bits = bits << 6 | value;
        }
        const std::size_t count = digits - 1;
        if ((bits & (0xFFFFFFU >> (8 * count))) != 0) return std::nullopt;
        for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>(bits >> (16 - 8 * i) & 0xFF);
    }
    return bytes;
}

}  // namespace orange
