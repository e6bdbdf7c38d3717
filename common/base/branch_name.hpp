#pragma once

#include <string>

namespace orange {

/// The name of a branch, of what a person, a file or git gives for it: "refs/heads/fix" is the branch "fix".
std::string branch_name(std::string name);

}  // namespace orange
