#include "daemon/runner/branch/branch.hpp"

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/committer.hpp"
#include "daemon/git/signing.hpp"
#include "daemon/git/update.hpp"
#include "daemon/git/worktree_status.hpp"
#include "daemon/runner/family/family.hpp"
#include "daemon/runner/merging/merge_run.hpp"
#include "daemon/runner/merging/merge_target.hpp"
#include "daemon/runner/placing/walls.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {
namespace {

constexpr std::size_t k_named_columns = 200;

/// The commit that is merged into the task's branch.
struct Base {
    std::string commit;
    std::string name;  ///< "origin/main"
    std::vector<std::string> notes;
    bool is_of_other = false;  ///< it is of the task that this one is built on
};

/// Returns the newest commit of the branch that the task is merged into, or of the task that it is built on. The
/// default branch is fetched from origin first, unless merges are not pushed. A parent's branch is used as it is here,
/// if it exists.
Awaitable<Result<Base>> newest_base(World& world, const TaskRecord& record, const Project& project) {
    const auto repo = project.path, default_branch = project.default_branch;
    Base base;
    const auto below = below_of(world, record);
    if (below && record.stands_on_other() && below->state != engine::Below::State::done) {
        base.is_of_other = true;
        base.name = "task " + below->short_id;
        CO_TRY(base.commit, co_await commit_below(world, record));
        if (below->state != engine::Below::State::reviewed || base.commit.empty()) base.commit = *record.task.base;
        co_return base;
    }
    CO_TRY(const auto target, co_await existing_target(world, record, project));
    if (target.is_parents()) {
        base.name = target.branch;
        CO_TRY(base.commit, co_await git::commit_of(world.git, repo, "refs/heads/" + target.branch));
        co_return base;
    }
    CO_TRY(const auto has_origin, co_await world.pool.known().has_origin(world.git, repo));
    if (has_origin) {
        const std::chrono::milliseconds deadline = k_fetch_deadline;
        const auto fetched = co_await git::fetch(world.git, repo, deadline);
        if (!fetched) base.notes.push_back("origin could not be fetched: " + first_line(fetched.error().message));
    }
    CO_TRY(const auto ref, co_await git::base_ref(world.git, repo, default_branch, merges_of(world, project)));
    CO_TRY(base.commit, co_await git::commit_of(world.git, repo, ref));
    base.name = git::shown_ref(ref);
    co_return base;
}

Error at_work(const TaskId& id, Role role) {
    return {ErrorCode::conflict, "the " + name_text(role) + " of task " + id.value +
                                     " is working in the worktree. Ask it to merge, or stop it first:\n  orange task "
                                     "stop " +
                                     id.value};
}

Error in_worktree(const TaskId& id, const std::string& base, Error conflict) {
    const auto files = split_lines(conflict.details.at("files"));
    std::vector<std::string> named;
    for (const auto file : files) named.emplace_back(file);
    conflict.message =
        ellipsized(printable(join(named, ", ")), k_named_columns) + (files.size() == 1 ? " conflicts" : " conflict") +
        " with " + base +
        ". Resolve and commit it in the worktree, or run git merge --abort there:\n  orange task shell " + id.value;
    return conflict;
}

Result<void> check_can_be_updated(Runner& runner, const TaskRecord& record) {
    const auto& task = record.task;
    if (!task.workspace) {
        return Error(ErrorCode::conflict, "task " + task.id.value + " has the status " + task.status +
                                              " and no worktree. Its branch:\n  orange task diff " + task.id.value);
    }
    if (record.merge && record.merge->unfinished()) {
        return Error(ErrorCode::conflict, "a merge of task " + task.id.value +
                                              " is not finished. Finish it:\n  orange task merge " + task.id.value);
    }
    // An agent at work would find files changed while it edits them, and might commit unresolved conflicts.
    TRY(const auto definition, runner.turns.definition_of(task));
    const auto* state = definition->state(task.status);
    for (const auto role : {Role::worker, Role::reviewer}) {
        const bool counts = state && state->agent == role;
        if (counts && runner.agents.alive(record, role)) return at_work(task.id, role);
    }
    return {};
}

/// Returns the commit of the branch, if the worktree can be merged into.
Awaitable<Result<std::string>> head_to_merge_into(World& world, const Task& task, const git::Pinned& worktree,
                                                  const std::string& base) {
    auto head = co_await git::head_to_merge_into(world.git, worktree, task.branch, base);
    if (head || head.error().code != ErrorCode::conflict) co_return head;
    co_return Error(ErrorCode::conflict, "the workspace of task " + task.id.value + " " + head.error().message +
                                             ". To work there:\n  orange task shell " + task.id.value);
}

/// Merges in the worktree, or in the task's own repository if that has one. Returns the branch's new commit.
Awaitable<Result<std::string>> merge_in_worktree(World& world, const Task& task, const git::Pinned& worktree,
                                                 const Base& base) {
    auto message = "Merge " + base.name + " into " + task.branch + "\n\nTask: " + task.id.value + "\n";
    const auto place = walls::place_of(world, task, worktree);
    const bool is_own = place && is_folder(world.files, place->own.path);
    Result<std::string> merged = std::string();
    if (is_own) {
        merged = co_await walls::merge_there(world, *place, worktree, base.commit, std::move(message));
    } else {
        merged = co_await git::merge_here(world.git, worktree, task.branch, base.commit, std::move(message));
    }
    if (!merged && merged.error().details.contains("files")) {
        co_return in_worktree(task.id, base.name, merged.error());
    }
    co_return merged;
}

/// Notes what a merge commit lacks because of git's settings.
Awaitable<void> note_commit_settings(World& world, std::string repo, std::vector<std::string>& notes) {
    const auto settings = co_await git::commit_settings(world.git, std::move(repo));
    if (settings && !settings->sign.empty()) {
        notes.push_back("the merge commit is not signed, although commit.gpgsign is set");
    }
    if (settings && !settings->missing.empty()) {
        notes.push_back(git::missing_text(settings->missing) + ". To set yours:\n  " +
                        git::missing_command(settings->missing));
    }
}

}  // namespace

