#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/commands/context.hpp"
#include "client/hosts/hosts_file.hpp"

/// The commands about this person's other machines (docs/hosts.md).
namespace orange::commands {

/// Returns the hosts of hosts.yml; none if there is no such file.
Result<std::vector<hosts::Host>> known_hosts(const Paths& paths);

/// Returns forbidden if the caller is an agent, because agents may not use other hosts.
Result<void> check_human(const Paths& paths);

/// Returns ORANGE_HOST; empty for an agent, which may have inherited it from its human.
std::string host_of_environment();

/// Runs `orange WORDS` on that host, and returns its exit status. Refused to agents. `files`: paths on this machine,
/// which are opened with this person's rights and go there through the standard input of the same ssh.
Status on_host(Context& context, const std::string& name, const std::vector<std::string>& words,
               const std::vector<std::string>& files = {});

Status host_add(Context& context, hosts::Host host);
Status host_list(Context& context);
Status host_remove(Context& context, const std::string& name);
/// Connects to a host and queries its version and daemon. Returns 1 if a part is missing.
Status host_test(Context& context, const std::string& name);

}  // namespace orange::commands
