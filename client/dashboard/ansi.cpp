#include "client/dashboard/ansi.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>

#include "common/base/text.hpp"

namespace orange::dashboard {
namespace {

std::vector<int> sgr_numbers(std::string_view parameters) {
    std::vector<int> numbers;
    std::string plain(parameters);
    std::ranges::replace(plain, ':', ';');
    for (const auto part : split(plain, ';')) {
        int number = 0;
        std::from_chars(part.data(), part.data() + part.size(), number);
        numbers.push_back(number);
    }
    return numbers;
}

/// Returns the colour behind a 38 or 48 at `at`, and moves `at` to its last number.
short extended_colour(const std::vector<int>& numbers, std::size_t& at) {
    if (at + 2 < numbers.size() && numbers[at + 1] == 5) {
        at += 2;
        return static_cast<short>(std::clamp(numbers[at], 0, 255));
    }
    if (at + 4 < numbers.size() && numbers[at + 1] == 2) {
        const auto colour = nearest_colour(numbers[at + 2], numbers[at + 3], numbers[at + 4]);
        at += 4;
        return colour;
    }
    at = numbers.size();
    return -1;
}

void apply_sgr(Look& look, std::string_view parameters) {
    const auto numbers = sgr_numbers(parameters.empty() ? "0" : parameters);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const int n = numbers[i];
        if (n == 0) look = {};
        if (n == 1) look.bold = true;
        if (n == 2) look.dim = true;
        if (n == 4) look.underline = true;
        if (n == 7) look.reverse = true;
        if (n == 22) look.bold = look.dim = false;
        if (n == 24) look.underline = false;
        if (n == 27) look.reverse = false;
        if (n >= 30 && n <= 37) look.fg = static_cast<short>(n - 30);
        if (n == 38) look.fg = extended_colour(numbers, i);
        if (n == 39) look.fg = -1;
        if (n >= 40 && n <= 47) look.bg = static_cast<short>(n - 40);
        if (n == 48) look.bg = extended_colour(numbers, i);
        if (n == 49) look.bg = -1;
        if (n >= 90 && n <= 97) look.fg = static_cast<short>(n - 90 + 8);
        if (n >= 100 && n <= 107) look.bg = static_cast<short>(n - 100 + 8);
    }
}

/// Returns the position behind the escape sequence at `at`; an SGR sequence changes `look`.
std::size_t behind_sequence(std::string_view line, std::size_t at, Look& look) {
    if (at + 1 >= line.size()) return line.size();
    const char kind = line[at + 1];
    if (kind == '[') {
        auto end = at + 2;
        while (end < line.size() && line[end] >= 0x20 && line[end] < 0x40) ++end;
        if (end < line.size() && line[end] == 'm') apply_sgr(look, line.substr(at + 2, end - at - 2));
        return std::min(line.size(), end + 1);
    }
    if (kind == ']' || kind == 'P' || kind == '_' || kind == '^' || kind == 'X') {
        for (auto end = at + 2; end < line.size(); ++end) {
            if (line[end] == '\a') return end + 1;
            if (line[end] == '\x1b' && end + 1 < line.size() && line[end + 1] == '\\') return end + 2;
        }
        return line.size();
    }
    if (kind >= 0x20 && kind < 0x30) return std::min(line.size(), at + 3);  // a character set: ESC ( B
    return at + 2;
}

}  // namespace

short nearest_colour(int red, int green, int blue) {
    const auto level = [](int value) { return value < 48 ? 0 : value < 115 ? 1 : std::min(5, (value - 35) / 40); };
    const auto value = [](int at) { return at == 0 ? 0 : 55 + at * 40; };
    const int r = level(red), g = level(green), b = level(blue);
    const auto off = [&](int x, int y, int z) {
        return (x - red) * (x - red) + (y - green) * (y - green) + (z - blue) * (z - blue);
    };
    const int grey = std::clamp(((red + green + blue) / 3 - 3) / 10, 0, 23), shade = 8 + grey * 10;
    if (off(shade, shade, shade) < off(value(r), value(g), value(b))) return static_cast<short>(232 + grey);
    return static_cast<short>(16 + 36 * r + 6 * g + b);
}

std::vector<Line> screen_lines(std::string_view text) {
    std::vector<Line> lines;
    Look look;
    for (const auto row : split_lines(text)) {
        Line line;
        std::string run;
        std::size_t column = 0;
        const auto flush = [&] {
            auto shown = clean(run);
            column += columns(shown);
            line.add(std::move(shown), look);
            run.clear();
        };
        for (std::size_t at = 0; at < row.size();) {
            const char c = row[at];
            if (c == '\x1b') {
                flush();
                at = behind_sequence(row, at, look);
            } else if (c == '\t') {
                flush();
                const auto stop = 8 - column % 8;
                line.add(std::string(stop, ' '), look);
                column += stop;
                ++at;
            } else {
                if (static_cast<unsigned char>(c) >= 0x20 && c != '\x7f') run += c;
                ++at;
            }
        }
        flush();
        lines.push_back(std::move(line));
    }
    return lines;
}

}  // namespace orange::dashboard
