#pragma once

#include <string>
#include <vector>

#include "daemon/engine/definition.hpp"

/// Functions that all formats of graph.hpp share. Private to this folder.
namespace orange::workflow {

/// A transition as a graph shows it: from one state, or from all states for which a "*" stands.
struct GraphEdge {
    std::vector<std::string> from;
    std::string to;
    const engine::Transition* transition = nullptr;
};

/// Returns the transitions from single states, in the order of states and of targets_from(). Lists of states are
/// expanded.
std::vector<GraphEdge> edges_of_states(const engine::Definition& definition);
/// Returns the transitions from "*", each with the states that have no more specific transition.
std::vector<GraphEdge> edges_of_any(const engine::Definition& definition);

/// Returns who may request it, for example "worker, human, system" or "anyone", with ", only with --force" if needed.
std::string asker_text(const engine::Transition& transition);
/// Returns what its gate needs, for example "## Handoff with DONE or REMAINING, fresh"; empty without a gate.
std::string need_text(const engine::Transition& transition);
/// Returns the condition under which Orange takes it automatically because of sub-tasks; empty if Orange never does.
std::string by_itself_text(const engine::Definition& definition, const GraphEdge& edge);
/// Returns its hooks, for example "kill_session, spawn_agent (worker)"; empty without hooks.
std::string hook_text(const engine::Transition& transition);

/// Returns the states on the shortest path from the first to a terminal state, by transitions that need no force. The
/// path avoids `cancelled`, `stuck`, `clarification` and states that wait for sub-tasks. Only the first state if there
/// is none.
std::vector<std::string> straight_way(const engine::Definition& definition);

}  // namespace orange::workflow
