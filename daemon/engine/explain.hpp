#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/engine/decide.hpp"

namespace orange::engine {

/// An outgoing edge of a task's state, and whether it could be taken now.
struct EdgeExplanation {
    std::string to;
    Meaning means = Meaning::none;  ///< of that state
    std::vector<Role> by;           ///< who may ask; `anyone` resolved to the roles it means
    bool needs_force = false;
    std::string guard;  ///< "review_round < 2", or empty
    bool guard_holds = true;
    std::string gate;                         ///< "## Handoff with a line DONE:", or empty
    std::optional<std::string> gate_problem;  ///< what is missing, as a sentence; nothing: the gate holds
    bool open() const { return guard_holds && !gate_problem; }
};

/// Every outgoing edge of the task's state, in the file's order. decide_request() rejects exactly what this shows as
/// closed: both read the same rules.
std::vector<EdgeExplanation> explain(const Definition& definition, const Situation& situation);

/// "worker, human" with what each edge needs: the lines that a rejection and `task why` print.
std::string describe(const EdgeExplanation& edge);

/// A refusal in words, with the role as which the caller was identified, and the open edges of the task's state.
Error explained(Refusal refusal, const Definition& definition, const Situation& situation, const Caller& by);

}  // namespace orange::engine
