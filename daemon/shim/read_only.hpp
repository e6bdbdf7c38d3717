#pragma once

#include <string>
#include <vector>

#include "daemon/shim/shell_line.hpp"

namespace orange::shim {

/// Whether the words are a command that only shows something, whatever its arguments name: of the common tools of a
/// terminal, and of git. No shell and no interpreter is among them, and no option that writes or starts a program.
bool only_reads(const std::vector<ShellWord>& words);

}  // namespace orange::shim
