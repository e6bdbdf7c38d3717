#include <charconv>

#include "common/base/try.hpp"
#include "daemon/runner/actions/actions.hpp"
#include "daemon/runner/branch/worktree.hpp"
#include "daemon/runner/placing/walls.hpp"

namespace orange::actions {

/// Runs the workflow's own command: argv, in the task's worktree (or the task's folder if it has no workspace), with
/// the agent's environment and a time limit (`timeout`, in seconds; 60 by default).
Awaitable<Result<void>> run_command(Context& context, const Action& action) {
    const auto& record = context.record;
    Command command;
    command.argv = action.argv;
    command.cwd = context.world.tasks.folder(record).string();
    if (record.task.workspace) {
        CO_TRY(const auto worktree, co_await open_worktree(context.world, record));
        command.cwd = worktree.path();
        command.folder = worktree.folder();
        auto task = record.task;
        auto argv = action.argv;
        CO_TRY(command.argv, co_await walls::behind(context.world, std::move(task), worktree, std::move(argv)));
    }
    command.env = context.agents.environment(record, {}, Role::system, RunId{});
    command.deadline = std::chrono::seconds(60);
    if (const auto text = action.param("timeout"); !text.empty()) {
        int seconds = 0;
        std::from_chars(text.data(), text.data() + text.size(), seconds);
        command.deadline = std::chrono::seconds(seconds);
    }
    CO_TRY(auto done, co_await context.world.processes.run(std::move(command)));
    if (!done.ok()) co_return command_failed(action.argv, done);
    co_return Result<void>{};
}

}  // namespace orange::actions
