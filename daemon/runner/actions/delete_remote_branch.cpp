#include "daemon/git/branches.hpp"
#include "daemon/runner/actions/actions.hpp"

namespace orange::actions {

Awaitable<Result<void>> delete_remote_branch(Context& context, const Action&) {
    const auto project = project_of(context);
    if (!project) co_return project.error();
    if (context.record.task.branch == project->default_branch) co_return Result<void>{};
    const auto origin = co_await git::has_origin(context.world.git, project->path);
    if (!origin) co_return origin.error();
    if (!*origin) co_return Result<void>{};
    co_return co_await git::delete_remote_branch(context.world.git, project->path, context.record.task.branch,
                                                 project->default_branch);
}

}  // namespace orange::actions
