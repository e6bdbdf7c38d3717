#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orange {

/// Returns `text` without leading and trailing blanks, tabs and line ends.
std::string_view trim(std::string_view text);

/// Returns the lines of `text` without their ends ("\n" or "\r\n"); a trailing newline adds no empty line.
std::vector<std::string_view> split_lines(std::string_view text);

std::vector<std::string_view> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);

/// Converts ASCII letters to lower case, independent of the locale.
std::string to_lower(std::string_view text);
bool equal_ignoring_case(std::string_view a, std::string_view b);

/// Returns true if `text` contains `wanted`. If `wanted` has no capital letter, case does not matter.
bool found_in(std::string_view text, std::string_view wanted);

bool is_valid_utf8(std::string_view text);

/// Returns `text` in a form that is safe for a terminal: control characters (C0, C1, DEL), bidirectional controls and
/// invalid UTF-8 become visible escapes such as \x1b or \u202e, a tab becomes a blank. Line ends stay if
/// `keep_newlines`, otherwise they become "a ⏎ b". All text of agents, files and repositories goes through here before
/// it is printed.
std::string printable(std::string_view text, bool keep_newlines = false);

/// Returns the text of printable() in which no character is hidden, for what a person has to judge: characters that
/// look like a blank or like nothing, characters that terminals do not show alike (joiners, selectors, tags), and all
/// but two of the combining marks on one character become visible escapes, too. A revealed text does not change any
/// more.
std::string revealed(std::string_view text, bool keep_newlines = false);

/// Returns true for a combining mark, which terminals put on the character before it.
bool is_mark(char32_t point);

/// Returns true for a character whose width differs between terminals, or which they do not show.
bool is_unsteady(char32_t point);

/// Returns `text` with `by` in place of `word`, except within a path or a longer word. A number may follow it, as in
/// 4f2a.12.
std::string with_word(std::string text, std::string_view word, std::string_view by);

/// Returns the first line that is not empty, trimmed, for lists.
std::string first_line(std::string_view text);

/// Returns `text` as one word for a shell, in single quotes if needed: for commands that people are told to type.
std::string shell_word(std::string_view text);

/// Returns true if a program can read `text` only as the value of an option: one word of up to 200 printable ASCII
/// characters that does not begin with a dash.
bool is_option_word(std::string_view text);

/// Cuts `text` to `columns` terminal columns (code points); a cut text ends in "…". Never splits UTF-8.
std::string ellipsized(std::string_view text, std::size_t columns);

/// Returns the first `columns` code points of `text`.
std::string_view first_columns(std::string_view text, std::size_t columns);

/// Returns the beginning of a valid UTF-8 text: as many whole characters as fit into `bytes`.
std::string_view first_bytes(std::string_view text, std::size_t bytes);

/// Returns the number of columns of `text`, one per code point.
std::size_t columns_of(std::string_view text);

/// Returns the 64-bit FNV-1a hash as 16 hex digits: for caches, and for names that an attacker gains nothing by.
/// Another text with the same hash is found within seconds, so nothing may be decided by it (sha256.hpp).
std::string fast_hash(std::string_view bytes);

/// Returns the whole number that is all of `text`, without blanks or a plus sign; nothing for another text.
std::optional<std::int64_t> whole_number(std::string_view text);

/// Returns "1 task", "2 tasks".
std::string counted(std::size_t n, std::string_view noun);

/// Returns a number of bytes for people: "1 byte", "12 KiB", "1.4 MiB", "2 GiB".
std::string size_text(std::int64_t bytes);

}  // namespace orange
