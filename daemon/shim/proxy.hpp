#pragma once

#include <string>
#include <string_view>

/// A network that leads to some places only (docs/executors.md, "Network"). The box of an agent has no network but its
/// own loopback. A proxy outside, squid, permits a list of places, and resolves their names. Two processes of
/// orange-agent connect them: one inside, which listens where the agent's programs look for their proxy, and one
/// outside, which starts squid and leads to it. They meet at a Unix socket, which the box shows.
namespace orange {

/// `orange-agent --proxy SOCKET LOG PLACE… -- COMMAND…`: starts squid for these places (common/model/network.hpp) and
/// listens on SOCKET, then becomes COMMAND, which starts the box. Both end with it. The text of what squid refuses is
/// appended to LOG. If squid cannot be started, says so on stderr and exits with 126 without COMMAND.
inline constexpr std::string_view k_proxy_option = "--proxy";
/// `orange-agent --through SOCKET -- COMMAND…`, inside: listens on k_proxy_port of the box's loopback, leads each
/// connection to SOCKET, and becomes COMMAND with the variables that name the proxy.
inline constexpr std::string_view k_through_option = "--through";

inline constexpr int k_proxy_port = 3128;

/// The variables that name a proxy, or what is reached without one.
inline constexpr std::string_view k_proxy_variables[] = {"http_proxy", "https_proxy", "all_proxy", "no_proxy",
                                                         "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"};

/// Returns the program squid: on `path`, else where distributions have it; empty if there is none.
std::string find_squid(const std::string& path);

}  // namespace orange
