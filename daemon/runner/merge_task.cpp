#include <chrono>
#include <filesystem>

#include "common/base/ids.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/worktrees.hpp"
#include "daemon/runner/merge_run.hpp"
#include "daemon/runner/programs.hpp"
#include "daemon/runner/runner.hpp"
#include "daemon/runner/worktree.hpp"

/// `orange task merge`: what has to hold before a merge begins. It is the caller of the engine, not a hook (seed 003,
/// "The Merge Command"). How the merge is done, and finished after a crash, is in merge_steps.cpp.
namespace orange {
namespace {

constexpr std::size_t k_named_commits = 5;

MergeOutcome remembered(const MergeRecord& merge) {
    MergeOutcome outcome;
    outcome.commit = merge.commit;
    outcome.pushed = merge.push && !merge.elsewhere;
    outcome.elsewhere = merge.elsewhere;
    outcome.forced = merge.forced;
    outcome.notes = {"the task was merged before; nothing was done now"};
    return outcome;
}

}  // namespace

Awaitable<Result<std::string>> Runner::commits_since_review(std::string repo, std::string seen, std::string tip,
                                                            std::string branch, std::string target) {
    CO_TRY(const auto reviewed, co_await git::has_commit(world_.git, repo, tip, seen));
    const auto look =
        " Look: git -C " + repo + " log -p " + (seen == "none" ? "" : seen.substr(0, 12) + "..") + tip.substr(0, 12);
    if (!reviewed) {
        co_return "branch " + branch + " is not what was reviewed: the reviewer was given " + seen.substr(0, 12) +
            ", and it is at " + tip.substr(0, 12) + " now." + look;
    }
    GitCommand log;
    log.place = std::move(repo);
    log.args = {"log", "--no-show-signature", "--format=%h %s", seen + ".." + tip};
    // The target's own commits are no news there.
    for (const auto& ref : {"refs/remotes/origin/" + target, "refs/heads/" + target}) {
        CO_TRY(const auto known, co_await git::commit_of(world_.git, log.place.path(), ref));
        if (!known.empty()) log.args.push_back("^" + ref);
    }
    CO_TRY(const auto listed, co_await git_output(world_.git, std::move(log)));
    const auto lines = split_lines(listed);
    if (lines.empty()) co_return std::string();
    std::string names;
    for (std::size_t i = 0; i < lines.size() && i < k_named_commits; ++i) {
        names += (i > 0 ? ", " : "") + ellipsized(printable(lines[i]), 72);
    }
    if (lines.size() > k_named_commits) names += ", …";
    co_return counted(lines.size(), "commit") + " came after the review: " + names + "." + look;
}

Awaitable<Result<std::vector<MergeConcern>>> Runner::merge_concerns(TaskRecord record, std::string tip) {
    std::vector<MergeConcern> concerns;
    const auto& task = record.task;
    const auto* project = world_.projects.find(task.project);
    const auto& seen = record.reviewed_commit;
    if (project && !seen.empty() && seen != tip) {
        CO_TRY(auto since,
               co_await commits_since_review(project->path, seen, tip, task.branch, project->default_branch));
        if (!since.empty()) concerns.push_back({since, "Merge what was not reviewed, too?"});
    }
    if (!record.branch_start.empty() && record.branch_start == tip) {
        concerns.push_back({"branch " + task.branch + " has no commits of its own: there is nothing to merge",
                            "Finish the task without a merge?",
                            "To give the task up:\n  orange task cancel " + task.id.value});
    }
    const bool of_last_merge = record.merge && task.attention == record.merge->failure;
    if (task.attention && !of_last_merge) concerns.push_back({first_line(*task.attention), "Merge all the same?"});
    if (auto alarm = alarm_of(record); !alarm.empty()) {
        concerns.push_back({std::move(alarm), "Merge all the same?"});
    }
    co_return concerns;
}

Error Runner::confirmation(const TaskId& id, const std::vector<MergeConcern>& concerns, const std::string& tip) {
    std::string text;
    for (const auto& concern : concerns) {
        text += concern.text + "\n" + concern.advice + (concern.advice.empty() ? "" : "\n");
    }
    return {ErrorCode::needs_force,
            text + "If that is meant:\n  orange task merge " + id.value + " --force",
            {{"tip", tip}, {"facts", std::string(trim(text))}, {"question", concerns.front().question}}};
}

Awaitable<Result<void>> Runner::check_merge(TaskRecord record) {
    const auto* project = world_.projects.find(record.task.project);
    if (!project) co_return Result<void>{};
    const auto tip = co_await git::branch_tip(world_.git, project->path, record.task.branch);
    if (!tip && tip.error().code == ErrorCode::not_found) co_return Result<void>{};  // the merge itself says so
    if (!tip) co_return tip.error();
    CO_TRY(const auto concerns, co_await merge_concerns(record, *tip));
    if (concerns.empty()) co_return Result<void>{};
    co_return confirmation(record.task.id, concerns, *tip);
}

Awaitable<Result<std::string>> Runner::confirmed_tip(TaskRecord& record, const engine::Definition& definition,
                                                     MergeOrder order, Caller by, std::string& forced) {
    const auto repo = world_.projects.find(record.task.project)->path;
    CO_TRY(auto stepped, co_await step_bodies(record));
    engine::Request done;
    done.to = std::string(engine::k_done);
    done.by = Role::system;
    const engine::Situation situation{record.task, stepped.artifacts, record.entry_sections};
    auto possible = engine::decide_request(definition, situation, done);
    const bool not_reviewed = !possible && possible.error().code == ErrorCode::needs_force;
    done.force = true;
    if (not_reviewed) possible = engine::decide_request(definition, situation, done);
    if (!possible) co_return explained(possible.error(), definition, situation, by);
    CO_TRY(auto tip, co_await git::commit_of(world_.git, repo, "refs/heads/" + record.task.branch));
    if (tip.empty()) {
        // Of a branch that only origin has: as it is by now. A remote that does not answer is the merge's to tell.
        const std::chrono::milliseconds deadline = k_fetch_deadline;
        (void)co_await git::fetch(world_.git, repo, deadline);
        CO_TRY(tip, co_await git::branch_tip(world_.git, repo, record.task.branch));
    }
    CO_TRY(auto concerns, co_await merge_concerns(record, tip));
    if (not_reviewed) {
        concerns.insert(concerns.begin(),
                        MergeConcern{"task " + record.task.id.value + " is " + record.task.status + ", not reviewed",
                                     "Not reviewed. Force merge?"});
    }
    if (!concerns.empty() && !order.force) co_return confirmation(record.task.id, concerns, tip);
    for (const auto& concern : concerns) forced += (forced.empty() ? "" : "; ") + concern.text;
    if (!order.tip.empty() && order.tip != tip) {
        co_return Error(ErrorCode::conflict, record.task.branch + " has moved from " + order.tip.substr(0, 12) +
                                                 " to " + tip.substr(0, 12) + " meanwhile; try again");
    }
    co_return tip;
}

Awaitable<Result<std::vector<std::string>>> Runner::notes_before_merge(TaskRecord record) {
    std::vector<std::string> notes;
    if (!record.task.workspace) co_return notes;
    const auto workspace = world_.pool.path_of(*record.task.workspace);
    std::error_code gone;
    if (!std::filesystem::exists(workspace, gone)) {
        co_return std::vector<std::string>{
            "the folder of its workspace is gone, with whatever was not committed there"};
    }
    CO_TRY(const auto worktree, co_await open_worktree(world_, record));
    CO_TRY(const auto dirty, co_await git::is_dirty(world_.git, worktree));
    if (dirty) {
        notes.push_back("the workspace had uncommitted work, which was not merged; it is kept in " +
                        Pool::wip_ref(record.task.id));
    }
    co_return notes;
}

Awaitable<Result<MergeOutcome>> Runner::merge(TaskId id, MergeOrder order, Caller by) {
    const auto lock = co_await world_.task_locks.acquire(id.value);
    CO_TRY(auto record, co_await settled(id));
    if (record.merge && record.merge->phase == MergePhase::done) co_return remembered(*record.merge);
    if (record.merge && record.merge->unfinished() && record.merge->phase != MergePhase::planned) {
        co_return co_await finish_merge(std::move(record));
    }
    CO_TRY(const auto definition, definition_of(record.task));
    const auto* project = world_.projects.find(record.task.project);
    if (!project) {
        co_return Error(ErrorCode::not_found, "project " + record.task.project + " is not registered");
    }
    const auto copy = *project;
    co_await watch_programs(world_, record);
    if (!record.programs_changed.empty()) CO_TRY(world_.tasks.save(record));
    // What the last attempt failed for is no reason to ask: this one finds out whether it still stands.
    if (record.merge && record.task.attention == record.merge->failure) record.task.attention.reset();
    MergeRecord merge;
    CO_TRY(auto tip, co_await confirmed_tip(record, *definition, order, by, merge.forced));
    CO_TRY(const auto origin, co_await git::has_origin(world_.git, copy.path));
    CO_TRY(auto notes, co_await notes_before_merge(record));
    merge.tx = random_id(12);
    merge.target = copy.default_branch;
    merge.strategy = order.strategy == git::MergeStrategy::ff ? "ff" : "merge";
    merge.tip = std::move(tip);
    merge.push = order.push && origin;
    merge.include_unpushed = order.include_unpushed;
    merge.keep_branch = order.keep_branch;
    merge.by = by;
    merge.at = world_.clock.now();
    record.merge = std::move(merge);
    const auto start = order.force ? MergeStart::forced : MergeStart::asked;
    co_return co_await run_merge(std::move(record), std::move(notes), start);
}

}  // namespace orange
