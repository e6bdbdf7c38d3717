#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "client/output/cells.hpp"

namespace orange::output {

/// How to write for whoever reads standard output. Colour only on a terminal and without NO_COLOR.
struct Style {
    bool colour = false;
    std::size_t width = 80;   ///< text is wrapped to it: the terminal's or COLUMNS, else 80
    std::size_t row = width;  ///< a row is cut to it: the same, or without end where a program reads

    std::string paint(std::string_view text, const Look& look) const;
    /// The lines, each with its end.
    std::string paint(const Lines& lines) const;
};
Style style_of_stdout();

/// Of standard error's terminal; what goes elsewhere is not wrapped.
std::size_t width_of_errors();

/// Both ends are a person's: a question may be asked.
bool is_interactive();

/// Standard output is a terminal, which can be drawn on.
bool is_screen();
/// Clears it, and begins in its upper left corner.
void clear_screen();

/// Standard output is a terminal whose title can be set.
bool has_title();
/// What makes a terminal keep its title, and show the kept one again.
inline constexpr std::string_view k_keep_title = "\033[22;2t", k_restore_title = "\033[23;2t";
/// What makes a terminal show `title`.
std::string titled(const std::string& title);
/// What a title says of the tasks that need their human: "2 need you · Orange".
std::string needs_title(std::size_t count);

/// Writes to standard output; a failure is kept for finish().
void put(std::string_view text);
/// As put(), at once: for what is watched as it happens.
void put_now(std::string_view text);
/// Whoever read standard output has gone, or it cannot be written to any more: there is no use in going on.
bool reader_is_gone();
/// To standard error.
void complain(std::string_view text);

/// Flushes. The exit status to end with: `status`, or 1 where the output could not be written (said on standard error,
/// unless the reader went away: `orange task list | head`).
int finish(int status);

/// Asks on standard error, reads a line from standard input: true for y or yes.
bool confirmed(const std::string& question);

/// Asks the same way for a line, which may be empty; nothing if standard input ends.
std::optional<std::string> asked(const std::string& question);

/// `text`, which may have several lines, in lines of at most `width` columns, each begun with `indent`; words longer
/// than a line are cut through. Every line ends with a newline.
std::string wrapped(std::string_view text, std::string_view indent, std::size_t width);

}  // namespace orange::output
