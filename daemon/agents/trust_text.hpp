#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

/// One key put into the text of a configuration file that belongs to somebody else: everything that was there stays as
/// it is, byte for byte.
namespace orange::agents {

enum class KeyState { missing, there, different };

struct KeyEdit {
    KeyState state = KeyState::missing;
    std::string text;   ///< with the key, where it was missing; else as it was
    std::string found;  ///< where `different`: the value there is
};

/// `value` as JSON writes it. invalid_argument for a text that is no JSON object, or has something else than an object
/// on the way to the key.
Result<KeyEdit> json_with_key(std::string_view text, const std::vector<std::string>& path, const std::string& value);

/// The same for TOML. invalid_argument, too, for a table that is written in a form which a further key cannot be added
/// to without rewriting it (inline, by dotted keys, as an array of tables).
Result<KeyEdit> toml_with_key(std::string_view text, const std::vector<std::string>& path, const std::string& value);

}  // namespace orange::agents
