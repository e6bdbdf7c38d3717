#include "daemon/agents/survivors.hpp"

#include "daemon/async/async.hpp"
#include "daemon/log/log.hpp"
#include "daemon/process/stray_processes.hpp"

namespace orange::agents {
namespace {

Awaitable<void> end_all(process::Ending ending, std::string what, log::Fields fields) {
    if (ending.left() == 0) co_return;
    fields["processes"] = std::to_string(ending.left());
    log::warn("agents", what, fields);
    while (ending.step()) {
        co_await async::sleep(process::Ending::k_step);
        ending.refresh();
    }
}

}  // namespace

Awaitable<void> end_survivors(AgentRun run, Path worktree) {
    if (run.run.empty()) co_return;
    process::Ending ending([run, worktree] { return process::left_by_run(run.run.value, run.pid, worktree.string()); });
    log::Fields fields;
    fields["run"] = run.run.value;
    co_await end_all(std::move(ending), "ending what a killed shim left", std::move(fields));
}

Awaitable<void> end_left_by_daemons(Path worktree, std::string mark) {
    process::Ending ending([worktree, mark] { return process::left_by_daemons(worktree.string(), mark); });
    log::Fields fields;
    fields["worktree"] = worktree.string();
    co_await end_all(std::move(ending), "ending what a killed daemon left", std::move(fields));
}

Awaitable<void> end_left_by_command(std::string mark) {
    process::Ending ending([mark] { return process::of_command(mark); });
    log::Fields fields;
    fields["mark"] = mark;
    co_await end_all(std::move(ending), "ending what a command left", std::move(fields));
}

}  // namespace orange::agents
