#pragma once

#include <string>

#include "client/dashboard/state.hpp"

/// The tasks of other hosts in the list (docs/hosts.md). A host that does not answer leaves its tasks as they were.
namespace orange::dashboard {

const Link& link_of(const State& state, std::size_t host);
inline bool is_up(const State& state, std::size_t host) {
    return link_of(state, host).state == Link::State::up;
}
/// The task's host answers, or is this machine, whose daemon has texts of its own.
bool answers(const State& state, const Row& task);
/// Returns why nothing can be done with the task from here, such as "gpu does not answer; its tasks are as of 12:03".
/// Empty: something can be done.
std::string host_refusal(const State& state, const Row& task);
/// The task's id as commands take it: "box:4f2a…" on another host.
std::string id_for_commands(const State& state, const Row& task);
/// Returns the list's text for the task's host: "box", or "box 12:03" while it does not answer. Empty: this machine.
std::string host_text(const State& state, const Row& task);
/// Returns a text that names the hosts that are not connected. Empty: all are.
std::string missing_hosts(const State& state);

}  // namespace orange::dashboard
