#pragma once

#include <string>
#include <vector>

#include "common/model/network.hpp"
#include "daemon/agents/executor.hpp"
#include "daemon/process/environment.hpp"
#include "daemon/runner/world.hpp"

/// These functions keep the agents of a project, and its commands behind their wall, to its setting `network`
/// (docs/executors.md, "Network"). The words of an executor take the network of a box away. For a list of places, two
/// processes of orange-agent lead from the box to a proxy outside (daemon/shim/proxy.hpp).
namespace orange::networks {

/// Returns the network of the project's agents; that of config.yml for a project that is not registered.
Network network_of(const World& world, const std::string& project);

/// Fails if an executor cannot keep the agents of the project to its network: conflict if it cannot take the network
/// away from them, not_found if there is no squid for a list of places. `executor`: null for `local`.
Result<void> check(const World& world, const std::string& project, const agents::Executor* executor,
                   const Environment& env);

/// Fails with not_found if the proxy that a list of places needs is not installed.
Result<void> find_proxy(const Environment& env);

/// Removes the variables that name another proxy, if the network is limited.
void forget_proxies(const Network& network, Environment& env);

/// The place where the proxy of a box is met: a socket, which the box shows, and the file for what is refused.
struct Proxy {
    std::string socket;
    std::string log;
};
/// Returns that file of a task: the places that its agents and commands were refused.
std::string log_of(const World& world, const Task& task);

/// Returns the words that run `inner` in a box with that network: `inner` itself, or, for a list, behind the process
/// that leads to the proxy.
std::vector<std::string> inside(const World& world, const Network& network, const Proxy& proxy,
                                std::vector<std::string> inner);
/// Returns the words that start `box`: itself, or, for a list, with the proxy.
std::vector<std::string> around(const World& world, const Network& network, const Proxy& proxy,
                                std::vector<std::string> box);

}  // namespace orange::networks
