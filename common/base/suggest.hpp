#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Suggests what a person may have meant by an unknown word.
namespace orange {

/// The length above which suggestions are not made.
constexpr std::size_t k_longest_word = 64;

/// Returns the number of typing mistakes between two words, ignoring case: a character that is inserted, removed or
/// replaced, or two neighbours that are swapped.
std::size_t edit_distance(std::string_view first, std::string_view second);

/// Returns the word of `known` that is closest to `word`; nothing if none is close.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

/// Returns "; did you mean spawn_agent?" if a word of `known` is close to `word`, otherwise "; known: a, b, c".
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

}  // namespace orange
