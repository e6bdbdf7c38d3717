#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/model/needs.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/children.hpp"
#include "daemon/engine/definition.hpp"

namespace orange::engine {

/// A request of an agent's program that waits for its human.
struct PermitNeed {
    std::int64_t number = 0;
    std::string text;       ///< a sentence
    bool is_short = false;  ///< the sentence says all of it
    Timestamp since{};
};

/// Facts about a task at this moment that are not in its record.
struct NeedFacts {
    bool agent_alive = false;  ///< the agent that the task's state needs lives
    bool idle = false;         ///< it has finished its turn, or waits for a message
    bool idle_long = false;    ///< it has been idle for a while
    bool restarting = false;   ///< a dead agent is started again without its human
    bool ending = false;       ///< the agent has ended, and what follows is not decided yet
    std::string under_way;     ///< what Orange itself does with the task, if anything: "a merge …"
    bool room = false;         ///< a workspace is free, and no event would start the queued task
    std::int64_t queue_place = 0;
    std::string held_back;  ///< why its agent is not started yet, if Orange will start it: "waits for a reviewer (…)"
    bool held_for_human = false;      ///< Orange will not start it by itself; `held_back` says why
    std::string waits_for;            ///< the tasks that have to be done first, in words
    std::string gone;                 ///< those of them that will never be done
    std::string merged_first;         ///< the task that it is built on, if that is not merged, as people type it
    std::string below_gone;           ///< what became of that one if it will never be done: "is deleted"
    TaskId below;                     ///< that one
    Children children;                ///< its sub-tasks
    bool waits_for_pick = false;      ///< an attempt, and its human has not picked one yet
    bool parent_there = false;        ///< the parent exists and has not ended, so that its human looks at it
    std::string continued_by;         ///< the task that goes on with its work, as people type it
    std::vector<std::string> living;  ///< names of the roles whose agents live
    std::int64_t answered = 0;        ///< comments on lines that were answered, and neither resolved nor asked again
    std::optional<PermitNeed> permit = {};  ///< the oldest request of its agents' programs that waits
    std::string clash;        ///< a clause about another task in its human's review; empty: their work can be merged
    std::string preview_url;  ///< where its human can try the work; empty: it does not run
};

/// True if an agent works in this state. A workflow that does not say so with `agent` has an exit rule for the state
/// that does more than mark the agent as dead, or at least a respawn_prompt.
bool is_for_agent(const Definition& definition, const State& state);

/// Returns what the task needs from its human. Help comes before an answer, then a review, then a start. No other code
/// decides that.
Needs needs_of(const Definition& definition, const TaskRecord& record, const NeedFacts& sight);

}  // namespace orange::engine
