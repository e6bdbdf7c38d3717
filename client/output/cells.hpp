#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Rows of text with looks, which the command line prints and the dashboard shows. The command line passes outside text
/// through printable(). The dashboard passes it through clean(): the text then has no control characters, and every
/// grapheme has the width that width_of() returns.
namespace orange::output {

/// Colours are numbers of the terminal's 256; -1 is the terminal's default, which keeps text readable on light and
/// dark.
struct Look {
    short fg = -1;
    short bg = -1;
    bool bold = false;
    bool dim = false;
    bool reverse = false;
    bool underline = false;
    bool operator==(const Look&) const = default;
};
inline constexpr Look k_plain{};
inline constexpr Look k_dim{-1, -1, false, true};
inline constexpr Look k_bold{-1, -1, true};
inline constexpr Look k_red{1};
inline constexpr Look k_green{2};
inline constexpr Look k_yellow{3};
inline constexpr Look k_blue{4};
inline constexpr Look k_magenta{5};
inline constexpr Look k_cyan{6};

struct Span {
    std::string text;
    Look look = {};
    bool operator==(const Span&) const = default;
};

/// A row of any width; fit() makes it as wide as the screen.
struct Line {
    std::vector<Span> spans;

    Line() = default;
    explicit Line(std::string text, Look look = {}) { add(std::move(text), look); }
    Line& add(std::string text, Look look = {});
    Line& add(Line more);
    std::size_t width() const;
    /// Cuts the line (with "…") or fills it with blanks to exactly `columns`.
    Line& fit(std::size_t columns);
    /// Gives the whole line one look without colours, for a selected row.
    Line& reversed();
    std::string text() const;
    bool operator==(const Line&) const = default;
};

using Lines = std::vector<Line>;

/// Returns the columns of a code point: 0 for a combining one, 2 for a wide one, -1 for one that is not shown.
int width_of(char32_t point);

/// Returns the code point at `at`, and moves `at` behind it; U+FFFD for invalid UTF-8.
char32_t next_point(std::string_view text, std::size_t& at);
void append_point(std::string& text, char32_t point);

/// Returns `text` as one row: control characters become visible escapes, and characters whose width differs between
/// terminals are removed.
std::string clean(std::string_view text);

std::size_t columns(std::string_view clean_text);
/// Returns at most `room` columns of a clean text, ending in "…" if it was cut.
std::string cut(std::string_view clean_text, std::size_t room);
/// Returns the text of cut(), filled with blanks.
std::string padded(std::string_view clean_text, std::size_t room);

/// Returns a clean text in rows of at most `room` columns, broken at blanks. `whole_paths`: a path that is longer stays
/// in one piece, so that it can be copied.
std::vector<std::string> wrapped(std::string_view clean_text, std::size_t room, bool whole_paths = false);

}  // namespace orange::output
