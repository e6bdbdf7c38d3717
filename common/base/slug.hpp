#pragma once

#include <string>
#include <string_view>

namespace orange {

/// The words of a summary in lower-case ASCII letters and digits, joined by dashes: "Fix the login redirect" →
/// "fix-the-login-redirect". Empty if it has none.
std::string slug_of(std::string_view summary);

}  // namespace orange
