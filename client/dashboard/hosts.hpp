#pragma once

#include <string>

#include "client/dashboard/state.hpp"

/// The tasks of other hosts in the list (docs/hosts.md). If a host does not answer, its tasks stay as they were.
namespace orange::dashboard {

const Link& link_of(const State& state, std::size_t host);
inline bool is_up(const State& state, std::size_t host) {
    return link_of(state, host).state == Link::State::up;
}
/// Returns true if the task's host answers, or is this machine, whose daemon has messages of its own.
bool answers(const State& state, const Row& task);
/// Returns why the task cannot be changed from here, such as "gpu does not answer; its tasks are as of 12:03"; empty if
/// it can.
std::string host_refusal(const State& state, const Row& task);
/// Returns the task's id for commands: "box:4f2a…" on another host.
std::string id_for_commands(const State& state, const Row& task);
/// Returns the task's host for the list: "box", or "box 12:03" if it does not answer; empty for this machine.
std::string host_text(const State& state, const Row& task);
/// Returns a text with the hosts that are not connected; empty if all are.
std::string missing_hosts(const State& state);

}  // namespace orange::dashboard
