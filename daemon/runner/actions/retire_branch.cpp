#include "common/base/try.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/merge.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/actions/actions.hpp"

namespace orange::actions {

Awaitable<Result<void>> retire_branch(Context& context, const Action&) {
    const auto& record = context.record;
    CO_TRY(const auto project, project_of(context));
    if (!record.merge || record.merge->keep_branch || record.task.branch == project.default_branch) {
        co_return Result<void>{};
    }
    const auto lock = co_await context.world.repositories.acquire(project.path);
    const auto ref = "refs/orange/" + record.task.id.value + "/merged";
    CO_TRY(auto repo, co_await context.world.pool.known().inspect(context.world.git, project.path));
    CO_TRY(const auto gone,
           co_await git::retire_branch(context.world.git, std::move(repo), record.task.branch, record.merge->tip, ref));
    if (!gone) {
        log::info("runner", "the merged branch is kept: somebody is on it, or it has moved",
                  {{"task", record.task.id.value}});
    }
    co_return Result<void>{};
}

}  // namespace orange::actions
