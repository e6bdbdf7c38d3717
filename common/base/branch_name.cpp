#include "common/base/branch_name.hpp"

#include <string_view>

namespace orange {

std::string branch_name(std::string name) {
    constexpr std::string_view k_heads = "refs/heads/";
    while (name.starts_with(k_heads)) name.erase(0, k_heads.size());
    return name;
}

void note_branch(const std::string& given, std::vector<std::string>& notes) {
    const auto name = branch_name(given);
    if (name != given) notes.push_back(given + " is the branch " + name);
}

}  // namespace orange
