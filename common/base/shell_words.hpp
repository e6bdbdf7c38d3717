#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace orange {

/// The words of a command line, with quotes and backslashes as in a shell, for a program that is run without one.
/// invalid_argument for what only a shell can do (`&&`, `|`, `$NAME`, `*` …), with the words that ask for a shell.
Result<std::vector<std::string>> shell_words(std::string_view text);

/// The same refusal for words that were split already: one of them is an operator.
Result<void> check_without_shell(const std::vector<std::string>& words);

}  // namespace orange
