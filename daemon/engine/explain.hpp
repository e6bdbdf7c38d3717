#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/engine/decide.hpp"

namespace orange::engine {

/// An outgoing edge of a task's state, and whether it could be taken now.
struct EdgeExplanation {
    std::string to;
    Meaning means = Meaning::none;  ///< meaning of that state
    std::vector<Role> by;           ///< roles that may ask
    bool needs_force = false;
    std::string guard;  ///< "review_round < 2", or empty
    bool guard_holds = true;
    std::string gate;                         ///< "## Handoff with a line DONE:", or empty
    std::optional<std::string> gate_problem;  ///< what is missing, as a sentence; nullopt: the gate holds
    bool open() const { return guard_holds && !gate_problem; }
};

/// Returns every outgoing edge of the task's state, in the file's order; those for attempts only of a task with some.
/// decide_request() refuses exactly the edges that are closed here, since both use the same rules.
std::vector<EdgeExplanation> explain(const Definition& definition, const TransitionFacts& given);

/// Returns the line that a refusal and `task why` print: the roles, and what the edge needs.
std::string describe(const EdgeExplanation& edge);

/// Returns the error for a refusal, with the caller's role and the open edges of the task's state.
Error explained(Refusal refusal, const Definition& definition, const TransitionFacts& given, const Caller& by);

}  // namespace orange::engine
