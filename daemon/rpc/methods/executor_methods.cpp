// executor.*: where agents can run, and what would be run there.
#include "common/rpc/executor_methods.hpp"

#include "common/base/try.hpp"
#include "daemon/process/environment.hpp"
#include "daemon/rpc/api.hpp"
#include "daemon/runner/placing/networks.hpp"
#include "daemon/runner/placing/placement.hpp"

namespace orange::rpc {
namespace {

ExecutorView executor_view(const World& world, const agents::ExecutorEntry& entry,
                           const std::map<std::string, std::string>& env) {
    ExecutorView view;
    const auto& executor = entry.executor;
    view.name = executor.name;
    view.path = entry.path.string();
    view.separates = executor.separates;
    const std::pair<const char*, const std::vector<std::string>&> limits[] = {{"memory", executor.memory},
                                                                              {"cpus", executor.cpus},
                                                                              {"time", executor.time},
                                                                              {"processes", executor.processes},
                                                                              {"disk", executor.disk}};
    for (const auto& [name, words] : limits) {
        if (!words.empty()) view.limits.emplace_back(name);
    }
    view.limits_network = executor.limits_network();
    view.tried = executor.tried;
    if (!executor.install.empty()) view.install = executor.install;
    for (const auto& project : world.projects.list()) {
        if (*settings_of(world, project).executor == executor.name) view.projects.push_back(project.name);
    }
    if (!entry.problem.empty()) {
        view.problem = entry.problem;
        return view;
    }
    const auto path = env.find("PATH");
    const auto folders = path == env.end() ? std::string() : path->second;
    view.installed = executor.is_direct() || !find_program(executor.run.front(), folders).empty();
    if (!view.installed) view.problem = agents::executor_not_installed(executor, folders).message;
    return view;
}

/// Tries whether the executor can be used, if nothing is known against it.
Awaitable<void> try_executor(World& world, ExecutorView& view, agents::Executor executor, std::string project,
                             std::map<std::string, std::string> env) {
    if (view.problem) co_return;
    const auto usable = co_await check_executor(world, std::move(executor), std::move(project), std::move(env));
    if (!usable) view.problem = usable.error().message;
}

Awaitable<Result<ExecutorList::Reply>> list_executors(Api& api, ExecutorList params) {
    ExecutorList::Reply reply;
    const auto entries = api.world().executors.list();
    for (const auto& entry : entries) {
        auto env = executor_environment(api.world(), {});
        reply.executors.push_back(executor_view(api.world(), entry, env));
        auto executor = entry.executor;
        if (params.check)
            co_await try_executor(api.world(), reply.executors.back(), std::move(executor), {}, std::move(env));
    }
    co_return reply;
}

Awaitable<Result<ExecutorShow::Reply>> show_executor(Api& api, ExecutorShow params, Call call) {
    auto& world = api.world();
    CO_TRY(const auto entry, world.executors.find(params.name));
    Task task;
    const auto id = api.select(params, call);
    if (!id && params.id) co_return id.error();
    if (id) {
        CO_TRY(const auto record, world.tasks.read(*id));
        task = record->task;
    }
    ExecutorShow::Reply reply;
    auto env = executor_environment(world, task.project);
    reply.executor = executor_view(world, entry, env);
    auto values = executor_values(world, task, entry.executor, env);
    if (task.id.empty()) {
        values.lists.clear();
        for (const char* unknown : {"task", "project", "repo"}) values.words.erase(unknown);
    } else {
        reply.task = task.id.value;
    }
    for (const char* of_run : {"limits", "binds"}) values.lists.erase(of_run);
    const auto& executor = entry.executor;
    reply.run = agents::expanded(executor.run, values);
    if (executor.hides_files()) reply.checks = executor.has_commands_inside() ? "inside" : "outside";
    reply.inside = agents::expanded(executor.inside, values);
    reply.check = agents::expanded(executor.check, values);
    reply.stop = agents::expanded(executor.stop, values);
    reply.probe = agents::expanded(executor.probe, values);
    reply.queued = executor.queued;
    reply.memory = executor.memory;
    if (executor.limits_network()) {
        if (const auto found = networks::find_proxy(env); !found) reply.no_list = found.error().message;
    }
    reply.text = entry.text;
    auto checked = executor;
    co_await try_executor(world, reply.executor, std::move(checked), task.project, std::move(env));
    co_return reply;
}

}  // namespace

void add_executor_methods(MethodTable& table, Api& api) {
    using enum ErrorCode;
    table.add<ExecutorList>(Access::read, "Lists where agents can run.", {}, api, list_executors);
    table.add<ExecutorShow>(Access::read, "Shows what an executor runs for an agent, and tries whether it can be used.",
                            {not_found, invalid_argument}, api, show_executor);
}

}  // namespace orange::rpc
