#include "common/base/try.hpp"
#include "daemon/git/publish.hpp"
#include "daemon/runner/actions/actions.hpp"

namespace orange::actions {

Awaitable<Result<void>> push_branch(Context& context, const Action&) {
    CO_TRY(const auto project, project_of(context));
    // The repository's lock is not held: a remote that is silent for minutes must not block checkouts.
    CO_TRY(co_await git::push_branch(context.world.git, project.path, context.record.task.branch));
    co_return Result<void>{};
}

}  // namespace orange::actions
