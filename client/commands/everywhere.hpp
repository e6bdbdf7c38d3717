#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/commands/context.hpp"

/// Lists of tasks over all hosts of hosts.yml (docs/hosts.md). A host is asked, and nothing else: what it does not say
/// is not known, and nothing follows from that.
namespace orange::commands {

/// A question that every host gets.
struct HostQuery {
    std::string name;                    ///< "inbox" or "list": of the file with the last answer
    std::vector<std::string> words;      ///< behind `orange`; --json is added
    std::optional<std::string> project;  ///< the only one
    bool is_whole = true;                ///< without other filters: an answer is kept, and stands in for one that fails
};

/// Adds the tasks of the hosts to a `task.list` reply of this machine. Each has its `host`, and a `short_id` with it,
/// as people type it. `hosts` says of each host whether it answered, and of when its tasks are. A reply without hosts
/// (there are none, or an agent asks) is as it was.
Result<Json> with_hosts(const Context& context, Result<Json> here, const HostQuery& query);

/// Puts the host before every `short_id` in `json`: "box:4f2a". Nothing for this machine, whose name is empty.
void name_host(Json& json, const std::string& host);

/// A line for each host of such a reply that did not answer.
std::string silent_hosts(const Json& reply);

/// The ids with their hosts, for a format.
Json with_host_ids(Json reply);

/// The names of a host's tasks in its last answers, and what they are.
std::vector<std::pair<std::string, std::string>> remembered_tasks(const Paths& paths, const std::string& host);

/// Removes the last answers of a host.
void forget_host(const Paths& paths, const std::string& host);

}  // namespace orange::commands
