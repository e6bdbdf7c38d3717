#pragma once

#include <string>
#include <string_view>

namespace orange {

/// Returns the words of a summary in lower-case ASCII letters and digits, joined by dashes: "Fix the login redirect" →
/// "fix-the-login-redirect". Empty if it has no letters or digits.
std::string slug_of(std::string_view summary);

}  // namespace orange
