#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

/// Merges texts line by line. All functions are pure, and their cost grows with the length of the texts and not with
/// the number of differences.
namespace orange::store {

/// Merges the changes from `base` to `mine` and from `base` to `theirs`. If both change the same place, the lines that
/// either of them added stay, `mine` first, and the lines that either of them removed go. A line that both added there
/// appears once.
std::string merge_lines(std::string_view base, std::string_view mine, std::string_view theirs);

/// Returns the lines of both texts, in the order of both where they agree.
std::string all_lines(std::string_view mine, std::string_view theirs);

/// Returns the lines that are not blank, without the blanks around them.
std::unordered_set<std::string_view> lines_of(std::string_view text);

/// Returns true if `now` is the line `before` with more words at its end, or with the box of a list ticked: its author
/// changed the line and did not remove it.
bool is_changed_line(std::string_view before, std::string_view now);

/// Returns the hashes of the lines that are not blank, sorted; a ticked box counts like an empty one.
std::vector<std::size_t> line_hashes(std::string_view text);

/// Returns the number of lines that are in only one of two texts, whose line_hashes() are given.
std::size_t distance(const std::vector<std::size_t>& one, const std::vector<std::size_t>& other);

}  // namespace orange::store
