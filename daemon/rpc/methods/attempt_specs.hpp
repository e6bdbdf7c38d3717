#pragma once

#include <string>
#include <vector>

#include "daemon/rpc/methods/draft.hpp"

/// `task.create` for a task that several agents try (`--attempts claude,codex/gpt-5:high`).
namespace orange::rpc {

/// One of `attempts`, taken apart: HARNESS[/MODEL][:EFFORT].
struct AttemptSpec {
    std::string name;  ///< as it was given; "claude 2" for the second that was given in the same way
    std::string harness;
    std::optional<std::string> model = {};
    std::optional<std::string> effort = {};
};

/// Takes `attempts` apart. invalid_argument if there are fewer than two, or if one has another form.
Result<std::vector<AttemptSpec>> attempt_specs(const std::vector<std::string>& attempts);

/// Refuses options that a task with attempts cannot have, before anything else is looked at.
Result<void> check_attempt_options(const TaskCreate& params);

/// Checks each of the attempts as the agent of a task is checked, and puts all of them into the draft's record. Nothing
/// is written. The draft's project gets the consents that the call gives.
Awaitable<Result<void>> choose_attempts(Api& api, TaskCreate params, Draft& draft);

/// Makes the attempts of a task that has started, and starts as many as there is room for. Notes how many wait. They
/// are made by the loop of their parent, also if this call ends early.
Awaitable<void> start_attempts(Api& api, TaskId parent, Outcome& outcome);

}  // namespace orange::rpc
