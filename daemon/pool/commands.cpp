#include "common/base/shortage.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/agents/survivors.hpp"
#include "daemon/git/ignored.hpp"
#include "daemon/git/included.hpp"
#include "daemon/git/repository_command.hpp"
#include "daemon/log/log.hpp"
#include "daemon/pool/pool.hpp"
#include "daemon/process/stray_processes.hpp"

/// Makes a worktree usable: copies files that git ignores, and runs the project's setup and teardown commands.
namespace orange {
namespace {

using namespace std::chrono_literals;

constexpr auto k_setup_deadline = 10min, k_teardown_deadline = 2min;

}  // namespace

Awaitable<std::vector<std::string>> Pool::include(Project project, git::Pinned worktree, bool replace,
                                                  std::shared_ptr<Stop> stop) {
    auto never = git::own_files();
    co_return co_await git::copy_included(git_, project.path, worktree, std::move(never), replace, std::move(stop));
}

std::vector<std::string> Pool::consented(const Project& project, const git::Pinned& worktree, const std::string& name,
                                         std::vector<std::string>& notes) {
    const auto command = git::repository_command(worktree.folder()->get(), name);
    if (!command) return {};
    if (project.lets_trust(command->consent())) return {worktree.path() + "/" + name};
    const auto of_main = git::repository_command(project.path, name);
    const bool same = of_main && of_main->hash == command->hash;
    notes.push_back(name +
                    " of the repository was not run, because you have not agreed to this text of it. To read it " +
                    "and agree:\n  orange harness trust " + name +
                    (same ? " --project " + project.name : " " + shell_word(worktree.path())));
    return {};
}

Awaitable<Result<std::vector<std::string>>> Pool::behind_wall(TaskId task, git::Pinned worktree,
                                                              std::vector<std::string> argv) {
    if (!wall_) co_return argv;
    co_return co_await wall_(std::move(task), std::move(worktree), std::move(argv));
}

Command Pool::command_in(const git::Pinned& worktree, std::vector<std::string> argv, Surroundings around) const {
    Command command;
    command.argv = std::move(argv);
    command.cwd = worktree.path();
    command.folder = worktree.folder();
    around.env[process::k_daemon_variable] = process::mark_of_command(mark_);
    command.env = std::move(around.env);
    return command;
}

Awaitable<Result<void>> Pool::set_up(Project project, TaskId task, std::string name, git::Pinned worktree,
                                     std::vector<std::string>& notes, bool& begun) {
    const auto stop = stops_.at(task);
    if (stop->requested()) co_return Error(ErrorCode::conflict, k_being_cancelled);
    auto argv = project.setup.empty() ? consented(project, worktree, ".orange/setup", notes) : project.setup;
    if (argv.empty()) co_return Result<void>{};
    begun = true;
    CO_TRY(auto walled, co_await behind_wall(task, worktree, argv));
    auto setup = command_in(worktree, std::move(walled), surround_(project, task, name));
    setup.deadline = k_setup_deadline;
    setup.stop = stop;
    CO_TRY(const auto done, co_await processes_.run(std::move(setup)));
    if (done.ok()) co_return Result<void>{};
    auto failed = command_failed(argv, done);
    failed.details.emplace(k_of_project, "setup");
    co_return failed;
}

Awaitable<Released> Pool::tear_down(Project project, TaskId task, std::string name, git::Pinned worktree) {
    Released told;
    const auto around = surround_(project, task, name);
    auto commands = around.teardown;
    if (commands.empty()) {
        auto argv = consented(project, worktree, ".orange/teardown", told.notes);
        if (!argv.empty()) commands.push_back(std::move(argv));
    }
    if (commands.empty()) co_return told;
    for (const auto& argv : commands) {
        auto walled = co_await behind_wall(task, worktree, argv);
        if (!walled) {
            told.failures.push_back("the teardown of " + name + " was not run: " + walled.error().message);
            continue;
        }
        auto command = command_in(worktree, std::move(*walled), around);
        command.deadline = k_teardown_deadline;
        const auto done = co_await processes_.run(std::move(command));
        if (done && done->ok()) continue;
        const auto why = done ? command_failed(argv, *done) : done.error();
        told.failures.push_back("the teardown of " + name + " failed: " + why.message);
        log::warn("pool", told.failures.back(), {{"task", task.value}, {"workspace", name}});
    }
    co_await agents::end_left_by_daemons(path_of(name), mark_);
    co_return told;
}

}  // namespace orange
