#include "daemon/runner/actions/actions.hpp"

namespace orange::actions {

/// Only asks: the next task is started on its own, after this transition, under its own lock.
Awaitable<Result<void>> spawn_next(Context& context, const Action&) {
    context.kick(context.record.task.project);
    co_return Result<void>{};
}

}  // namespace orange::actions
