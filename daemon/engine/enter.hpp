#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/model/record.hpp"
#include "daemon/engine/decide.hpp"

namespace orange::engine {

/// What a task takes along into a state, besides the decision.
struct Entrance {
    std::string tx;  ///< random; becomes the intent's id
    Caller by;
    Timestamp at{};
    std::map<std::string, std::string> sections;  ///< heading → hash: what `fresh` gates will compare with
    std::vector<Notice> notices_before;           ///< those that the transition ends
};

/// Makes of `record` what the commit point of a transition writes: in the new state, with the intent. The only place
/// where the status of a task changes. Transitions and Creation save the result.
void enter(TaskRecord& record, const Definition& definition, const Decision& decision, Entrance entrance);

}  // namespace orange::engine
