#include "common/base/branch_name.hpp"

#include <string_view>

namespace orange {

std::string branch_name(std::string name) {
    constexpr std::string_view k_heads = "refs/heads/";
    while (name.starts_with(k_heads)) name.erase(0, k_heads.size());
    return name;
}

}  // namespace orange
