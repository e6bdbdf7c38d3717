
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/agents/survivors.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/pulls/pulls.hpp"
#include "daemon/runner/runner.hpp"

/// Merges that were begun and not finished: the daemon was killed, or the remote or the disk did not answer.
namespace orange {
namespace {

using namespace std::chrono_literals;

constexpr auto k_between_tries = 60s;
constexpr std::chrono::milliseconds k_recovery_fetch_deadline = 30s;

Error still_published(const TaskRecord& record) {
    const auto& merge = *record.merge;
    return {ErrorCode::conflict,
            "the merge of " + record.task.id.value + " is published: " + merge.target + " has it" +
                (merge.commit.empty() ? "" : " as " + merge.commit.substr(0, 12)) +
                ". Finish it:\n  orange task merge " + record.task.id.value,
            {{"command", "orange task merge " + record.task.id.value}}};
}

Error not_known(const TaskRecord& record, const Error& why) {
    return {ErrorCode::unavailable,
            "a merge of " + record.task.id.value + " has begun and may be published: " + first_line(why.message) +
                "\nFinish it when origin answers:\n  orange task merge " + record.task.id.value +
                "\nWith --force, Orange gives up the merge without knowing whether it is published",
            {{"command", "orange task merge " + record.task.id.value}}};
}

std::string what_to_look_at(const TaskRecord& record) {
    const auto& merge = *record.merge;
    const std::string begun = "a merge was given up without knowing whether it was published. Check ";
    if (merge.pull != 0) return begun + pull_name(std::to_string(merge.pull), record.task.pr_url);
    return begun + "whether origin's " + merge.target + " has " + merge.commit.substr(0, 12);
}

}  // namespace

std::string Merges::under_way(const TaskRecord& record) {
    if (!record.merge || !record.merge->unfinished()) return {};
    if (record.merge->pull != 0)
        return "the merge of " + pull_name(std::to_string(record.merge->pull), record.task.pr_url) + " is not finished";
    switch (record.merge->phase) {
        case MergePhase::pushed:
            return "a merge into " + record.merge->target + " is published as " + record.merge->commit.substr(0, 12) +
                   ", but not finished";
        case MergePhase::merged:
            return "a merge into " + record.merge->target + " is not finished; it may be published as " +
                   record.merge->commit.substr(0, 12);
        default:
            return "a merge into " + record.merge->target + " has begun";
    }
}

Awaitable<Result<MergeOutcome>> Merges::finish(TaskRecord record) {
    if (record.merge->phase != MergePhase::planned) {
        std::vector<std::string> notes;
        co_return co_await run(std::move(record), std::move(notes), Start::resumed);
    }
    const auto* project = world_.projects.find(record.task.project);
    if (project) {
        const auto request = request_for(record, *project);
        if (auto removed = remove_folder(world_.git, request.scratch); !removed) {
            log::warn("runner", removed.error().message, {{"task", record.task.id.value}});
        }
    }
    record.merge->phase = MergePhase::failed;
    record.merge->failure = "the daemon ended before anything was merged";
    auto saved = turns_.try_save(record);
    if (!saved) co_return saved.error();
    co_return Error(ErrorCode::conflict, record.merge->failure);
}

/// Tries once a minute at most: each try may wait for a silent remote while the task is locked.
Awaitable<void> Merges::resume(TaskRecord record) {
    const auto id = record.task.id;
    if (runner_.trains.is_publishing(id)) co_return;
    const auto now = async::now();
    const auto tried = tried_.find(id);
    if (tried != tried_.end() && now - tried->second < k_between_tries) co_return;
    log::info("runner", "resuming an interrupted merge",
              {{"task", id.value}, {"phase", name_text(record.merge->phase)}});
    const auto finished = co_await finish(std::move(record));
    if (finished) tried_.erase(id);
    if (!finished) log::warn("runner", finished.error().message, {{"task", id.value}});
}

/// Fetches first: the remote-tracking ref may come from a push that never ended.
Awaitable<Result<bool>> Merges::was_published(TaskRecord record, Project project) {
    const auto merge = *record.merge;
    // A push of a killed daemon could land after the query.
    co_await agents::end_left_by_daemons(project.path, world_.pool.mark());
    if (merge.pull != 0) {
        CO_TRY(const auto place, co_await pulls::place_of(world_, project));
        CO_TRY(const auto pull, co_await pulls::ask(world_, place, std::move(record)));
        co_return pull && pull->state == PullState::merged;
    }
    auto ref = "refs/heads/" + merge.target;
    if (merge.push) {
        ref = "refs/remotes/origin/" + merge.target;
        const std::chrono::milliseconds deadline = k_recovery_fetch_deadline;
        CO_TRY(co_await git::fetch(world_.git, project.path, deadline));
    }
    co_return co_await git::has_commit(world_.git, project.path, ref, merge.commit);
}

Awaitable<Result<std::vector<std::string>>> Merges::give_up(TaskRecord& record, bool force) {
    std::vector<std::string> notes;
    if (!record.merge || !record.merge->unfinished()) co_return notes;
    CO_TRY(runner_.trains.check_not_published(record.task.id));
    auto& merge = *record.merge;
    const auto* project = world_.projects.find(record.task.project);
    if (merge.phase == MergePhase::pushed) co_return still_published(record);
    if (merge.phase == MergePhase::merged) {
        Result<bool> published = Error(ErrorCode::not_found, "its project is not registered");
        if (project) published = co_await was_published(record, *project);
        if (published && *published) co_return still_published(record);
        if (!published && !force) co_return not_known(record, published.error());
        if (!published) notes.push_back(what_to_look_at(record));
    }
    merge.phase = MergePhase::failed;
    merge.failure = notes.empty() ? "given up before it was published" : notes.front();
    co_return notes;
}

Awaitable<void> Merges::remove_left(Project project) {
    co_await runner_.checks.end_left();
    const auto turn = co_await repository_turns_.acquire(project.path);  // no merge of this repository is at work
    const auto lock = co_await world_.repositories.acquire(project.path);
    const auto names = world_.files.list(world_.paths.workspaces());
    for (const auto& name : names.value_or({})) {
        const auto* task = name.starts_with(".merge-") ? world_.tasks.brief(TaskId{name.substr(7)}) : nullptr;
        if (!task || task->project.text() != project.name) continue;
        const auto path = (world_.paths.workspaces() / name).string();
        const auto removed = remove_folder(world_.git, path);
        if (!removed) log::warn("runner", removed.error().message);
        if (removed) log::info("runner", "removed what a merge had left: " + path);
    }
}

}  // namespace orange
