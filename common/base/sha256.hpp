#pragma once

#include <string>
#include <string_view>

namespace orange {

/// Returns SHA-256 as 64 hex digits: for texts that a person agrees to, where an attacker must not find another text
/// with the same hash. Everything else uses content_hash().
std::string sha256(std::string_view bytes);

}  // namespace orange
