#pragma once

#include <string>
#include <string_view>

namespace orange {

/// Returns SHA-256 as 64 hex digits. Every hash that decides something is one: an agent must not find another text with
/// the same hash. Caches use fast_hash().
std::string sha256(std::string_view bytes);

/// True if `hash` is the hash of these bytes. Versions before 0.10 recorded fast_hash(), 16 digits: such a hash is
/// compared as it was made, so that no record of an older version looks changed.
bool is_hash_of(std::string_view hash, std::string_view bytes);

/// True for a text that is_hash_of() can compare, which is safe as a file's name.
bool is_content_hash(std::string_view text);

}  // namespace orange
