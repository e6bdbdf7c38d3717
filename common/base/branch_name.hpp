#pragma once

#include <string>
#include <vector>

namespace orange {

/// The name of a branch, of what a person, a file or git gives for it: "refs/heads/fix" is the branch "fix".
std::string branch_name(std::string name);

/// Adds a sentence that says which branch `given` is, unless it is just the branch's name.
void note_branch(const std::string& given, std::vector<std::string>& notes);

}  // namespace orange
