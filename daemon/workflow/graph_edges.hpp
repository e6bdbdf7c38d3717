#pragma once

#include <string>
#include <vector>

#include "daemon/engine/definition.hpp"

/// What the pictures of graph.hpp have in common. Private to this folder.
namespace orange::workflow {

/// One transition as a picture shows it: from one state, or from all states that a "*" stands for.
struct GraphEdge {
    std::vector<std::string> from;
    std::string to;
    const engine::Transition* transition = nullptr;
};

/// From single states, in the order of states and of targets_from(); lists are written out.
std::vector<GraphEdge> edges_of_states(const engine::Definition& definition);
/// Those of "*", each with the states for which no closer entry takes its place.
std::vector<GraphEdge> edges_of_any(const engine::Definition& definition);

/// "worker, human, system", "anyone"; with ", only with --force" where that is needed.
std::string asker_text(const engine::Transition& transition);
/// "## Handoff with DONE or REMAINING, fresh"; empty without a gate.
std::string need_text(const engine::Transition& transition);
/// When Orange takes it by itself for the sub-tasks' sake; empty: it does not.
std::string by_itself_text(const engine::Definition& definition, const GraphEdge& edge);
/// "kill_session, spawn_agent (worker)"; empty without hooks.
std::string hook_text(const engine::Transition& transition);

/// The states from the first to the nearest terminal one, by transitions that need no force;
/// `stuck` and `clarification` are no part of it.
std::vector<std::string> straight_way(const engine::Definition& definition);

}  // namespace orange::workflow
