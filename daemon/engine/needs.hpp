#pragma once

#include <string>
#include <vector>

#include "common/model/needs.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/children.hpp"
#include "daemon/engine/definition.hpp"

namespace orange::engine {

/// What the record does not say of a task at this moment.
struct Sight {
    bool agent_alive = false;  ///< the agent that the task's state wants
    bool idle = false;         ///< it has finished its turn, or waits for a message
    bool idle_long = false;    ///< and has been so for a while
    bool restarting = false;   ///< a dead agent is started again without its human
    std::string under_way;     ///< what Orange itself does with the task, if anything: "a merge …"
    bool room = false;         ///< the task is queued, and nothing that ends would start it: a workspace is free
    std::int64_t queue_place = 0;
    std::string held_back;  ///< why its agent is not started yet, although Orange will: "waits for a reviewer (…)"
    bool held_for_human = false;      ///< Orange will not start it by itself, `held_back` says why
    std::string waits_for;            ///< the tasks that have to be done first, as people type them
    std::string gone;                 ///< those of them that never will be
    Children children;                ///< its sub-tasks
    bool parent_there = false;        ///< and has not ended, so that its human looks at it
    std::vector<std::string> living;  ///< names of the roles whose agents live
};

/// An agent is to work in this state. A workflow that does not say so with `agent` says what follows from the agent's
/// end, other than that it is dead, or at least how it is started again.
bool is_for_agent(const Definition& definition, const State& state);

/// What the task needs from its human; help comes before an answer, that before a review, that before a start. The one
/// place that decides it.
Needs needs_of(const Definition& definition, const TaskRecord& record, const Sight& sight);

}  // namespace orange::engine
