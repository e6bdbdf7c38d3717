#pragma once

#include <string>
#include <string_view>

#include "common/base/result.hpp"

namespace orange {

/// The key that detaches from an agent's terminal without tmux's prefix: `detach_key` of config.yml.
struct DetachKey {
    std::string name = "C-q";  ///< tmux's name of the key; empty: none, only the prefix and d

    /// Returns the key as keyboards show it, "Ctrl-q"; empty if there is none.
    std::string spoken() const;
    bool operator==(const DetachKey&) const = default;
};

/// Parses "C-q", "Ctrl-q", "M-q", "Alt-q", "C-M-q", "F12" or "off". A key that types text, or that terminals and tmux
/// need, is an invalid_argument whose message names possible keys.
Result<DetachKey> detach_key_from(std::string_view text);

}  // namespace orange
