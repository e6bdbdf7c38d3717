#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// What the command line prints and the dashboard shows, as rows of text with looks. The command line prints text from
/// outside as printable() returns it. The dashboard passes it through clean(): after that a text has no control
/// characters, and every grapheme takes the columns that width_of() says.
namespace orange::output {

/// Colours are of the terminal's 256, -1 is its own; so a text is readable on light and dark.
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

/// One row. Not yet as wide as the screen: fit() makes it so.
struct Line {
    std::vector<Span> spans;

    Line() = default;
    explicit Line(std::string text, Look look = {}) { add(std::move(text), look); }
    Line& add(std::string text, Look look = {});
    Line& add(Line more);
    std::size_t width() const;
    /// Cut (with "…") or filled with blanks to exactly `columns`.
    Line& fit(std::size_t columns);
    /// Gives all of the line one look, without its colours: a selected row.
    Line& reversed();
    std::string text() const;
    bool operator==(const Line&) const = default;
};

using Lines = std::vector<Line>;

/// The columns of a code point: 0 for what joins the one before it, 2 for wide ones, -1 for what is not shown.
int width_of(char32_t point);

/// The code point at `at`, which moves behind it; U+FFFD for broken UTF-8.
char32_t next_point(std::string_view text, std::size_t& at);
void append_point(std::string& text, char32_t point);

/// `text` as one row: control characters as visible escapes, and no character whose width terminals disagree about.
std::string clean(std::string_view text);

std::size_t columns(std::string_view clean_text);
/// At most `room` columns of a clean text, ending in "…" if something was cut.
std::string cut(std::string_view clean_text, std::size_t room);
/// cut(), and filled with blanks.
std::string padded(std::string_view clean_text, std::size_t room);

/// Clean text in rows of at most `room` columns, broken at blanks.
std::vector<std::string> wrapped(std::string_view clean_text, std::size_t room);

}  // namespace orange::output
