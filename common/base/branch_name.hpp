#pragma once

#include <string>
#include <vector>

namespace orange {

/// Returns the plain name of a branch for the ways in which people, files and git write it: "refs/heads/fix" is "fix".
std::string branch_name(std::string name);

/// Adds a sentence that says which branch `given` is, unless it is just the branch's name.
void note_branch(const std::string& given, std::vector<std::string>& notes);

}  // namespace orange
