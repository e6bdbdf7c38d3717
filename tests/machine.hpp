#pragma once

#include <string>

/// Hides the machine that tests run on: they see nothing that is installed, configured or running there, except the
/// programs that tests/CMakeLists.txt names.
namespace orange::tests {

/// The folder that is PATH for tests: links to those programs, `git` (support/git.cpp), and `login-shell`, which reads
/// no /etc/profile.
std::string tools();

/// Every test program calls this before anything else. It makes environment, terminal, standard input, descriptors,
/// signals, umask and limits the same wherever the program is started from. Children inherit them.
void forget_machine();

}  // namespace orange::tests
