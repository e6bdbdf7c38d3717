#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/commands/context.hpp"
#include "client/hosts/hosts_file.hpp"

/// The other machines of this person (docs/hosts.md).
namespace orange::commands {

/// The hosts of hosts.yml; none if there is no such file.
Result<std::vector<hosts::Host>> known_hosts(const Paths& paths);

/// An error (forbidden) if an agent calls, which may not use other hosts.
Result<void> check_human(const Paths& paths);

/// ORANGE_HOST. Empty for an agent, which may have it from its human.
std::string host_of_environment();

/// Runs `orange WORDS` on that host; its exit status. Refused to agents.
int on_host(Context& context, const std::string& name, const std::vector<std::string>& words);

int host_add(Context& context, hosts::Host host);
int host_list(Context& context);
int host_remove(Context& context, const std::string& name);
/// Connects, and asks for the version and the daemon. 1 where something is missing.
int host_test(Context& context, const std::string& name);

}  // namespace orange::commands
