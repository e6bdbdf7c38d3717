#include "daemon/runner/actions/actions.hpp"

namespace orange::actions {

/// Only notifies the queue: the next task starts after this transition, under its own lock.
Awaitable<Result<void>> spawn_next(Context& context, const Action&) {
    context.schedule(context.record.task.project);
    co_return Result<void>{};
}

}  // namespace orange::actions
