#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orange {

/// `text` without leading and trailing blanks, tabs and line ends.
std::string_view trim(std::string_view text);

/// The lines of `text` without their ends ("\n" or "\r\n"); a trailing newline adds no empty line.
std::vector<std::string_view> split_lines(std::string_view text);

std::vector<std::string_view> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);

/// ASCII only, independent of the locale.
std::string to_lower(std::string_view text);
bool equal_ignoring_case(std::string_view a, std::string_view b);

/// Whether `text` has `wanted` in it. Without a capital letter in `wanted`, capitals do not matter.
bool found_in(std::string_view text, std::string_view wanted);

bool is_valid_utf8(std::string_view text);

/// `text` made safe for a terminal: control characters (C0, C1, DEL), bidirectional controls and invalid UTF-8 become
/// visible escapes such as \x1b or \u202e; tab becomes a blank. Lines stay such if `keep_newlines`, else "a ⏎ b".
/// Everything that came from an agent, a file or a repository goes through here before it is printed (faults.md X1).
std::string printable(std::string_view text, bool keep_newlines = false);

/// `text` with `by` in place of `word`, but not if it is a part of a path or of a longer word.
std::string with_word(std::string text, std::string_view word, std::string_view by);

/// The first line that is not empty, trimmed: what fits into a list.
std::string first_line(std::string_view text);

/// `text` as one word for a shell, in single quotes where it needs them: for commands that a person is told to type.
std::string shell_word(std::string_view text);

/// True if a program takes `text` as the value of an option, and for nothing else: one word of up to 200 printable
/// ASCII characters that does not begin with a dash.
bool is_option_word(std::string_view text);

/// `text` cut to `columns` terminal columns (code points), ending in "…" where something was cut. Never splits UTF-8.
std::string ellipsized(std::string_view text, std::size_t columns);

/// The first `columns` code points of `text`.
std::string_view first_columns(std::string_view text, std::size_t columns);

/// How many columns `text` takes, one per code point.
std::size_t columns_of(std::string_view text);

/// 64-bit FNV-1a as 16 hex digits: tells contents apart, promises nothing against an attacker.
std::string content_hash(std::string_view bytes);

/// "1 task", "2 tasks".
std::string counted(std::size_t n, std::string_view noun);

}  // namespace orange
