#include "daemon/runner/actions/actions.hpp"

#include <algorithm>
#include <charconv>

#include "common/base/try.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/merge.hpp"
#include "daemon/git/publish.hpp"
#include "daemon/log/log.hpp"
#include "daemon/process/stray_processes.hpp"
#include "daemon/runner/placing/walls.hpp"
#include "daemon/runner/pulls/pulls.hpp"
#include "daemon/runner/runner.hpp"

namespace orange::actions {
namespace {

Awaitable<Result<void>> spawn(Context& context, const Action& action, Role role) {
    return context.runner.agents.spawn(context.record, context.definition, order_of(action, role, context.tx));
}

Awaitable<Result<void>> spawn_agent(Context& context, const Action& action) {
    return spawn(context, action, engine::spawned_role(action).value_or(Role::worker));
}

/// The last action of every transition into a state with `agent`: starts the agent if no hook has started it.
Awaitable<Result<void>> ensure_agent(Context& context, const Action& action) {
    const auto role = role_from(action.param("role")).value_or(Role::worker);
    if (context.runner.agents.alive(context.record, role)) co_return Result<void>{};
    // A hook has requested the agent, which waits for room with the prompt of that hook.
    const auto* held = context.record.held_start(role);
    if (held && held->intent == context.tx) co_return Result<void>{};
    co_return co_await spawn(context, action, role);
}

Awaitable<Result<void>> kill_session(Context& context, const Action&) {
    return context.runner.agents.end_session(context.record);
}

Awaitable<Result<void>> kill_reviewer(Context& context, const Action&) {
    return context.runner.agents.end(context.record, Role::reviewer);
}

Awaitable<Result<void>> notify_worker(Context& context, const Action& action) {
    auto& record = context.record;
    // If no worker runs, ensure_agent starts one if the state needs it, and its prompt has the same text.
    if (!context.runner.agents.alive(record, Role::worker)) co_return Result<void>{};
    const auto name = action.param("message");
    const auto from = record.intent ? record.intent->from : std::string();
    auto text = engine::worker_message(context.definition, record.task, from, name, record.task_file);
    co_return queue_message(context.world, context.runner.turns, record, Role::worker, Role::system, std::move(text),
                            context.tx + "-" + name);
}

/// Writes the event and the text into the record. The human is notified when the transition is over.
Awaitable<Result<void>> notify(Context& context, const Action& action) {
    const auto& task = context.record.task;
    auto message = action.param("message");
    if (message.empty()) message = "the status is " + task.status;
    std::map<std::string, Scalar> fields = {{"message", message}, {"tx", context.tx}};
    CO_TRY(context.world.journal.write_once(context.record, "notification", std::move(fields)));
    context.record.to_tell = std::move(message);
    co_return Result<void>{};
}

/// Only notifies the queue: the next task starts after this transition, under its own lock.
Awaitable<Result<void>> spawn_next(Context& context, const Action&) {
    context.runner.queue.schedule(context.record.task.project);
    co_return Result<void>{};
}

Awaitable<Result<void>> push_branch(Context& context, const Action&) {
    CO_TRY(const auto project, project_of(context));
    // The repository's lock is not held: a remote that is silent for minutes must not block checkouts.
    CO_TRY(co_await git::push_branch(context.world.git, project.path, context.record.task.branch));
    co_return Result<void>{};
}

Awaitable<Result<void>> create_pr(Context& context, const Action&) {
    pulls::PullText text;
    CO_TRY(const auto opened, co_await pulls::open(context.world, context.record, std::move(text)));
    if (!opened.pull) context.notes.push_back(pulls::pushed_only(context.record, opened.url));
    co_return Result<void>{};
}

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
    auto env = context.runner.agents.environment(record, {}, Role::system, RunId{});
    const bool is_walled = command.argv != action.argv;
    if (is_walled) env[process::k_daemon_variable] = process::mark_of_command(context.world.pool.mark());
    command.env = std::move(env);
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

/// Keeps the merged commits as refs/orange/<id>/merged and deletes the local branch. Keeps the branch if it is checked
/// out somewhere, has moved since the merge, or has to stay (keep_branch).
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

}  // namespace

const std::vector<Entry>& entries() {
    static const std::vector<Entry> all = {
        {"acquire_workspace", acquire_workspace},
        {"release_workspace", release_workspace, Durability::synced},  // another task has the workspace by then
        {"spawn_agent", spawn_agent},
        {"spawn_reviewer", spawn_agent},
        {engine::k_ensure_agent, ensure_agent},
        {"kill_session", kill_session},
        {"kill_reviewer", kill_reviewer},
        {"notify_worker", notify_worker},
        {"notify", notify},
        {"spawn_next", spawn_next},
        {"push_branch", push_branch},
        {"create_pr", create_pr},
        {"delete_remote_branch", delete_remote_branch},
        {"run_command", run_command, Durability::synced},  // a second run cannot be recognised
        {k_retire_branch, retire_branch},
    };
    return all;
}

const Entry* find(std::string_view name) {
    const auto found = std::ranges::find(entries(), name, &Entry::name);
    return found == entries().end() ? nullptr : &*found;
}

Result<Project> project_of(const Context& context) {
    return registered_project(context.world, context.record.task.project);
}

}  // namespace orange::actions
