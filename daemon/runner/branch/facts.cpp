#include "daemon/runner/branch/branch.hpp"

#include <algorithm>
#include <charconv>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/merge.hpp"
#include "daemon/git/worktree_status.hpp"
#include "daemon/runner/family/family.hpp"
#include "daemon/runner/merging/merge_target.hpp"

namespace orange {
namespace {

Awaitable<Result<void>> look_at_worktree(World& world, const TaskRecord& record, engine::Facts& facts) {
    const auto& task = record.task;
    if (!task.workspace) {  // without a worktree nothing is uncommitted
        CO_TRY(const auto project, registered_project(world, task.project));
        CO_TRY(facts.commit, co_await git::branch_tip(world.git, project.path, task.branch));
        co_return Result<void>{};
    }
    CO_TRY(const auto worktree, co_await open_worktree(world, record, Commits::must_be_taken_over));
    CO_TRY(auto standing, co_await git::worktree_status(world.git, worktree));
    if (!standing.known || standing.head.empty()) {
        co_return Error(ErrorCode::conflict, "git does not say which commit " + worktree.path() + " is on");
    }
    if (standing.branch != task.branch) {  // a merge takes the branch, not the worktree
        const auto on = standing.branch.empty() ? "no branch" : "branch " + standing.branch;
        co_return Error(ErrorCode::conflict, "the worktree is on " + on + ", and the task's branch is " + task.branch +
                                                 ". Switch to that in the worktree:\n  git switch " +
                                                 shell_word(task.branch) +
                                                 "\nOr take over the branch that is checked out:\n  orange task update "
                                                 "--branch");
    }
    facts.commit = standing.head;
    facts.uncommitted = std::move(standing.uncommitted);
    if (!standing.clean && facts.uncommitted.empty()) {
        facts.uncommitted = {"a merge, a rebase or files that git passes over"};
    }
    co_return Result<void>{};
}

Awaitable<Result<void>> count_commits(World& world, const TaskRecord& record, const Project& project,
                                      engine::Facts& facts) {
    auto base = record.task.base.value_or("");
    if (base.empty()) {
        CO_TRY(base, co_await target_ref(world, record, project));
    }
    GitCommand count;
    count.place = project.path;
    count.args = {"rev-list", "--count", facts.commit, "^" + base, "--"};
    CO_TRY(const auto counted, co_await git_output(world.git, std::move(count)));
    std::from_chars(counted.data(), counted.data() + counted.size(), facts.commits);
    facts.base = git::shown_ref(base);
    co_return Result<void>{};
}

/// Tries the merge as it would happen now, and leaves no ref.
Awaitable<Result<void>> try_merge(World& world, const TaskRecord& record, const Project& project,
                                  engine::Facts& facts) {
    git::MergeRequest request;
    request.repo = project.path;
    request.scratch = (world.paths.workspaces() / (".merge-" + record.task.id.value)).string();
    request.branch = record.task.branch;
    request.tip = facts.commit;
    CO_TRY(const auto target, co_await existing_target(world, record, project));
    request.target = target.branch;
    request.has_origin = false;  // irrelevant for a parent's branch
    if (!target.is_parents()) {
        CO_TRY(request.has_origin, co_await world.pool.known().has_origin(world.git, project.path));
    }
    request.push = *settings_of(world, project).push && *request.has_origin;
    const auto lock = co_await world.repositories.acquire(project.path);
    CO_TRY(const auto view, co_await git::inspect_merge(world.git, request));
    facts.target = request.shown_base = view.base == view.remote ? "origin/" + request.target : request.target;
    const std::string base = view.base, message;
    const auto built = co_await git::build_merge(world.git, request, git::MergeStrategy::merge, base, message);
    if (built) co_return Result<void>{};
    const auto files = built.error().details.find("files");
    if (files == built.error().details.end()) co_return built.error();
    for (const auto file : split_lines(files->second)) facts.conflicts.emplace_back(file);
    co_return Result<void>{};
}

/// If one fact cannot be determined, the other facts still are.
Awaitable<void> find_out(World& world, const TaskRecord& record, const Project& project,
                         const engine::GateFacts& wanted, engine::Facts& facts) {
    if (const auto looked = co_await look_at_worktree(world, record, facts); !looked) {
        facts.unknown = looked.error().message;
        co_return;
    }
    if (wanted.commits > 0) {
        const auto counted = co_await count_commits(world, record, project, facts);
        if (!counted) facts.unknown_commits = counted.error().message;
    }
    if (wanted.merges) {
        const auto tried = co_await try_merge(world, record, project, facts);
        if (!tried) facts.unknown_merge = tried.error().message;
    }
}

/// True if a merge into that commit would change nothing: the target already has the branch's changes in other commits.
Awaitable<Result<bool>> is_in_it(World& world, const TaskRecord& record, const Project& project, std::string target,
                                 std::string tip) {
    git::MergeRequest request;
    request.repo = project.path;
    request.scratch = (world.paths.workspaces() / (".merge-" + record.task.id.value)).string();
    request.branch = record.task.branch;
    request.tip = std::move(tip);
    request.target = merge_target(world, record, project).branch;
    const auto base = target, message = std::string();
    const auto built = co_await git::build_merge(world.git, request, git::MergeStrategy::merge, base, message);
    if (!built && built.error().details.contains("files")) co_return false;  // the branches conflict
    if (!built) co_return built.error();
    GitCommand trees;
    trees.place = project.path;
    trees.args = {"rev-parse", *built + "^{tree}", target + "^{tree}"};
    CO_TRY(const auto both, co_await git_output(world.git, std::move(trees)));
    const auto lines = split_lines(both);
    co_return lines.size() == 2 && lines[0] == lines[1];
}

}  // namespace

Result<bool> has_had_branch(World& world, const TaskRecord& record) {
    if (!record.branch_start.empty()) return true;
    TRY(const auto history, world.tasks.history(record.task.id));
    return std::ranges::any_of(history, [](const auto& event) { return event.type == "workspace.acquired"; });
}

Awaitable<Result<bool>> has_own_work(World& world, const TaskRecord& record) {
    CO_TRY(const auto project, registered_project(world, record.task.project));
    const auto repository = project.path;
    const auto lock = co_await world.repositories.acquire(repository);
    auto tip = co_await git::branch_tip(world.git, repository, record.task.branch);
    if (!tip && tip.error().code == ErrorCode::not_found) {
        CO_TRY(const auto had_one, has_had_branch(world, record));
        if (!had_one) co_return false;
        co_return Error(ErrorCode::not_found, "its branch " + printable(record.task.branch) +
                                                  " no longer exists; if it has another name now, run `orange task "
                                                  "update " +
                                                  record.task.id.value + " --branch NAME`");
    }
    if (!tip) co_return tip.error();
    CO_TRY(const auto ref, co_await target_ref(world, record, project));
    CO_TRY(auto target, co_await git::commit_of(world.git, repository, ref));
    CO_TRY(const auto brought_by, co_await git::find_elsewhere(world.git, repository, target, *tip));
    if (!brought_by.empty()) co_return false;
    CO_TRY(const auto nothing, co_await is_in_it(world, record, project, std::move(target), *tip));
    co_return !nothing;
}

Awaitable<engine::Facts> facts_of(World& world, const TaskRecord& record, const engine::Definition& definition,
                                  std::string to, std::optional<Timestamp> since) {
    engine::Facts facts;
    facts.known = true;
    facts.children = children_of(world, record);
    facts.attempts = !record.attempts.empty();
    auto wanted = engine::facts_wanted(definition, record.task, to);
    if (!wanted.any()) co_return facts;
    const auto registered = registered_project(world, record.task.project);
    if (!registered) {
        facts.unknown = registered.error().message;
        co_return facts;
    }
    const auto& project = *registered;
    facts.project_checks = *settings_of(world, project).checks;
    wanted.checks = wanted.checks && !(wanted.argvs.empty() && facts.project_checks.empty());
    if (!wanted.any()) co_return facts;
    facts.reviewed = record.reviewed_commit;
    facts.checked = record.checked;
    if (since && facts.checked && !facts.checked->passed && facts.checked->at < *since) facts.checked.reset();
    facts.log = (world.tasks.folder(record) / "logs" / "checks.log").string();
    co_await find_out(world, record, project, wanted, facts);
    co_return facts;
}

}  // namespace orange
