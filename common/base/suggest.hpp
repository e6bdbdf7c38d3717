#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What a person may have meant by a word that nothing is called.
namespace orange {

/// What is longer is not a word, and nothing is suggested for it.
constexpr std::size_t k_longest_word = 64;

/// How many mistakes make one of the other, ignoring case: a character that is inserted, removed or replaced, or two
/// neighbours that are swapped.
std::size_t edit_distance(std::string_view first, std::string_view second);

/// The one of `known` that is close to `word`, if any is.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

/// "; did you mean spawn_agent?" if one of `known` is close to `word`, else "; known: a, b, c".
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

}  // namespace orange
