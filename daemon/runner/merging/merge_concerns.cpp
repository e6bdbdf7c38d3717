#include "daemon/runner/merging/merge_concerns.hpp"

#include <optional>

#include "common/base/shown_path.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/engine/comments.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/merge.hpp"
#include "daemon/git/removed.hpp"
#include "daemon/git/submodules.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/branch/branch.hpp"
#include "daemon/runner/family/family.hpp"
#include "daemon/runner/merging/merge_target.hpp"
#include "daemon/store/comment_file.hpp"

namespace orange {
namespace {

constexpr std::size_t k_named_in_concern = 5;

/// "1a2b3c4 Subject, 5d6e7f8 Subject, …"
template <class Lines>
std::string named(const Lines& lines) {
    std::string names;
    for (std::size_t i = 0; i < lines.size() && i < k_named_in_concern; ++i) {
        names += (i > 0 ? ", " : "") + ellipsized(printable(lines[i]), 72);
    }
    return lines.size() > k_named_in_concern ? names + ", …" : names;
}

Awaitable<Result<std::string>> commits_since_review(Git& git, std::string repo, std::string seen, std::string tip,
                                                    std::string branch, MergeTarget target) {
    CO_TRY(const auto reviewed, co_await git::has_commit(git, repo, tip, seen));
    if (!reviewed) {
        co_return "branch " + branch + " is at " + tip.substr(0, 12) + ", but the reviewer saw " + seen.substr(0, 12);
    }
    GitCommand log;
    log.place = std::move(repo);
    log.args = {"log", "--no-show-signature", "--format=%h %s", seen + ".." + tip};
    // Commits of the target need no review here.
    std::vector<std::string> refs = {"refs/remotes/origin/" + target.branch, "refs/heads/" + target.branch};
    if (target.is_parents()) refs.erase(refs.begin());
    for (const auto& ref : refs) {
        CO_TRY(const auto known, co_await git::commit_of(git, log.place.path(), ref));
        if (!known.empty()) log.args.push_back("^" + ref);
    }
    CO_TRY(const auto listed, co_await git_output(git, std::move(log)));
    const auto lines = split_lines(listed);
    if (lines.empty()) co_return std::string();
    co_return counted(lines.size(), "commit") + " since the review" +
        (seen == "none" ? "" : " of " + seen.substr(0, 12)) + ": " + named(lines);
}

/// If the default branch was rewritten after the task's branch began at it, a merge would bring the removed commits
/// back.
Awaitable<Result<void>> add_removed_commits(World& world, TaskRecord record, Project project, std::string tip,
                                            std::vector<MergeConcern>& concerns) {
    if (merge_target(world, record, project).is_parents()) co_return Result<void>{};
    const auto& task = record.task;
    const auto repository = project.path;
    CO_TRY(const auto has_origin, co_await world.pool.known().has_origin(world.git, repository));
    const bool goes_to_origin = has_origin && merges_of(world, project) == git::MergesTo::origin;
    const auto shown = (goes_to_origin ? "origin/" : "") + project.default_branch;
    const auto target = (goes_to_origin ? "refs/remotes/" : "refs/heads/") + shown;
    CO_TRY(const auto removed, co_await git::removed_commits(world.git, repository, target, std::move(tip)));
    if (removed.empty()) co_return Result<void>{};
    std::vector<std::string_view> lines;
    for (const auto& each : removed) lines.push_back(each.line);
    MergeConcern concern{counted(lines.size(), "commit") + " of branch " + task.branch +
                             (lines.size() == 1 ? " was" : " were") + " removed from " + shown +
                             ", and the merge brings " + (lines.size() == 1 ? "it" : "them") + " back: " + named(lines),
                         "Merge what was removed from " + shown + "?"};
    if (task.workspace && !is_missing(world.files, world.pool.path_of(*task.workspace))) {
        concern.advice = "Rebase the branch without " + std::string(lines.size() == 1 ? "it" : "them") + "\n  git -C " +
                         shell_word(world.pool.path_of(*task.workspace).string()) + " rebase --onto " +
                         shell_word(shown) + " " + removed.front().commit.substr(0, 12);
    }
    concerns.push_back(std::move(concern));
    co_return Result<void>{};
}

/// Other clones cannot check the target out if one of its submodules is at a commit that only this machine has.
Awaitable<Result<void>> add_unpublished_submodules(World& world, TaskRecord record, Project project, std::string tip,
                                                   bool may_fetch, std::vector<MergeConcern>& concerns) {
    const auto& task = record.task;
    const bool has_workspace = task.workspace && !is_missing(world.files, world.pool.path_of(*task.workspace));
    const auto folder = has_workspace ? world.pool.path_of(*task.workspace) : Path(project.path);
    if (has_workspace && is_missing(world.files, folder / ".gitmodules")) co_return Result<void>{};
    std::optional<git::Pinned> worktree;
    if (has_workspace) {
        CO_TRY(auto opened, co_await open_worktree(world, record));
        worktree.emplace(std::move(opened));
    }
    CO_TRY(auto base, co_await target_ref(world, record, project));
    const auto repo = project.path;
    CO_TRY(const auto unpublished,
           co_await git::unpublished_submodules(world.git, repo, worktree, std::move(base), std::move(tip), may_fetch));
    for (const auto& change : unpublished) {
        const auto short_commit = change.commit.substr(0, 12);
        auto from = shell_word((folder / change.path).string());
        std::string advice = "Publish it";
        if (worktree && worktree->is_walled()) {  // git would run what the agent wrote into the submodule's settings
            const auto checkout = Path(project.path) / change.path;
            const auto own = shell_word(checkout.string());
            advice += " from your own checkout of the submodule, as git in the agent's may run what the agent chose";
            if (is_missing(world.files, checkout / ".git")) {  // git would find the repository around it
                advice +=
                    "\n  git -C " + shell_word(project.path) + " submodule update --init -- " + shell_word(change.path);
            }
            advice += "\n  git -C " + own + " fetch " + from + " " + change.commit;
            from = own;
        }
        concerns.push_back({"submodule " + shown_path(change.path) + " is at " + short_commit +
                                ", a commit that is not known to be on a remote of the submodule",
                            "Merge a commit of a submodule that others may not get?",
                            advice + "\n  git -C " + from + " push origin " + short_commit + ":refs/heads/" +
                                shell_word(task.branch)});
    }
    co_return Result<void>{};
}

}  // namespace

Awaitable<Result<std::vector<MergeConcern>>> merge_concerns(World& world, TaskRecord record, std::string tip,
                                                            bool may_fetch) {
    std::vector<MergeConcern> concerns;
    const auto& task = record.task;
    const auto* registered = world.projects.find(task.project);
    const auto project = registered ? std::optional<Project>(*registered) : std::nullopt;
    const auto default_branch = project ? project->default_branch : std::string("the default branch");
    const auto& seen = record.reviewed_commit;
    if (project && !seen.empty() && seen != tip) {
        CO_TRY(auto since, co_await commits_since_review(world.git, project->path, seen, tip, task.branch,
                                                         merge_target(world, record, *project)));
        if (!since.empty()) {
            concerns.push_back({since, "Merge the unreviewed commits?",
                                "Look at the changes\n  orange task diff " + task.id.value + " --since-review"});
        }
    }
    if (project) {
        auto copy = *project;
        CO_TRY(co_await add_removed_commits(world, record, copy, tip, concerns));
        CO_TRY(co_await add_unpublished_submodules(world, record, std::move(copy), tip, may_fetch, concerns));
    }
    if (const auto open = engine::not_ended(children_of(world, record)); !open.empty()) {
        concerns.push_back({"these sub-tasks have not ended: " + open, "Merge without waiting for its sub-tasks?"});
    }
    const auto below = below_of(world, record);
    if (record.stands_on_other() && below && below->state == engine::Below::State::done) {
        concerns.push_back(
            {"its branch still has commits of task " + task.on.value + ", which were merged in another form",
             "Merge them as they are?", "Let the branch follow first\n  orange task why " + task.id.value});
    }
    if (has_lost_its_target(world, record)) {
        concerns.push_back({"its parent, task " + task.parent.value +
                                ", into whose branch it was to be merged, has ended or cannot be found. It is merged "
                                "into " +
                                default_branch + ", with the commits that it has from its parent",
                            "Merge it into " + default_branch + "?",
                            "Cancel the task\n  orange task cancel " + task.id.value});
    }
    if (!record.branch_start.empty() && record.branch_start == tip) {
        concerns.push_back({"branch " + task.branch + " has no commits of its own, so there is nothing to merge",
                            "Finish the task without a merge?",
                            "Cancel the task\n  orange task cancel " + task.id.value});
    }
    if (const auto comments = store::read_comments(world.files, world.tasks.folder(record), record.comment_step)) {
        const auto drafts = engine::counts_of(*comments, record.comment_step).drafts;
        if (drafts > 0) {
            concerns.push_back({counted(static_cast<std::size_t>(drafts), "comment") + " on its lines " +
                                    (drafts == 1 ? "was" : "were") + " not sent to the worker",
                                "Merge without sending your comments?",
                                "Send the work back with them\n  orange task reject " + task.id.value});
        }
    }
    for (const auto& notice : all_notices(record)) {
        // A merge uses no tokens. It checks the causes of the other notices again, or is what they ask for.
        if (notice.kind == NoticeKind::budget || notice.kind == NoticeKind::budget_near) continue;
        if (notice.kind == NoticeKind::merge_failed || notice.kind == NoticeKind::checks_failed ||
            notice.kind == NoticeKind::merged_without || notice.kind == NoticeKind::other_branch) {
            continue;
        }
        const bool named = notice.kind == NoticeKind::hook_failed;
        concerns.push_back({(named ? "failed: " : "") + std::string(first_line(notice.text)), "Merge anyway?"});
    }
    co_return concerns;
}

Error confirmation(const std::string& command, const std::vector<MergeConcern>& concerns, const std::string& tip) {
    std::string text, facts, choices, commands;
    for (const auto& concern : concerns) {
        text += concern.text + "\n";
        facts += concern.text + "\n";
        if (concern.advice.empty()) continue;
        const auto end = concern.advice.find('\n');
        facts += concern.advice.substr(0, end) + ":" + concern.advice.substr(end) + "\n";
        choices += (choices.empty() ? "" : ". ") + concern.advice.substr(0, end);
        commands += concern.advice.substr(end) + "\n";
    }
    const auto last = choices.empty() ? "To merge anyway:" : choices + ", or merge anyway:";
    return {ErrorCode::needs_force,
            text + last + (commands.empty() ? "\n" : commands) + "  " + command + " --force",
            {{"tip", tip}, {"facts", std::string(trim(facts))}, {"question", concerns.front().question}}};
}

}  // namespace orange
