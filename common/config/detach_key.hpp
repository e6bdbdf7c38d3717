#pragma once

#include <string>
#include <string_view>

#include "common/base/result.hpp"

namespace orange {

/// The key that leaves the terminal of an agent without tmux's prefix: `detach_key` of config.yml.
struct DetachKey {
    std::string name = "C-q";  ///< as tmux calls it; empty: there is none, only the prefix and d

    /// "Ctrl-q", as it is written on keyboards; empty if there is none.
    std::string spoken() const;
    bool operator==(const DetachKey&) const = default;
};

/// "C-q", "Ctrl-q", "M-q", "Alt-q", "C-M-q", "F12" or "off". A key that types text, or that terminals and tmux
/// need, is an invalid_argument whose message names keys that are possible.
Result<DetachKey> detach_key_from(std::string_view text);

}  // namespace orange
