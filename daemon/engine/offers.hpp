#pragma once

#include <string>
#include <vector>

#include "common/model/record.hpp"
#include "daemon/engine/definition.hpp"

namespace orange::engine {

/// Facts about a task's agents and branch that are not in its record.
struct Offering {
    bool alive = false;        ///< one of its agents runs
    bool state_alive = false;  ///< the agent that its state would start runs
    bool works = false;        ///< the agent that works in its state runs
    bool under_way = false;    ///< Orange itself does something with the task: a merge, the setup of its workspace
    bool needs_answer = false;
    bool shows_dialog = false;
    bool asks_permit = false;    ///< a request of its agents' programs waits for its human
    bool into_parent = false;    ///< it is merged into its parent's branch, without a pull request
    bool merges_later = false;   ///< the task that it is built on has to be merged first
    bool has_dev = false;        ///< there is a command with which its human can try its work
    bool is_compared = false;    ///< it is an attempt, or has some
    bool can_be_picked = false;  ///< it is an attempt, or has some, of which none is picked
    /// The offers of the attempt that was picked: what is asked of its parent is done with it.
    std::vector<std::string> of_picked = {};
    bool children_unapproved = false;  ///< some of its sub-tasks wait for their human's approval
};

/// Returns what a human can do with the task in its present state: names of methods without "task.", in the order of
/// docs/protocol.md. `merge` is one of them if the workflow leads from here to its state `done`; if only an edge with
/// `force` does, that is `force_merge`. A call may still be refused for what the state does not show: a gate, a
/// conflict. Pure. Clients show exactly these as buttons and keys, and never compare the names of states.
std::vector<std::string> offers_of(const Definition& definition, const TaskRecord& record, const Offering& sight);

}  // namespace orange::engine
