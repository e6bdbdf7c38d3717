#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/model/record.hpp"
#include "daemon/engine/decide.hpp"

namespace orange::engine {

/// The values with which a task enters a state, besides the decision.
struct Entrance {
    std::string tx;  ///< random; becomes the intent's id
    Caller by;
    Timestamp at{};
    std::map<std::string, std::string> sections;  ///< heading → hash, for `fresh` gates to compare with
    std::vector<Notice> notices_before;           ///< the notices that the transition ends
};

/// Returns why a task is in a status that its agent asked for, as moved_because says it.
std::string set_by(Role role);
/// Returns the same for an agent that made the task stuck, or how that begins if it says more.
std::string cannot_go_on(Role role);

/// Changes `record` into what the commit point of a transition writes: in the new state, with the intent. No other code
/// changes the status of a task. Transitions and Creation save the result.
void enter(TaskRecord& record, const Definition& definition, const Decision& decision, Entrance entrance);

}  // namespace orange::engine
