#include "daemon/runner/branch/branch.hpp"

#include <charconv>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/merge.hpp"
#include "daemon/git/worktrees.hpp"
#include "daemon/runner/merging/merge_target.hpp"
#include "daemon/store/task_store.hpp"

namespace orange {
namespace {

std::int64_t number_in(std::string_view text) {
    std::int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

GitCommand git_in(const std::string& repo, std::vector<std::string> args) {
    GitCommand command;
    command.place = repo;
    command.args = std::move(args);
    return command;
}

/// Adds up the lines of `git diff --numstat`: "12\t3\tpath", with "-" for a binary file.
void count_lines(std::string_view numstat, Changes& changes) {
    for (const auto line : split_lines(numstat)) {
        const auto parts = split(line, '\t');
        if (parts.size() < 3) continue;
        ++changes.files;
        changes.added += number_in(parts[0]);
        changes.removed += number_in(parts[1]);
    }
}

Awaitable<Result<Changes>> begin_of(World& world, std::string repository, std::string target, std::string tip,
                                    Changes known) {
    Changes changes;
    changes.repository = repository;
    changes.tip = changes.commit = tip;
    auto merge_base = git_in(repository, {"merge-base", target, tip});
    CO_TRY(const auto base, co_await git_output(world.git, std::move(merge_base)));
    changes.base = std::string(trim(base));
    if (known.tip == tip && known.base == changes.base) co_return known;
    auto count = git_in(repository, {"rev-list", "--count", changes.base + ".." + tip});
    CO_TRY(const auto counted, co_await git_output(world.git, std::move(count)));
    changes.commits = number_in(counted);
    co_return changes;
}

Awaitable<Result<void>> count_files(World& world, Changes& changes) {
    auto differ = git_in(changes.repository, {"diff", "--numstat", "--no-ext-diff", "--no-textconv",
                                              "--ignore-submodules=none", changes.base, changes.tip});
    CO_TRY(const auto numstat, co_await git_output(world.git, std::move(differ)));
    count_lines(numstat, changes);
    co_return Result<void>{};
}

/// Returns what a merge brought, since the commit that it was built on. Of one that was made elsewhere, in whatever way
/// (a rebase has no commit for all), the branch as it was merged.
Awaitable<Result<Changes>> merged_changes(World& world, std::string repository, MergeRecord merge, Changes known) {
    const bool is_ours = !merge.base.empty() && !merge.elsewhere && merge.pull == 0;
    auto base = is_ours ? merge.base : merge.commit + "^1";
    auto tip = is_ours || merge.tip.empty() ? merge.commit : merge.tip;
    CO_TRY(auto changes, co_await begin_of(world, std::move(repository), std::move(base), std::move(tip), known));
    if (changes.tip != known.tip || changes.base != known.base) {
        CO_TRY(co_await count_files(world, changes));
    }
    co_return changes;
}

}  // namespace

Awaitable<Result<Changes>> committed_changes(World& world, std::string repository, std::string target, std::string tip,
                                             Changes known) {
    CO_TRY(auto changes, co_await begin_of(world, std::move(repository), std::move(target), std::move(tip), known));
    if (changes.tip == known.tip && changes.base == known.base) co_return known;
    CO_TRY(co_await count_files(world, changes));
    co_return changes;
}

Awaitable<Result<Changes>> changes_of(World& world, TaskRecord record, Changes known, bool since_review) {
    CO_TRY(const auto project, registered_project(world, record.task.project));
    const auto& repository = project.path;
    if (since_review && record.reviewed_commit.empty()) {
        const auto& id = record.task.id.value;
        co_return Error(ErrorCode::not_found,
                        "no commit of task " + id + " was reviewed. To see all its changes:\n  orange task diff " + id);
    }
    if (!since_review && record.merge && record.merge->phase == MergePhase::done && !record.merge->commit.empty()) {
        const auto there = co_await git::commit_of(world.git, repository, record.merge->commit);
        if (there && !there->empty()) co_return co_await merged_changes(world, repository, *record.merge, known);
    }
    auto target = since_review ? record.reviewed_commit : record.task.base.value_or(std::string());
    if (target.empty()) {
        CO_TRY(target, co_await target_ref(world, record, project));
    }
    auto tip = co_await git::branch_tip(world.git, repository, record.task.branch);
    if (store::has_ended(record)) {  // its uncommitted work is kept, with the commits below it
        auto kept = co_await git::commit_of(world.git, repository, "refs/orange/" + record.task.id.value + "/wip");
        if (kept && !kept->empty()) tip = std::move(kept);
    }
    if (!tip && tip.error().code != ErrorCode::not_found) co_return tip.error();
    if (!tip || tip->empty()) {
        const auto& id = record.task.id.value;
        co_return Error(
            ErrorCode::not_found,
            store::has_ended(record)
                ? "task " + id + " has ended, and its branch " + record.task.branch + " no longer exists"
                : "task " + id + " has not started and has no branch yet. To start it:\n  orange task spawn " + id);
    }
    CO_TRY(auto changes, co_await begin_of(world, repository, std::move(target), *tip, known));
    bool is_counted = changes.tip == known.tip && changes.base == known.base;
    if (record.task.workspace) {
        CO_TRY(auto worktree, co_await open_worktree(world, record));
        CO_TRY(const auto dirty, co_await git::is_dirty(world.git, worktree));
        changes.uncommitted = dirty;
        if (dirty) {
            CO_TRY(changes.tip, co_await git::tree_of_files(world.git, worktree, &changes.large));
            changes.files = changes.added = changes.removed = 0;
            is_counted = false;
        }
    }
    if (!is_counted) {
        CO_TRY(co_await count_files(world, changes));
    }
    co_return changes;
}

Awaitable<Result<Changes>> changes_between(World& world, std::string repository, std::string from, std::string to) {
    Changes changes;
    changes.repository = std::move(repository);
    changes.base = std::move(from);
    changes.tip = std::move(to);
    CO_TRY(co_await count_files(world, changes));
    co_return changes;
}

Awaitable<Result<PatchText>> patch_of(World& world, Changes changes) {
    PatchText patch;
    const auto shown = [&](const char* form) {
        return git_in(changes.repository, {"diff", form, "--no-color", "--src-prefix=a/", "--dst-prefix=b/",
                                           "--no-ext-diff", "--no-textconv", "--submodule=short",
                                           "--ignore-submodules=none", changes.base, changes.tip, "--"});
    };
    auto stat = shown("--stat=100");
    CO_TRY(patch.stat, co_await git_output(world.git, std::move(stat)));
    auto text = shown("--patch");
    CO_TRY(patch.text, co_await git_output(world.git, std::move(text)));
    for (auto* part : {&patch.stat, &patch.text}) {
        if (part->size() <= k_largest_patch) continue;
        part->resize(part->rfind('\n', k_largest_patch) + 1);
        patch.cut = true;
    }
    co_return patch;
}

}  // namespace orange
