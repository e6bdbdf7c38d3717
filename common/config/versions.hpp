#pragma once

#include <string_view>

/// What Orange needs of other programs.
namespace orange {

inline constexpr std::string_view k_oldest_git = "2.38";  ///< merge-tree --write-tree
inline constexpr std::string_view k_oldest_tmux = "3.2";  ///< copy-mode -q

/// "2.39.5" against "2.36", "3.3a" against "3.2": numbers between dots, letters behind them passed over.
bool is_older(std::string_view version, std::string_view than);

/// The version in "git version 2.39.5", "tmux 3.3a", "tmux next-3.5"; empty where there is none.
std::string_view version_word(std::string_view output);

}  // namespace orange
