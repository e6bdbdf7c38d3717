#pragma once

#include <string>

/// What tests see of the machine that they run on: nothing that is installed, configured or running there, but the
/// programs that tests/CMakeLists.txt names.
namespace orange::tests {

/// The folder that is PATH for tests: links to those programs, `git` without /etc/gitconfig, and `login-shell`, which
/// reads no /etc/profile. If there is nothing to keep from git, the folder `git-itself` in it comes first.
std::string tools();

/// Called by every test program before anything else. Environment, terminal, standard input, descriptors, signals, mode
/// mask and limits become the same wherever it is started from; children inherit them.
void forget_machine();

}  // namespace orange::tests
