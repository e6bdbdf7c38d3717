#include "daemon/runner/actions/actions.hpp"

namespace orange::actions {
namespace {

Awaitable<Result<void>> spawn(Context& context, const Action& action, Role role) {
    SpawnOrder order;
    order.role = role;
    order.prompt = action.param("prompt");
    order.permissions = action.param("permissions");
    order.intent = context.tx;
    return context.agents.spawn(context.record, context.definition, std::move(order));
}

}  // namespace

Awaitable<Result<void>> spawn_agent(Context& context, const Action& action) {
    return spawn(context, action, engine::spawned_role(action).value_or(Role::worker));
}

/// The last action of every transition into a state with `agent`: starts the agent if no hook has started it.
Awaitable<Result<void>> ensure_agent(Context& context, const Action& action) {
    const auto role = role_from(action.param("role")).value_or(Role::worker);
    if (context.agents.alive(context.record, role)) co_return Result<void>{};
    // A hook has requested the agent, which waits for room with the prompt of that hook.
    const auto* held = context.record.held_start(role);
    if (held && held->intent == context.tx) co_return Result<void>{};
    co_return co_await spawn(context, action, role);
}

}  // namespace orange::actions
