#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace orange {

/// Splits a command line into words, with quotes and backslashes as in a shell, for a program that runs without one.
/// invalid_argument for everything that only a shell can do (`&&`, `|`, `$NAME`, `*` …); the message contains the words
/// that call a shell.
Result<std::vector<std::string>> shell_words(std::string_view text);

/// Refuses words that are shell operators, with the same error, for words that were already split.
Result<void> check_without_shell(const std::vector<std::string>& words);

}  // namespace orange
