#include "daemon/app/status.hpp"

#include <unistd.h>

#include "daemon/process/proc_info.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/runner.hpp"
#include "daemon/runner/transitions/project_names.hpp"

namespace orange {

rpc::DaemonStatus::Reply status_of(const Runner& runner, std::vector<std::string> problems) {
    const auto& world = runner.world;
    rpc::DaemonStatus::Reply reply;
    reply.version = ORANGE_VERSION;
    reply.pid = ::getpid();
    reply.memory_kib = process::resident_kib_of(::getpid()).value_or(0);
    reply.home = world.paths.home.string();
    world.tasks.each([&](const store::Brief& task) {
        ++reply.tasks[task.status];
        return true;
    });
    world.tasks.each_awake([&](const TaskRecord& record) {
        if (needs_of(runner, record).kind > Need::start) ++reply.attention;
        for (const Role role : {Role::worker, Role::reviewer}) {
            if (!record.runs.empty() && runner.agents.alive(record, role)) ++reply.agents_alive;
        }
    });
    reply.problems = std::move(problems);
    for (auto& problem : project_problems(world)) reply.problems.push_back(std::move(problem.text));
    for (auto& problem : check_harness_limits(world)) reply.problems.push_back(std::move(problem));
    for (const auto& [project, problem] : runner.pull_sync.problems()) {
        reply.problems.push_back("pull requests of " + project + ": " + problem);
    }
    for (const auto& broken : world.tasks.unreadable()) {
        reply.problems.push_back("task " + broken.project + "/" + broken.id + ": " + broken.why);
    }
    return reply;
}

}  // namespace orange
