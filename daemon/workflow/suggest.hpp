#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orange::workflow {

/// "; did you mean spawn_agent?" where one of `known` is close to `word`, else "; known are a, b, c".
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

}  // namespace orange::workflow
