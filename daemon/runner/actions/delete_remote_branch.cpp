#include "common/base/try.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/runner/actions/actions.hpp"

namespace orange::actions {

Awaitable<Result<void>> delete_remote_branch(Context& context, const Action&) {
    CO_TRY(const auto project, project_of(context));
    const auto& record = context.record;
    if (record.task.branch == project.default_branch) co_return Result<void>{};
    if (record.merge && !record.merge->push && !record.merge->elsewhere) co_return Result<void>{};  // origin lacks it
    CO_TRY(const auto origin, co_await context.world.pool.known().has_origin(context.world.git, project.path));
    if (!origin) co_return Result<void>{};
    std::vector<std::string> merged = {"refs/heads/" + project.default_branch};
    // The local branch may be behind, and work that was squashed elsewhere is in no branch as it is.
    if (record.merge && record.merge->phase == MergePhase::done) {
        merged = {record.merge->commit, record.merge->tip};
        if (record.merge->pull != 0 && record.pull_request) merged.push_back(record.pull_request->commit);
    }
    co_return co_await git::delete_remote_branch(context.world.git, project.path, record.task.branch,
                                                 std::move(merged));
}

}  // namespace orange::actions