Awaitable<Result<Outcome>> update_branch(Runner& runner, TaskId id, Caller by) {
    auto& world = runner.world;
    CO_TRY(auto turn, co_await runner.transitions.begin_turn(id));
    auto& record = turn.record;
    const auto& task = record.task;
    CO_TRY(check_can_be_updated(runner, record));
    CO_TRY(const auto project, registered_project(world, task.project));
    CO_TRY(auto base, co_await newest_base(world, record, project));
    const bool is_of_other = base.is_of_other;
    const auto lock = co_await world.repositories.acquire(project.path);
    CO_TRY(const auto worktree, co_await open_worktree(world, record));
    CO_TRY(const auto head, co_await head_to_merge_into(world, task, worktree, base.commit));
    CO_TRY(const auto merged, co_await merge_in_worktree(world, task, worktree, base));
    Outcome outcome;
    outcome.notes = std::move(base.notes);
    if (is_of_other) record.task.base = base.commit;
    if (merged == head) {
        if (is_of_other) CO_TRY(runner.turns.try_save(record));
        outcome.notes.push_back(task.branch + " already contains all commits of " + base.name);
        co_return outcome;
    }
    outcome.notes.push_back("merged " + base.name + " into " + task.branch + ", which is at " + merged.substr(0, 12));
    const bool is_fast_forward = merged == base.commit;
    if (!is_fast_forward) co_await note_commit_settings(world, project.path, outcome.notes);
    // A branch that had no commits of its own has none after a fast-forward.
    if (record.branch_start == head && is_fast_forward) record.branch_start = merged;
    CO_TRY(runner.turns.try_save(record));
    world.journal.write(record, "branch.updated",
                        {{"from", head}, {"to", merged}, {"base", base.name}, {"by", name_text(by.role)}});
    co_return outcome;
}

std::optional<Role> role_at_work(Runner& runner, const TaskRecord& record) {
    const auto definition = runner.turns.definition_of(record.task);
    const auto* state = definition ? (*definition)->state(record.task.status) : nullptr;
    for (const auto role : {Role::reviewer, Role::worker}) {
        if (!runner.agents.alive(record, role)) continue;
        const auto seen = runner.activities.of(record, role);
        const bool rests = seen && seen->activity == Activity::idle && state && state->agent != role;
        if (!rests) return role;
    }
    return std::nullopt;
}

Awaitable<std::string> half_done(World& world, TaskRecord record) {
    const auto worktree = co_await open_worktree(world, record);
    const auto what = worktree ? git::operation_under_way(worktree->git_dir()) : std::string();
    if (what.empty()) co_return what;
    const auto abort = "git " + what + (what == "bisect" ? " reset" : " --abort");
    co_return "a " + what + " is half done in the worktree. Finish and commit it there, or run " + abort +
        ":\n  orange task shell " + record.task.id.value;
}

}  // namespace orange
