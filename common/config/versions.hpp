#pragma once

#include <string_view>

/// The versions of other programs that Orange needs, and how versions are read and compared.
namespace orange {

inline constexpr std::string_view k_oldest_git = "2.38";  ///< merge-tree --write-tree
inline constexpr std::string_view k_oldest_tmux = "3.2";  ///< copy-mode -q

/// Compares versions by the numbers between dots ("2.39.5", "3.3a"); letters behind a number are ignored.
bool is_older(std::string_view version, std::string_view than);

/// Returns the version in "git version 2.39.5", "tmux 3.3a", "tmux next-3.5"; empty if there is none.
std::string_view version_word(std::string_view output);

}  // namespace orange
