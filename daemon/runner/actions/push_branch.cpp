#include "common/base/try.hpp"
#include "daemon/git/publish.hpp"
#include "daemon/runner/actions/actions.hpp"

namespace orange::actions {

Awaitable<Result<void>> push_branch(Context& context, const Action&) {
    CO_TRY(const auto project, project_of(context));
    // Without the repository's lock: a remote that is silent for minutes must hold up no checkout.
    co_return co_await git::push_branch(context.world.git, project.path, context.record.task.branch);
}

}  // namespace orange::actions
