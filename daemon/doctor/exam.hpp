#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/doctor/doctor.hpp"
#include "daemon/doctor/report.hpp"
#include "daemon/git/worktrees.hpp"
#include "daemon/runner/runner.hpp"

namespace orange::doctor {

/// Data that the checks share during one examination.
struct Exam {
    Exam(Runner& r, Facts f, std::optional<std::string> p)
        : runner(r), world(r.world), facts(std::move(f)), project(std::move(p)) {}
    Runner& runner;
    World& world;
    Facts facts;
    std::optional<std::string> project;
    bool histories = false;  ///< also verify their chains
    Report report;
    std::optional<TmuxState> tmux;  ///< nullopt: no answer
    /// Projects whose repository git could read, with its worktrees.
    std::map<std::string, std::vector<git::Worktree>> repositories;

    std::vector<Project> projects() const;
    /// Returns the active tasks, of `project` if it is set. They are copies, because checks suspend.
    std::vector<TaskRecord> tasks() const;
};

using Check = Awaitable<void> (*)(Exam&);

/// A check that cannot look must report that itself, instead of finding nothing.
Awaitable<void> check_programs(Exam& exam);
Awaitable<void> check_login(Exam& exam);
Awaitable<void> check_disk(Exam& exam);
Awaitable<void> check_service(Exam& exam);
Awaitable<void> check_memory(Exam& exam);
Awaitable<void> check_config(Exam& exam);
Awaitable<void> check_projects_file(Exam& exam);
Awaitable<void> check_pool_file(Exam& exam);
Awaitable<void> check_tasks(Exam& exam);
Awaitable<void> check_histories(Exam& exam);
Awaitable<void> check_conflicts(Exam& exam);
Awaitable<void> check_workflows(Exam& exam);
Awaitable<void> check_pinned(Exam& exam);
Awaitable<void> check_harnesses(Exam& exam);
Awaitable<void> check_executors(Exam& exam);
Awaitable<void> check_log(Exam& exam);
Awaitable<void> check_repositories(Exam& exam);
Awaitable<void> check_git_user(Exam& exam);
Awaitable<void> check_default_branches(Exam& exam);
Awaitable<void> check_worktrees(Exam& exam);
Awaitable<void> check_git_programs(Exam& exam);
Awaitable<void> check_locks(Exam& exam);
Awaitable<void> check_snapshots(Exam& exam);
Awaitable<void> check_tmux(Exam& exam);
Awaitable<void> check_servers(Exam& exam);
Awaitable<void> check_agents(Exam& exam);
Awaitable<void> check_intents(Exam& exam);
Awaitable<void> check_messages(Exam& exam);
Awaitable<void> check_attention(Exam& exam);

}  // namespace orange::doctor
