#pragma once

#include <string>
#include <vector>

namespace orange {

/// What a call tells its human beside the task itself.
struct Outcome {
    std::vector<std::string> notes;
    std::string spawn_error;  ///< why an agent that was to start did not; empty: all did
};

}  // namespace orange
