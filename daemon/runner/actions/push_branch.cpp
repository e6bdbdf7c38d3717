#include "common/base/try.hpp"
#include "daemon/git/publish.hpp"
#include "daemon/runner/actions/actions.hpp"

namespace orange::actions {

Awaitable<Result<void>> push_branch(Context& context, const Action&) {
    CO_TRY(const auto project, project_of(context));
    // Without the repository's lock: a remote that is silent for minutes must hold up no checkout.
    CO_TRY(co_await git::push_branch(context.world.git, project.path, context.record.task.branch));
    co_return Result<void>{};
}

}  // namespace orange::actions
