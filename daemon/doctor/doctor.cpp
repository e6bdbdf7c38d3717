#include "daemon/doctor/doctor.hpp"

#include "daemon/doctor/exam.hpp"

namespace orange::doctor {
namespace {

struct Row {
    const char* name;
    Check check;
    const char* fine;  ///< reported if the check finds nothing
};

/// Ordered so that the cause of a problem is reported before its effects.
constexpr Row k_checks[] = {
    {"programs", check_programs, "tmux and git are there"},
    {"environment", check_login, "agents get the login shell's environment"},
    {"disk", check_disk, "there is room, and it can be written to"},
    {"service", check_service, "nothing ends the agents when the daemon or a login session does"},
    {"memory", check_memory, "each agent has a control group of its own"},
    {"config", check_config, "config.yml can be read"},
    {"projects", check_projects_file, "projects.json can be read"},
    {"pool", check_pool_file, ".pool.json can be read"},
    {"tasks", check_tasks, "every task can be read"},
    {"history", check_histories, "no history was cut off, every line can be read"},
    {"conflicts", check_conflicts, "no conflict copy of a TASK.md is left"},
    {"workflows", check_workflows, "every workflow is valid"},
    {"pinned", check_pinned, "every task has its workflow's definition"},
    {"harnesses", check_harnesses, "every harness file is valid"},
    {"executors", check_executors, "every executor file is valid, and those that projects use can be used"},
    {"log", check_log, "orange.log is rotated"},
    {"repositories", check_repositories, "every repository is where it was"},
    {"git-user", check_git_user, "git knows who makes the merges"},
    {"branches", check_default_branches, "every default branch is there"},
    {"worktrees", check_worktrees, "every workspace is a worktree of its repository"},
    {"git-programs", check_git_programs, "no task's repository makes git run something else than before"},
    {"locks", check_locks, "no lock of git's is left over"},
    {"snapshots", check_snapshots, "no snapshots of ended tasks are kept"},
    {"tmux", check_tmux, "the tmux server answers"},
    {"servers", check_servers, "all agents are in that one server"},
    {"agents", check_agents, "every agent that should run does"},
    {"transitions", check_intents, "no transition is unfinished"},
    {"messages", check_messages, "no message waits"},
    {"attention", check_attention, "no task asks for a human"},
};

}  // namespace

std::vector<Project> Exam::projects() const {
    std::vector<Project> some;
    for (const auto& known : world.projects.list()) {
        if (!project || known.name == *project) some.push_back(known);
    }
    return some;
}

std::vector<TaskRecord> Exam::tasks() const {
    std::vector<TaskRecord> some;
    for (const auto& id : world.tasks.active()) {
        const auto record = world.tasks.awake(id);
        if (record && (!project || record->task.project == *project)) some.push_back(*record);
    }
    return some;
}

Awaitable<std::vector<rpc::Finding>> examine(Runner& runner, Facts facts, std::optional<std::string> project,
                                             bool histories) {
    Exam exam(runner, std::move(facts), std::move(project));
    exam.histories = histories;
    for (const auto& row : k_checks) {
        exam.report.begin(row.name);
        const auto before = exam.report.findings().size();
        co_await row.check(exam);
        if (exam.report.findings().size() == before) exam.report.ok(row.fine);
    }
    co_return exam.report.findings();
}

}  // namespace orange::doctor
