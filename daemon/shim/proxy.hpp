#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/model/network.hpp"

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

/// Returns the absolute path of squid: on `path` (a PATH), or where systems have it; empty if there is none.
std::string find_squid(std::string_view path);

/// Returns the configuration with which squid listens on `port` of the loopback and permits these places. Squid writes
/// a line for each request to its stderr: k_squid_line, its verdict, the method, the host, the port, and "yes" if the
/// request is for a permitted name that leads to an address inside. `is_plain`: without what some squids do not know.
std::string proxy_config(const std::vector<NetworkPlace>& places, int port, bool is_plain = false);
inline constexpr std::string_view k_squid_line = "orange-request";

}  // namespace orange

namespace orange::shim {

/// The two uses, with the words behind the option. They return an exit status only if they do not become COMMAND.
int run_with_proxy(char** words);
int run_through_proxy(char** words);

}  // namespace orange::shim
