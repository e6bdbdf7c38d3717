#pragma once

#include <string>
#include <string_view>

namespace orange {

/// SHA-256 as 64 hex digits: for what a person agrees to, which nobody may be able to imitate. content_hash() is for
/// everything else.
std::string sha256(std::string_view bytes);

}  // namespace orange
