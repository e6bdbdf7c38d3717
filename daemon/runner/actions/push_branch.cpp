#include "daemon/git/git.hpp"
#include "daemon/runner/actions/actions.hpp"

namespace orange::actions {

Awaitable<Result<void>> push_branch(Context& context, const Action&) {
    const auto project = project_of(context);
    if (!project) co_return project.error();
    const auto ref = "refs/heads/" + context.record.task.branch;
    GitCommand push;
    push.dir = project->path;
    push.args = {"push", "--porcelain", "--end-of-options", "origin", ref + ":" + ref};
    const auto lock = co_await context.world.repositories.acquire(project->path);
    auto pushed = co_await git_output(context.world.git, push);
    if (!pushed) co_return in_context("pushing " + context.record.task.branch, pushed.error());
    co_return Result<void>{};
}

}  // namespace orange::actions
