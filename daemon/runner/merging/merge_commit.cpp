#include <algorithm>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/engine/explain.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/signing.hpp"
#include "daemon/runner/merging/merge_concerns.hpp"
#include "daemon/runner/merging/merge_run.hpp"
#include "daemon/runner/merging/merge_target.hpp"

/// Builds the commit that a merge publishes. It is built again on the new target each time another push was faster.
namespace orange {
namespace {

git::MergeStrategy strategy_of(const MergeRecord& merge) {
    return git::from_name(merge.strategy, git::MergeStrategy{}).value_or(git::MergeStrategy::merge);
}

/// A squashed commit is the work itself, so its title is the task's summary.
std::string message_for(const TaskRecord& record, bool into_parent) {
    const auto& task = record.task;
    const auto merged = "Merge branch '" + task.branch + "'" + (into_parent ? " into " + record.merge->target : "");
    const bool squash = strategy_of(*record.merge) == git::MergeStrategy::squash;
    const auto title = squash && !task.summary.empty() ? task.summary
                       : task.summary.empty()          ? merged
                                                       : merged + "\n\n" + task.summary;
    return title + "\n\nTask: " + task.id.value + "\n" +
           (record.merge->forced.empty() ? "" : "Forced: " + first_line(record.merge->forced) + "\n");
}

std::string short_commit(const std::string& commit) {
    return commit.substr(0, 12);
}

}  // namespace

/// Builds the commit of this attempt, and saves it before it is pushed.
Awaitable<Result<void>> MergeRun::build() {
    auto& merge = *record_.merge;
    const auto& request = request_;
    const auto lock = co_await world_.repositories.acquire(request.repo);
    const bool first = merge.phase == MergePhase::planned;
    CO_TRY(const auto view, co_await git::inspect_merge(world_.git, request));
    if (first) CO_TRY(check_tip(view.tip));
    remote_ = view.remote;
    // The name of the other branch is shown with a conflict.
    request_.shown_base = (!view.remote.empty() && view.base == view.remote ? "origin/" : "") + request.target;
    const auto target = request.push && !view.remote.empty() ? view.remote : view.base;
    CO_TRY(co_await find_elsewhere(target));
    if (merge.elsewhere) co_return co_await check_own_commits();
    // Work that is not found elsewhere is not in the target either.
    CO_TRY(auto commit, co_await commit_on(view.base, view.base != target));
    CO_TRY(co_await check_result(commit));
    merge.base = view.base;
    merge.commit = std::move(commit);
    merge.phase = MergePhase::merged;
    ++merge.attempts;
    co_return turns_.try_save(record_);
}

Awaitable<Result<void>> MergeRun::build_on(std::string base, std::string shown) {
    CO_TRY(co_await look_at_repository());
    request_.shown_base = std::move(shown);
    const auto lock = co_await world_.repositories.acquire(request_.repo);
    CO_TRY(auto commit, co_await commit_on(base, false));
    auto& merge = *record_.merge;
    merge.base = std::move(base);
    merge.commit = std::move(commit);
    if (!missing_identity_.empty()) outcome.notes.push_back(identity_note());
    co_return Result<void>{};
}

/// A commit is published only if it has passed the project's checks. After a lost race, the new commit has to pass
/// again.
Awaitable<Result<void>> MergeRun::check_result(std::string commit) {
    const auto& wanted = record_.merge->checks;
    if (wanted.empty()) co_return Result<void>{};
    CO_TRY(const auto tree, co_await git::tree_of(world_.git, request_.repo, commit));
    if (Checks::have_passed(record_, wanted, tree)) co_return Result<void>{};
    co_return Error(ErrorCode::conflict,
                    request_.shown_base +
                        " has moved, and the checks have not run on the result of the merge with it. "
                        "Try again:\n  " +
                        merge_command(record_.task.id),
                    {{"untested", commit}, {"tree", tree}, {"merged_with", request_.shown_base}});
}

/// Searches the target completely once. After a lost race, only checks whether the target has the tip by now, since
/// each search makes the race longer.
Awaitable<Result<void>> MergeRun::find_elsewhere(std::string target) {
    auto& merge = *record_.merge;
    const auto& repo = request_.repo;
    if (looked_) {
        CO_TRY(const auto contained, co_await git::has_commit(world_.git, repo, target, merge.tip));
        if (!contained) co_return Result<void>{};
    }
    looked_ = true;
    CO_TRY(const auto found, co_await git::find_elsewhere(world_.git, repo, target, merge.tip));
    merge.elsewhere = !found.empty();
    if (merge.elsewhere) merge.commit = found;
    co_return Result<void>{};
}

/// A commit of the target itself is not the task's work, unless the target was fast-forwarded to it. The branch has had
/// work of its own if it has moved since its start to a commit that was made on it.
Awaitable<Result<void>> MergeRun::check_own_commits() {
    auto& merge = *record_.merge;
    if (merge.commit != merge.tip) co_return Result<void>{};
    if (!record_.branch_start.empty() && record_.branch_start != merge.tip) {
        CO_TRY(const auto own, co_await git::was_made_on(world_.git, request_.repo, request_.branch, merge.tip));
        if (own) co_return Result<void>{};
    }
    const MergeConcern concern{
        request_.branch + " has no commit that " + merge.target +
            " does not have; either nothing was committed on it, or " + merge.target + " was fast-forwarded to it",
        "Finish the task without a merge?", "Cancel the task\n  orange task cancel " + record_.task.id.value};
    if (!force_) {
        merge.elsewhere = false;
        co_return confirmation(merge_command(record_.task.id, record_.task.pr_url ? " --local" : ""), {concern},
                               merge.tip);
    }
    if (merge.forced.empty()) merge.forced = concern.text;
    co_return Result<void>{};
}

Result<void> MergeRun::check_tip(const std::string& tip) {
    const auto& merge = *record_.merge;
    if (tip == merge.tip) return {};
    const auto now = tip.empty() ? std::string("nowhere") : short_commit(tip);
    return Error(ErrorCode::conflict, request_.branch + " has moved from " + short_commit(merge.tip) + " to " + now +
                                          " in the meantime; try again");
}

/// A merge that was already built on this base is pushed again unchanged.
Awaitable<Result<std::string>> MergeRun::commit_on(std::string base, bool may_have_it) {
    const auto& merge = *record_.merge;
    if (may_have_it) {
        CO_TRY(const auto contained, co_await git::has_commit(world_.git, request_.repo, base, merge.tip));
        if (contained) co_return base;  // merged by hand on this machine, but not pushed
    }
    if (merge.base == base) {
        CO_TRY(const auto made, co_await git::commit_of(world_.git, request_.repo, merge.commit));
        if (!made.empty()) co_return merge.commit;
    }
    const auto* project = world_.projects.find(record_.task.project);
    const auto message = message_for(record_, project && stays_local(record_, *project));
    if (strategy_of(merge) != git::MergeStrategy::ff) {
        CO_TRY(auto settings, co_await git::commit_settings(world_.git, request_.repo));
        if (!not_signed_) request_.sign = std::move(settings.sign);
        missing_identity_ = std::move(settings.missing);
    }
    auto built = co_await git::build_merge(world_.git, request_, strategy_of(merge), base, message);
    if (!built && built.error().details.contains("unsigned")) {
        CO_TRY(accept_unsigned(built.error().details.at("unsigned")));
        built = co_await git::build_merge(world_.git, request_, strategy_of(merge), base, message);
    }
    if (!built && built.error().details.contains("files")) co_return with_next_step(built.error());
    co_return built;
}

/// Asks before anything is pushed: a server or a colleague may refuse unsigned commits.
Result<void> MergeRun::accept_unsigned(const std::string& why) {
    const MergeConcern concern{"the merge commit would not be signed, although commit.gpgsign is set: " + why,
                               "Merge without a signature?"};
    if (!force_) {
        return confirmation(merge_command(record_.task.id, record_.task.pr_url ? " --local" : ""), {concern},
                            record_.merge->tip);
    }
    not_signed_ = true;
    request_.sign.clear();
    outcome.notes.push_back("the merge commit is not signed, although commit.gpgsign is set: " + why);
    return {};
}

Error MergeRun::with_next_step(Error conflict) {
    auto command = giving_back(conflict.details.at("files"));
    const auto& task = record_.task;
    if (command.empty() && task.workspace) {
        // update-branch merges the branch at which tasks begin. If the merge is with another one (--no-push), the human
        // merges.
        const auto* project = world_.projects.find(task.project);
        const bool local = project && merges_of(world_, *project) == git::MergesTo::local;
        const bool has_origins = request_.shown_base.starts_with("origin/");
        const bool same = local ? !has_origins : has_origins || !request_.has_origin.value_or(false);
        command = same ? "orange task update-branch " + task.id.value
                       : "git -C " + shell_word(world_.pool.path_of(*task.workspace).string()) + " merge " +
                             shell_word(request_.shown_base);
    } else if (command.empty()) {
        command = "git -C " + shell_word(request_.repo) + " switch " + shell_word(task.branch);
    }
    conflict.message += "\n  " + command;
    conflict.details["command"] = command;
    return conflict;
}

/// Returns the command with which a human gives the task back to the worker; empty if the workflow has no such way.
std::string MergeRun::giving_back(const std::string& conflicting) {
    const auto& task = record_.task;
    const auto definition = world_.workflows.pinned(task.workflow, task.workflow_hash);
    if (!definition) return {};
    const engine::Artifacts none;
    const engine::TransitionFacts given{task, none, record_.entry_sections};
    for (const auto& edge : engine::explain(**definition, given)) {
        const auto* to = (*definition)->state(edge.to);
        const bool human = std::find(edge.by.begin(), edge.by.end(), Role::human) != edge.by.end();
        // The worker is to hand its work over as after a review. A state that asks for a plan or for help does not fit.
        const bool back = to && to->agent == Role::worker && to->meaning == engine::Meaning::none;
        if (!human || !back || edge.needs_force || !edge.guard_holds) continue;
        std::vector<std::string> files;
        for (const auto file : split_lines(conflicting)) files.emplace_back(file);
        return "orange task update " + task.id.value + " --status " + edge.to + " --feedback " +
               shell_word("Resolve the conflict with " + request_.shown_base + " in " +
                          ellipsized(printable(join(files, ", ")), 200));
    }
    return {};
}

}  // namespace orange
