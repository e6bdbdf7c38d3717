#include "daemon/runner/branch/branch.hpp"

#include <algorithm>

#include "common/base/branch_name.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/ignored.hpp"
#include "daemon/runner/merging/merge_target.hpp"

namespace orange {
namespace {

struct KeptWork {
    std::string repository;
    std::string base;    ///< a ref of the branch that the task would be merged into
    std::string wip;     ///< a commit; empty: nothing was uncommitted
    std::string branch;  ///< a commit; empty: there is no branch
    std::string merged;
    std::string fork;                 ///< a commit with which the task was to begin, and never has
    std::string ignored;              ///< a commit of ignored files (setting keep_ignored); empty: none
    std::vector<std::string> others;  ///< refs of commits that are on no branch
};

Awaitable<Result<KeptWork>> look_for_work(World& world, const TaskRecord& record) {
    CO_TRY(const auto project, registered_project(world, record.task.project));
    KeptWork kept;
    kept.repository = project.path;
    const auto own = "refs/orange/" + record.task.id.value;
    CO_TRY(kept.base, co_await target_ref(world, record, project));
    CO_TRY(kept.branch, co_await git::commit_of(world.git, kept.repository, "refs/heads/" + record.task.branch));
    GitCommand list;
    list.place = kept.repository;
    list.args = {"for-each-ref", "--format=%(objectname) %(refname)", own};
    CO_TRY(const auto refs, co_await git_output(world.git, std::move(list)));
    for (const auto line : split_lines(refs)) {
        const auto space = line.find(' ');
        if (space == std::string_view::npos) continue;
        const std::string commit(line.substr(0, space));
        const auto name = line.substr(std::min(line.size(), space + 1 + own.size() + 1));
        if (name == "wip") kept.wip = commit;
        if (name == "merged") kept.merged = commit;
        if (name == "ignored") kept.ignored = commit;
        if (name == "fork") kept.fork = commit;
        if (name == "wip" || name == "merged" || name == "ignored" || name == "fork") continue;
        // All refs of a repository that was inside the worktree are below one name.
        auto ref = own + "/" + std::string(name.substr(0, name.find('/')));
        if (kept.others.empty() || kept.others.back() != ref) kept.others.push_back(std::move(ref));
    }
    co_return kept;
}

/// Returns the commit with all of the work; empty if nothing is kept.
std::string commit_with_all(const KeptWork& kept) {
    for (const auto& commit : {kept.wip, kept.branch, kept.merged}) {
        if (!commit.empty()) return commit;
    }
    return kept.fork;
}

GitCommand in_repository(const KeptWork& kept, std::vector<std::string> args) {
    GitCommand command;
    command.place = kept.repository;
    command.args = std::move(args);
    return command;
}

Awaitable<Result<std::string>> commits_of(World& world, const KeptWork& kept) {
    if (kept.branch.empty()) co_return std::string("0");
    auto count = in_repository(kept, {"rev-list", "--count", kept.branch, "^" + kept.base});
    CO_TRY(const auto counted, co_await git_output(world.git, std::move(count)));
    co_return std::string(trim(counted));
}

std::string restore_command(const TaskRecord& record) {
    return "orange task restore " + record.task.id.value;
}

/// Writes the ignored files of the task into its own folder: in a branch, a merge would publish them.
Awaitable<Result<void>> restore_ignored(World& world, const TaskRecord& record, const KeptWork& kept,
                                        std::vector<std::string>& notes) {
    if (kept.ignored.empty()) co_return Result<void>{};
    const auto folder = world.tasks.folder(record) / "ignored";
    if (is_missing(world.files, folder)) {
        CO_TRY(co_await git::write_files_of(world.git, kept.repository, kept.ignored, folder.string()));
    }
    notes.push_back("The ignored files that were kept are in " + folder.string() +
                    ". To copy them into a worktree:\n  cp -a " + shell_word((folder / ".").string()) + " WORKTREE");
    co_return Result<void>{};
}

}  // namespace

Awaitable<std::vector<std::string>> kept_work(World& world, TaskRecord record) {
    std::vector<std::string> notes;
    const auto kept = co_await look_for_work(world, record);
    Result<std::string> commits = Error{};
    if (kept) commits = co_await commits_of(world, *kept);
    if (!kept || !commits) {
        const auto& why = kept ? commits.error() : kept.error();
        notes.push_back("the kept work could not be read: " + why.message);
        co_return notes;
    }
    for (const auto& ref : kept->others) {
        const bool is_inside = ref.find("/nested-") != std::string::npos;
        notes.push_back((is_inside ? "kept: the work of a repository inside the worktree, as " : "kept: commits, as ") +
                        ref);
    }
    if (kept->wip.empty() && kept->ignored.empty() && kept->fork.empty() && *commits == "0") co_return notes;
    if (*commits != "0") {
        const auto noun = *commits == "1" ? " commit" : " commits";
        notes.push_back("kept: branch " + record.task.branch + " with " + *commits + noun);
    }
    if (!kept->wip.empty()) {
        notes.push_back("kept: the uncommitted work, as refs/orange/" + record.task.id.value + "/wip");
    }
    if (!kept->fork.empty()) {
        notes.push_back("kept: the work that it was to begin with, as refs/orange/" + record.task.id.value + "/fork");
    }
    if (!kept->ignored.empty()) {
        notes.push_back("kept: files that git ignores (setting keep_ignored), as " + Pool::ignored_ref(record.task.id));
    }
    notes.push_back("To go on with it in a new task:\n  " + restore_command(record) + " --create");
    co_return notes;
}

Awaitable<Result<std::string>> commit_of_ended(World& world, TaskRecord record) {
    CO_TRY(const auto kept, co_await look_for_work(world, record));
    co_return commit_with_all(kept);
}

Awaitable<Result<RestoredWork>> restore_work(World& world, TaskRecord record, std::string branch) {
    const auto& task = record.task;
    if (!store::has_ended(record)) {
        co_return Error(ErrorCode::conflict, "task " + task.id.value + " has not ended (status " + task.status +
                                                 "), so there is nothing to restore. Its work:\n  orange task diff " +
                                                 task.id.value);
    }
    CO_TRY(const auto kept, co_await look_for_work(world, record));
    RestoredWork restored;
    restored.branch = branch.empty() ? task.branch + "-restored" : branch_name(branch);
    note_branch(branch, restored.notes);
    restored.commit = commit_with_all(kept);
    if (restored.commit.empty()) {
        co_return Error(ErrorCode::not_found, "task " + task.id.value +
                                                  " left no branch and no uncommitted work. To create it again:\n"
                                                  "  orange task create --like " +
                                                  task.id.value);
    }
    const auto name = restored.branch;
    CO_TRY(co_await git::check_branch_name(world.git, name));
    const auto lock = co_await world.repositories.acquire(kept.repository);
    const auto ref = "refs/heads/" + restored.branch;
    CO_TRY(const auto known, co_await git::commit_of(world.git, kept.repository, ref));
    if (!known.empty() && known != restored.commit) {
        co_return Error(ErrorCode::conflict, "branch " + restored.branch +
                                                 " already exists at another commit. Choose another name:\n  " +
                                                 restore_command(record) + " --create --branch NAME");
    }
    if (known.empty()) {
        auto update = in_repository(kept, {"update-ref", "-m", "orange: restore", ref, restored.commit, ""});
        CO_TRY(co_await git_output(world.git, std::move(update)));
    }
    CO_TRY(co_await restore_ignored(world, record, kept, restored.notes));
    co_return restored;
}

}  // namespace orange
