#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "client/output/cells.hpp"

namespace orange::output {

/// The format for the reader of standard output. Colours only on a terminal and without NO_COLOR.
struct Style {
    bool colour = false;
    std::size_t width = 80;   ///< text is wrapped to it: the terminal's width, COLUMNS or 80
    std::size_t row = width;  ///< rows are cut to it: the same, or unlimited for a program
    bool utf8 = true;         ///< false if the reader's terminal shows ASCII alone

    std::string paint(std::string_view text, const Look& look) const;
    /// Returns the lines, each with a line end.
    std::string paint(const Lines& lines) const;
};
Style style_of_stdout();

/// Returns the width of standard error's terminal; unlimited if it is no terminal.
std::size_t width_of_errors();

/// Returns true if standard input and error are terminals, so that a question may be asked.
bool is_interactive();

/// Returns true if standard output is a terminal that can be drawn on.
bool is_screen();
/// Clears the screen, and moves the cursor to its upper left corner.
void clear_screen();

/// Standard output is a terminal whose title can be set.
bool has_title();
/// The sequences that make a terminal keep its title, and show the kept one again.
inline constexpr std::string_view k_keep_title = "\033[22;2t", k_restore_title = "\033[23;2t";
/// Returns the sequence that makes a terminal show `title`.
std::string titled(const std::string& title);
/// Returns the title for the number of tasks that need their human: "2 need you · Orange".
std::string needs_title(std::size_t count);

/// Writes to standard output; a failure is kept for finish().
void put(std::string_view text);
/// Writes and flushes at once, for output that is watched as it happens.
void put_now(std::string_view text);
/// Returns true if standard output can no longer be written, because its reader has gone: there is no use in
/// continuing.
bool reader_is_gone();
/// Writes to standard error.
void print_error(std::string_view text);

/// Flushes, and returns the exit status: `status`, or 1 if output could not be written. The failure is reported on
/// standard error, unless the reader went away: `orange task list | head`.
int finish(int status);

/// Forgets what was typed so far: it answers nothing that is shown only now.
void forget_typed();

/// Asks on standard error, and reads a line from standard input; true for y or yes.
bool confirmed(const std::string& question);

/// Asks in the same way for a line, which may be empty; nothing if standard input ends.
std::optional<std::string> asked(const std::string& question);

/// Returns `text`, which may have several lines, in lines of at most `width` columns that begin with `indent`; longer
/// words are split. Every line ends with a newline.
std::string wrapped(std::string_view text, std::string_view indent, std::size_t width);

}  // namespace orange::output
