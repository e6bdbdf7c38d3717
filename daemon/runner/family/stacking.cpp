#include "daemon/runner/family/family.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/branch_names.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/merge.hpp"
#include "daemon/git/update.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/family/attempts.hpp"
#include "daemon/runner/merging/merge_target.hpp"

namespace orange {
namespace {

constexpr std::string_view k_heads = "refs/heads/";

/// Returns where the blocker's branch is, or was when it was merged; empty if that is not known.
Awaitable<Result<std::string>> blockers_tip(World& world, std::string repo, TaskRecord record) {
    const auto base = record.task.base.value_or("");
    auto remote = base;
    if (remote.starts_with(k_heads)) remote = "refs/remotes/origin/" + base.substr(k_heads.size());
    std::vector<std::string> refs = {base, "refs/orange/" + record.stacked_on.value + "/merged", remote};
    if (const auto* blocker = world.tasks.brief(record.stacked_on)) {  // its agent may have renamed the branch
        refs.insert(refs.begin(), std::string(k_heads) + blocker->branch);
    }
    for (const auto& ref : refs) {
        if (ref.empty()) continue;
        CO_TRY(auto commit, co_await git::commit_of(world.git, repo, ref));
        if (!commit.empty()) co_return commit;
    }
    co_return std::string();
}

struct Stack {
    std::string repo;
    std::string tip;    ///< of the task's branch, or where it will begin
    std::string old;    ///< of the local branch; empty: there is none
    std::string base;   ///< of the branch that it will be merged into
    std::string shown;  ///< "origin/main"
    std::string scratch;
    bool merges = true;  ///< the commits of that branch are merged into it
};

Error conflicts(const TaskRecord& record, const Stack& stack, Error conflict) {
    const auto id = record.task.id.value;
    const auto branch = shell_word(record.task.branch);
    const auto git = "git -C " + shell_word(stack.repo) + " ";
    conflict.message = record.task.branch + " starts from the work of task " + record.stacked_on.value + ", but " +
                       conflict.message + "\nMerge " + stack.shown +
                       " into the branch yourself, leave the branch, then start the task:\n  " + git + "switch " +
                       branch + "\n  " + git + "merge " + shell_word(stack.shown) + "\n  " + git +
                       "switch -\n  orange task spawn " + id + "\nOr cancel the task:\n  orange task cancel " + id;
    return conflict;
}

/// Returns the commit that the task's branch has to be at.
Awaitable<Result<std::string>> merged(World& world, TaskRecord record, Stack stack) {
    if (!stack.merges) co_return stack.tip;
    CO_TRY(const auto behind, co_await git::contains(world.git, stack.repo, stack.base, stack.tip));
    if (behind) co_return stack.base;
    CO_TRY(const auto ahead, co_await git::contains(world.git, stack.repo, stack.tip, stack.base));
    if (ahead) co_return stack.tip;
    git::MergeRequest request;
    request.repo = stack.repo;
    request.scratch = stack.scratch;
    request.branch = stack.shown;
    request.tip = stack.base;
    request.target = record.task.branch;
    request.shown_base = stack.shown;
    auto message = "Merge " + stack.shown + " into " + record.task.branch + "\n\nTask: " + record.task.id.value + "\n";
    co_return co_await git::build_merge(world.git, request, git::MergeStrategy::merge, stack.tip, std::move(message));
}

/// True if the tasks that it has waited for were merged into its parent's branch, like its own work, and not into the
/// default branch.
bool waits_within_family(const World& world, const TaskRecord& record) {
    return !has_lost_its_target(world, record) && record.into_parent &&
           std::ranges::all_of(record.task.blocked_by, [&](const TaskId& id) {
               const auto* blocker = world.tasks.brief(id);
               return blocker && blocker->into_parent && blocker->parent == task_above(world, record);
           });
}

/// The commits that the task's branch begins with.
struct Origins {
    bool of_parent = false;      ///< they are of the branch of the task's parent, not of a blocker
    bool within_family = false;  ///< the work that the task has waited for is in its parent's branch
    bool merges = false;         ///< that work is merged into the branch, from the default branch or the parent's
};

Origins origins_of(const World& world, const TaskRecord& record) {
    Origins origins;
    origins.of_parent = record.stacked_on == task_above(world, record);
    origins.within_family = waits_within_family(world, record);
    origins.merges = record.blockers_done.contains(record.stacked_on) ||
                     blocker_state(world, record.stacked_on) == BlockerState::done ||
                     (origins.of_parent && !record.task.blocked_by.empty() && !origins.within_family);
    return origins;
}

Result<void> save_begun(Turns& turns, TaskRecord& record, bool on_default) {
    record.stacked_on = {};
    if (on_default) record.task.base.reset();
    return turns.try_save(record);
}

/// Moves the branch to the commit that it begins with. If its merge conflicts, the branch is left without it.
Awaitable<Result<void>> begin_branch(World& world, Turns& turns, TaskRecord& record, Stack stack) {
    auto to = co_await merged(world, record, stack);
    if (!to && !to.error().details.contains("files")) co_return to.error();
    const auto commit = to ? *to : stack.tip;
    if (stack.old.empty()) {  // none of its commits is the task's own
        record.branch_start = commit;
        CO_TRY(turns.try_save(record));
    }
    if (commit != stack.old) {
        CO_TRY(const auto common, co_await world.pool.known().git_dir(world.git, stack.repo));
        CO_TRY(git::check_branch_files(common, record.task.branch));
        CO_TRY(co_await git::move_branch(world.git, stack.repo, record.task.branch, commit, stack.old));
    }
    if (!to) co_return conflicts(record, stack, to.error());
    // The merge also brings the commits of its parent: the reviewer and the human have to see them.
    CO_TRY(save_begun(turns, record, true));
    if (!stack.merges) co_return Result<void>{};
    world.journal.write(record, "branch.updated",
                        {{"from", stack.tip}, {"to", commit}, {"base", stack.shown}, {"by", std::string("system")}});
    co_return Result<void>{};
}

/// The branch is made when the workspace is acquired, at `base`. A task below that is not in review any more is
/// followed when the task has begun.
Awaitable<Result<void>> put_on_other(World& world, Turns& turns, TaskRecord& record) {
    const auto below = below_of(world, record);
    const bool is_done = below && below->state == engine::Below::State::done;
    std::string commit;
    if (!is_done) {
        CO_TRY(commit, co_await commit_below(world, record));
    }
    if (!is_done && commit.empty()) {
        co_return Error(ErrorCode::not_found, "task " + record.task.on.value +
                                                  ", on which the task is built, has no commit. To build it on " +
                                                  "none:\n  orange task update " + record.task.id.value +
                                                  " --unblock " + record.task.on.value);
    }
    record.stacked_on = {};
    record.task.base = commit;
    if (is_done) record.task.base.reset();
    if (is_done || below->state == engine::Below::State::reviewed) record.on_seen = below->seen;
    co_return turns.try_save(record);
}

}  // namespace

Awaitable<Result<void>> put_on_base(World& world, Turns& turns, TaskRecord& record) {
    if (record.stacked_on == record.task.on) co_return co_await put_on_other(world, turns, record);
    CO_TRY(const auto project, registered_project(world, record.task.project));
    const auto origins = origins_of(world, record);
    CO_TRY(const auto origin, co_await world.pool.known().has_origin(world.git, project.path));
    if (origin && origins.merges && !origins.within_family) {
        const auto fetched = co_await git::fetch(world.git, project.path, git::k_fetch_patience);
        if (!fetched) log::info("runner", fetched.error().message, {{"task", record.task.id.value}});
    }
    const auto lock = co_await world.repositories.acquire(project.path);
    CO_TRY(const auto below, co_await blockers_tip(world, project.path, record));
    std::string base_ref;
    if (origins.within_family) {
        CO_TRY(base_ref, co_await target_ref(world, record, project));
    } else {
        const auto goes = merges_of(world, project);
        CO_TRY(base_ref, co_await git::base_ref(world.git, project.path, project.default_branch, goes));
    }
    bool on_default = below.empty();
    if (origins.of_parent && !origins.merges && !on_default && !origins.within_family) {
        CO_TRY(on_default, co_await git::contains(world.git, project.path, base_ref, below));
    }
    if (on_default || (!origins.merges && !origins.of_parent)) {  // acquiring the workspace makes the branch
        CO_TRY(const auto there, co_await git::commit_of(world.git, project.path, record.task.base.value_or(below)));
        if (there.empty()) record.task.base = below;
        co_return save_begun(turns, record, on_default);
    }
    CO_TRY(const auto state, co_await git::branch_state(world.git, project.path, record.task.branch));
    if (!state.checkout.empty()) co_return Result<void>{};  // acquiring the workspace fails, and says why
    Stack stack;
    stack.repo = project.path;
    stack.merges = origins.merges;
    stack.scratch = (world.paths.workspaces() / (".merge-" + record.task.id.value)).string();
    const auto local = std::string(k_heads) + record.task.branch;
    CO_TRY(stack.old, co_await git::commit_of(world.git, stack.repo, local));
    stack.tip = stack.old.empty() ? below : stack.old;
    CO_TRY(stack.base, co_await git::commit_of(world.git, stack.repo, base_ref));
    stack.shown = git::shown_ref(base_ref);
    co_return co_await begin_branch(world, turns, record, std::move(stack));
}

}  // namespace orange
