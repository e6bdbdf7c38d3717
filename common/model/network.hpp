#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

/// The setting `network`: where the agents of a project may connect to (docs/executors.md, "Network").
namespace orange {

/// A place that a list of the setting names.
struct NetworkPlace {
    std::string host;         ///< "api.example.org", ".example.org" (it and all below it), or an address, "10.1.2.0/24"
    std::optional<int> port;  ///< absent: 80 and 443
    bool is_address = false;  ///< of IPv4, or of IPv6 without brackets; perhaps with the length of a prefix
    bool operator==(const NetworkPlace&) const = default;
};

struct Network {
    enum class Kind { full, none, list };
    Kind kind = Kind::full;
    std::vector<NetworkPlace> places;  ///< of a list

    bool is_limited() const { return kind != Kind::full; }
    bool operator==(const Network&) const = default;
};

/// Parses "full", "none", or places with blanks or commas between them: "api.example.org .example.net:8443 [fd00::1]".
/// invalid_argument says which place is wrong, and how it is written.
Result<Network> network_in(std::string_view text);

/// Returns the place as a list has it.
std::string text_of(const NetworkPlace& place);
/// Returns the network as the setting has it, with one blank between places.
std::string text_of(const Network& network);

}  // namespace orange
