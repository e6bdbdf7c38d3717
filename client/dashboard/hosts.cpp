#include "client/dashboard/hosts.hpp"

#include "client/output/local_time.hpp"
#include "common/base/text.hpp"

namespace orange::dashboard {
namespace {

/// Returns "12:03"; empty for a host that has never answered.
std::string heard_text(const OtherHost& host) {
    if (host.heard == Timestamp{}) return {};
    return output::local_clock(to_rfc3339(host.heard)).substr(0, 5);
}

bool is_silent(const OtherHost& host) {
    return host.link.state != Link::State::up || host.link.silent;
}

}  // namespace

const Link& link_of(const State& state, std::size_t host) {
    return host == 0 ? state.link : state.hosts[host - 1].link;
}

bool answers(const State& state, const Row& task) {
    return task.host == 0 || !is_silent(state.hosts[task.host - 1U]);
}

std::string host_refusal(const State& state, const Row& task) {
    if (task.host == 0) return {};
    const auto& host = state.hosts[task.host - 1U];
    if (is_silent(host)) return host.name + " does not answer; its tasks are as of " + heard_text(host);
    if (host.read_only) return "The key for " + host.name + " may only look";
    return {};
}

std::string id_for_commands(const State& state, const Row& task) {
    return task.host == 0 ? task.id : state.hosts[task.host - 1U].name + ":" + task.id;
}

std::string host_text(const State& state, const Row& task) {
    if (task.host == 0) return {};
    const auto& host = state.hosts[task.host - 1U];
    return is_silent(host) ? host.name + " " + heard_text(host) : host.name;
}

std::string missing_hosts(const State& state) {
    std::string names, twins;
    int count = 0;
    for (const auto& host : state.hosts) {
        if (host.lost || host.link.silent) names += (count++ == 0 ? "" : ", ") + host.name;
        if (!host.twin.empty()) twins += "  " + host.name + " is " + host.twin;
    }
    if (count > 1) return std::to_string(count) + " hosts do not answer: " + names + twins;
    return (names.empty() ? "" : names + " does not answer") + twins;
}

}  // namespace orange::dashboard
