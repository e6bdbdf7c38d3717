#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/commands/context.hpp"

/// Lists of tasks over all hosts of hosts.yml (docs/hosts.md). Only a host's own answer counts: without one, its tasks
/// are unknown, and no conclusion is drawn.
namespace orange::commands {

/// A query for all hosts.
struct HostQuery {
    std::string name;                    ///< "inbox" or "list"; names the file with the last answer
    std::vector<std::string> words;      ///< the words behind `orange`; --json is added
    std::optional<std::string> project;  ///< only tasks of this project
    bool is_whole = true;                ///< no other filter: the answer is stored, and used if a later query fails
};

/// Adds the tasks of the hosts to this machine's reply of `task.list`. Each task gets its `host`, and a `short_id` that
/// includes it, as people type it. `hosts` tells for each host whether it answered, and the age of its tasks. Without
/// hosts, or for an agent, the reply stays unchanged.
Result<Json> with_hosts(const Context& context, Result<Json> here, const HostQuery& query);

/// Puts the host in front of every `short_id` in `json`: "box:4f2a". Does nothing for this machine, whose name is
/// empty.
void name_host(Json& json, const std::string& host);

/// Puts the host in front of the task's id in the commands of its notices, so that they can be copied.
void name_host_in_notices(Json& task, const std::string& host);

/// Returns a line for each host of such a reply that has an error: its message, and the age of its tasks if they are
/// old.
std::string silent_hosts(const Json& reply);

/// Returns the reply with the hosts in its ids, for a format.
Json with_host_ids(Json reply);

/// Returns the short ids (without the host) and "status: summary" of a host's tasks in its last answers; empty if there
/// are none.
std::vector<std::pair<std::string, std::string>> remembered_tasks(const Paths& paths, const std::string& host);

/// Removes the last answers of a host.
void forget_host(const Paths& paths, const std::string& host);

}  // namespace orange::commands
