#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orange::store {

/// The headings of the sections of `before` that `after` does not have any more, in the order of `before`. One that is
/// still there, but inside a code fence that nothing closes, is not lost.
std::vector<std::string> lost_sections(std::string_view before, std::string_view after);

/// `after` with those sections of `before` at its end. If something that is open there would swallow them, they come at
/// its beginning; if the text there would belong to the last of them, what is open is closed. `after` as it is if none
/// of this leaves all sections of both what they are.
std::string with_sections_back(std::string_view before, std::string_view after, const std::vector<std::string>& lost);

}  // namespace orange::store
