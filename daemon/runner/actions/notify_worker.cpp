#include "daemon/runner/actions/actions.hpp"

namespace orange::actions {
namespace {

/// What stands behind the short names of a workflow. Constants: the agent reads content in the file, never here.
std::string message_text(const std::string& name, const std::string& file) {
    if (name == "passed") return "The review passed. Nothing more to do; wait.";
    if (name == "failed") {
        return "The review failed. Read ## Review in " + file +
               ", fix each point, update ## Handoff, then run: orange task update --status agent-review.";
    }
    if (name == "changes_requested") {
        return "The human asks for changes. Read ## Feedback in " + file +
               ", make them, update ## Handoff, then run: orange task update --status agent-review.";
    }
    return name;
}

}  // namespace

Awaitable<Result<void>> notify_worker(Context& context, const Action& action) {
    auto& record = context.record;
    if (context.agents.alive(record, Role::worker)) {
        const auto message = action.param("message");
        co_return context.agents.queue_message(record, Role::worker, Role::system,
                                               message_text(message, record.task_file), context.tx + "-" + message);
    }
    // Nobody is there to be told: ensure_agent starts a worker whose prompt says the same, where the state wants one.
    co_return Result<void>{};
}

}  // namespace orange::actions
