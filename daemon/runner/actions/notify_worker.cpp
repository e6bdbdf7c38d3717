#include "daemon/engine/decide.hpp"
#include "daemon/runner/actions/actions.hpp"
#include "daemon/runner/agents/messages.hpp"

namespace orange::actions {

Awaitable<Result<void>> notify_worker(Context& context, const Action& action) {
    auto& record = context.record;
    // If no worker runs, ensure_agent starts one if the state needs it, and its prompt has the same text.
    if (!context.agents.alive(record, Role::worker)) co_return Result<void>{};
    const auto name = action.param("message");
    const auto from = record.intent ? record.intent->from : std::string();
    auto text = engine::worker_message(context.definition, record.task, from, name, record.task_file);
    co_return queue_message(context.world, context.turns, record, Role::worker, Role::system, std::move(text),
                            context.tx + "-" + name);
}

}  // namespace orange::actions
