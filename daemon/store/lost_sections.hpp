#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orange::store {

/// Returns the headings of the sections of `before` that `after` does not have, in the order of `before`. A section
/// that is still there, but inside an unclosed code fence, does not count as lost.
std::vector<std::string> lost_sections(std::string_view before, std::string_view after);

/// Returns `after` with the lost sections of `before` at its end. If an open fence or comment would swallow them there,
/// they go to the beginning; if text of `after` would then belong to the last of them, the fence or comment is closed
/// instead. Returns `after` unchanged if none of this keeps all sections of both texts intact.
std::string with_sections_back(std::string_view before, std::string_view after, const std::vector<std::string>& lost);

}  // namespace orange::store
