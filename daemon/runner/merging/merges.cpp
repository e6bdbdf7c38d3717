#include "daemon/runner/merging/merges.hpp"

#include <algorithm>

#include "common/base/ids.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/agents/survivors.hpp"
#include "daemon/engine/explain.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/family/attempts.hpp"
#include "daemon/runner/family/family.hpp"
#include "daemon/runner/merging/merge_concerns.hpp"
#include "daemon/runner/merging/merge_run.hpp"
#include "daemon/runner/merging/merge_target.hpp"
#include "daemon/runner/runner.hpp"

/// `orange task merge`: checks what has to hold before a merge begins, and cleans up after one that failed. The merge
/// calls the engine; it is no hook of a workflow.
namespace orange {
namespace {

MergeOutcome remembered(const MergeRecord& merge) {
    MergeOutcome outcome;
    outcome.commit = merge.commit;
    outcome.pushed = merge.push && !merge.elsewhere && merge.pull == 0;
    outcome.elsewhere = merge.elsewhere;
    outcome.pull = merge.pull;
    outcome.forced = merge.forced;
    outcome.notes = {"the task is already merged; nothing was changed"};
    return outcome;
}

/// True if the failure stays until the branch or the remote changes: a conflict, a refusal, or lost races.
bool stands(const Error& error) {
    return error.details.contains("files") || error.details.contains("refused") || error.details.contains("raced");
}

/// The parent must have a branch that no workspace and no merge uses.
Awaitable<Result<void>> check_parents_branch(World& world, const MergeTarget& target, const Project& project) {
    if (!target.is_parents()) co_return Result<void>{};
    CO_TRY(check_parent_rests(world, target));
    CO_TRY(const auto there, co_await git::commit_of(world.git, project.path, "refs/heads/" + target.branch));
    if (!there.empty()) co_return Result<void>{};
    const auto& id = target.parent.value;
    co_return Error(ErrorCode::conflict,
                    "task " + id + " has no branch " + target.branch +
                        " yet, or no longer, to merge its sub-tasks into. Start it, or name its branch:\n  orange task "
                        "spawn " +
                        id + "\n  orange task update " + id + " --branch NAME");
}

/// Returns the tip of the task's branch. Fetches origin first, since the concerns compare with it. The merge itself
/// reports a remote that does not answer.
Awaitable<Result<std::string>> tip_by_now(World& world, TaskRecord record, Project project, std::string initial) {
    const auto& task = record.task;
    CO_TRY(auto tip, co_await git::commit_of(world.git, project.path, "refs/heads/" + task.branch));
    const bool goes_to_origin =
        merges_of(world, project) == git::MergesTo::origin && !merge_target(world, record, project).is_parents();
    if (tip.empty() || goes_to_origin) {
        CO_TRY(const auto has_origin, co_await world.pool.known().has_origin(world.git, project.path));
        const std::chrono::milliseconds deadline = k_fetch_deadline;
        if (has_origin) (void)co_await git::fetch(world.git, project.path, deadline);
    }
    if (!tip.empty()) co_return tip;
    auto found = co_await git::branch_tip(world.git, project.path, task.branch);
    if (!found && found.error().code == ErrorCode::not_found && task.status == initial) {
        const auto& id = task.id.value;
        co_return Error(ErrorCode::not_found, "task " + id +
                                                  " has not started, so there is nothing to merge. To start "
                                                  "it:\n  orange task spawn " +
                                                  id);
    }
    co_return found;
}

MergeConcern unreviewed(const TaskRecord& record) {
    return {
        "task " + record.task.id.value + " has the status " + record.task.status + ", and its work was not reviewed",
        "Merge the unreviewed work?"};
}

}  // namespace

std::string merge_command(const TaskId& id, const char* option) {
    return task_command("merge", id.value, option).text();
}

std::string merge_command(const TaskId& id, const MergeOrder& order) {
    return merge_command(id, order.via_pull ? " --via pr" : order.local ? " --local" : "");
}

Awaitable<Result<void>> Merges::check(TaskRecord record) {
    const auto* project = world_.projects.find(record.task.project);
    if (!project) co_return Result<void>{};
    CO_TRY(check_picked(world_, record));
    CO_TRY(check_parent_rests(world_, merge_target(world_, record, *project)));
    CO_TRY(check_below_is_merged(world_, record));
    const auto tip = co_await git::branch_tip(world_.git, project->path, record.task.branch);
    if (!tip && tip.error().code == ErrorCode::not_found) co_return Result<void>{};  // the merge itself reports it
    if (!tip) co_return tip.error();
    CO_TRY(const auto concerns, co_await merge_concerns(world_, record, *tip, false));
    if (concerns.empty()) co_return Result<void>{};
    co_return confirmation(merge_command(record.task.id), concerns, *tip);
}

Awaitable<Result<Merges::Preview>> Merges::preview(TaskRecord record, std::string tip, bool tries) {
    CO_TRY(const auto definition, turns_.definition_of(record.task));
    CO_TRY(const auto project, registered_project(world_, record.task.project));
    CO_TRY(auto concerns, co_await merge_concerns(world_, record, tip, false));
    const bool is_empty = record.branch_start == tip;
    if (!is_empty && !engine::can_be_merged_from(*definition, record.task.status)) {
        concerns.insert(concerns.begin(), unreviewed(record));
    }
    Preview preview;
    if (!concerns.empty()) {
        preview.concerns = confirmation(merge_command(record.task.id), concerns, tip).details.at("facts");
        for (const auto& concern : concerns) preview.confirms += concern.text + "\n";
    }
    auto target = co_await target_ref(world_, record, project);
    if (!tries || !target) co_return preview;
    git::MergeRequest request;
    request.repo = project.path;
    request.scratch = (world_.paths.workspaces() / (".preview-" + random_id(8))).string();
    request.branch = record.task.branch;
    request.tip = std::move(tip);
    request.target = *target;
    if (auto conflicts = co_await git::conflicts_of(world_.git, request, *target))
        preview.conflicts = std::move(*conflicts);
    co_return preview;
}

Awaitable<Result<std::string>> Merges::confirmed_tip(TaskRecord& record, const engine::Definition& definition,
                                                     MergeOrder order, MergeRecord& merge, MergeAttempt& tried) {
    CO_TRY(const auto project, registered_project(world_, record.task.project));  // it may have been removed meanwhile
    CO_TRY(auto synced, co_await turns_.sync_bodies(record));
    engine::Request done;
    done.to = definition.name_for(engine::Meaning::done);
    done.by = Role::system;
    const auto facts = co_await facts_of(world_, record, definition, done.to, world_.clock.now());
    const engine::TransitionFacts given{record.task, synced.artifacts, record.entry_sections, facts};
    auto possible = engine::decide_request(definition, given, done);
    const auto* refusal = std::get_if<engine::Refusal>(&possible);
    const bool not_reviewed = refusal != nullptr ? refusal->code == ErrorCode::needs_force
                                                 : !engine::can_be_merged_from(definition, record.task.status);
    done.force = true;
    if (refusal != nullptr && not_reviewed) possible = engine::decide_request(definition, given, done);
    refusal = std::get_if<engine::Refusal>(&possible);
    if (refusal != nullptr && refusal->checks) {  // checks of the workflow's own gate
        tried.wanted.emplace();
        tried.wanted->checks = refusal->checks->checks;
        tried.wanted->commit = refusal->checks->commit;
    }
    if (refusal != nullptr) co_return explained(*refusal, definition, given, merge.by);
    CO_TRY(const auto tip, co_await tip_by_now(world_, record, project, definition.initial().name));
    CO_TRY(auto concerns, co_await merge_concerns(world_, record, tip, true));
    const bool is_empty = record.branch_start == tip;  // then no work is unreviewed
    if (not_reviewed && !is_empty) {
        concerns.insert(concerns.begin(), unreviewed(record));
    }
    const auto lines = split_lines(order.confirmed);
    const auto is_confirmed = [&](const MergeConcern& concern) {
        return order.force || std::ranges::find(lines, std::string_view(concern.text)) != lines.end();
    };
    if (!std::ranges::all_of(concerns, is_confirmed)) {
        co_return confirmation(merge_command(record.task.id, order), concerns, tip);
    }
    for (const auto& concern : concerns) merge.forced += (merge.forced.empty() ? "" : "; ") + concern.text;
    if (!order.tip.empty() && order.tip != tip) {
        co_return Error(ErrorCode::conflict,
                        record.task.branch + " has moved from " + order.tip.substr(0, 12) + " to " + tip.substr(0, 12) +
                            " in the meantime; try again",
                        {{"moved", tip}});
    }
    co_return tip;
}

/// Refuses a merge while the task's work may be on another branch than the one that is merged. --force does not help:
/// the merge would end the task without the work that was reviewed.
Awaitable<Result<void>> Merges::check_own_branch(TaskRecord& record) {
    co_await watch_programs(world_, record);
    const bool was_elsewhere = engine::find_notice(record, NoticeKind::other_branch) != nullptr;
    co_await watch_branch(world_, record);
    const auto* elsewhere = engine::find_notice(record, NoticeKind::other_branch);
    if (!record.programs_changed.empty() || elsewhere || was_elsewhere) CO_TRY(turns_.try_save(record));
    if (!elsewhere) co_return Result<void>{};
    co_return Error(ErrorCode::conflict, "cannot merge " + record.task.id.value + ": " + elsewhere->text +
                                             ". To use that work:\n  " + elsewhere->command);
}

Awaitable<Result<void>> Merges::choose_tip(TaskRecord& record, const engine::Definition& definition, MergeOrder order,
                                           MergeRecord& merge, MergeAttempt& tried) {
    CO_TRY(merge.tip, co_await confirmed_tip(record, definition, order, merge, tried));
    if (!order.checks) {
        const auto missing = runner_.checks.missing(record, tried.project, merge.tip);
        if (!missing.empty()) merge.forced += (merge.forced.empty() ? "" : "; ") + missing;
        co_return Result<void>{};
    }
    const bool via_pull = tried.pull.through.has_value();
    CO_TRY(tried.wanted, co_await checks_before(record, tried.project, merge.tip, via_pull));
    if (tried.wanted) co_return Error(ErrorCode::conflict, "the checks have not run");
    const auto settings = settings_of(world_, tried.project);
    const bool by_result = *settings.merge_checks == "result" && !via_pull;
    if (by_result && !settings.checks->empty()) merge.checks = engine::hash_of(*settings.checks);
    co_return Result<void>{};
}

Awaitable<Result<std::vector<std::string>>> Merges::plan(const TaskRecord& record, const MergeOrder& order,
                                                         MergeRecord& merge, const MergeAttempt& tried) {
    const auto& project = tried.project;
    const auto& pull = tried.pull.through;
    const auto settings = settings_of(world_, project);
    CO_TRY(const auto origin, co_await world_.pool.known().has_origin(world_.git, project.path));
    merge.tx = random_id(12);
    merge.target = tried.target.branch;
    merge.strategy = pull ? name_of(tried.pull.method) : name_of(order.strategy.value_or(git::MergeStrategy::merge));
    merge.pull = pull ? pull->number : 0;
    merge.push = pull || (order.push.value_or(*settings.push) && origin && !tried.target.is_parents());
    merge.include_unpushed = order.include_unpushed;
    merge.keep_branch = order.keep_branch.value_or(*settings.keep_branch);
    merge.at = world_.clock.now();
    std::vector<std::string> notes;
    const auto& workspace = record.task.workspace;
    if (workspace && is_missing(world_.files, world_.pool.path_of(*workspace))) {
        notes = {"the folder of its workspace is gone, and with it all uncommitted changes"};
    }
    if (tried.target.is_parents()) {
        notes.push_back("merged into " + tried.target.text());
    } else if (origin && !order.push && !*settings.push && !pull) {
        notes.push_back("not pushed: the setting push of " + project.name + " is false");
    } else if (!origin) {
        const auto other = co_await world_.pool.known().unused_remote(world_.git, project.path, project.default_branch);
        if (!other.empty()) notes.push_back("not pushed: " + other);
    }
    notes.insert(notes.end(), tried.pull.notes.begin(), tried.pull.notes.end());
    co_return notes;
}

Awaitable<Result<void>> Merges::look_first(TaskRecord& record, MergeOrder order, MergeAttempt& tried) {
    CO_TRY(check_picked(world_, record));
    CO_TRY(tried.project, registered_project(world_, record.task.project));
    tried.target = merge_target(world_, record, tried.project);
    CO_TRY(co_await check_parents_branch(world_, tried.target, tried.project));
    CO_TRY(co_await check_own_branch(record));
    // This attempt checks again whether the cause of the last failure still stands.
    if (record.merge) (void)clear(record, NoticeKind::merge_failed);
    CO_TRY(tried.pull, co_await ask_pull_request(record, tried.project, order));
    co_return Result<void>{};
}

Awaitable<Result<std::optional<Merges::Boarded>>> Merges::board(TaskId id, MergeOrder order, Caller by) {
    CO_TRY(auto turn, co_await runner_.transitions.begin_turn(id));
    auto& record = turn.record;
    std::optional<Boarded> boarded;
    const auto& last = record.merge;
    if (last && (last->phase == MergePhase::done || last->unfinished())) co_return boarded;
    MergeAttempt tried;
    CO_TRY(co_await look_first(record, order, tried));
    if (tried.target.is_parents() || tried.pull.merged || tried.pull.through) co_return boarded;
    // Its branch has commits of another task, which the train may leave out.
    if (record.stands_on_other() || !check_below_is_merged(world_, record)) co_return boarded;
    CO_TRY(const auto definition, turns_.definition_of(record.task));
    MergeRecord merge;
    merge.by = by;
    const auto chosen = co_await choose_tip(record, *definition, order, merge, tried);
    if (tried.wanted) co_return boarded;  // checks of its workflow come first
    CO_TRY(chosen);
    if (merge.checks.empty()) co_return boarded;
    CO_TRY(auto notes, co_await plan(record, order, merge, tried));
    record.merge = std::move(merge);
    boarded = Boarded{std::move(record), std::move(tried.project), std::move(notes)};
    co_return boarded;
}

Awaitable<Result<MergeOutcome>> Merges::complete_published(TaskRecord record, std::vector<std::string> notes) {
    record.merge->phase = MergePhase::pushed;
    co_return co_await run(std::move(record), std::move(notes), Start::asked);
}

Awaitable<Result<MergeOutcome>> Merges::attempt(TaskId id, MergeOrder order, Caller by, MergeAttempt& tried) {
    CO_TRY(auto turn, co_await runner_.transitions.begin_turn(id));
    auto& record = turn.record;
    if (record.merge && record.merge->phase == MergePhase::done) co_return remembered(*record.merge);
    CO_TRY(runner_.trains.check_not_published(id));
    if (record.merge && record.merge->unfinished() && record.merge->phase != MergePhase::planned) {
        co_return co_await finish(std::move(record));
    }
    CO_TRY(const auto definition, turns_.definition_of(record.task));
    const auto looked = co_await look_first(record, order, tried);
    if (!looked) {
        CO_TRY(check_below_is_merged(world_, record));  // before a pull request is opened instead
        co_return looked.error();
    }
    if (auto& merged = tried.pull.merged) {
        co_return co_await finish_merged(std::move(record), std::move(*merged), order.keep_branch, by);
    }
    CO_TRY(check_below_is_merged(world_, record));
    if (auto below = below_of(world_, record); below && record.stands_on_other()) {
        CO_TRY(co_await follow_below(runner_, record, std::move(*below)));  // which its own loop may not have done yet
    }
    MergeRecord merge;
    merge.by = by;
    CO_TRY(co_await choose_tip(record, *definition, order, merge, tried));
    CO_TRY(auto notes, co_await plan(record, order, merge, tried));
    const auto commit = merge.tip;
    record.merge = std::move(merge);
    const auto start = order.force ? Start::forced : Start::asked;
    auto merged = co_await run(std::move(record), std::move(notes), start, &tried.place);
    if (!merged && is_untested(merged.error())) {
        const auto& details = merged.error().details;
        tried.wanted.emplace();
        tried.wanted->commit = commit;
        tried.wanted->result = {details.at("untested"), details.at("tree"), details.at("merged_with")};
        tried.wanted->for_merge = true;
    }
    co_return merged;
}

/// Returns the merges into this branch that were not pushed. They are Orange's, not private commits of the user.
std::map<std::string, std::string> Merges::unpushed(const Project& project, const std::string& target) const {
    std::map<std::string, std::string> all;
    world_.tasks.each([&](const store::Brief& task) {
        const auto* merge = task.unpushed.get();
        if (merge && task.project.text() == project.name && (merge->target == target || !task.into_parent)) {
            all[merge->commit] = merge->base;
        }
        return true;
    });
    return all;
}

git::MergeRequest Merges::request_for(const TaskRecord& record, const Project& project) const {
    git::MergeRequest request;
    request.repo = project.path;
    request.scratch = (world_.paths.workspaces() / (".merge-" + record.task.id.value)).string();
    request.branch = record.task.branch;
    request.tip = record.merge->tip;
    request.target = record.merge->target;
    request.push = record.merge->push;
    request.include_unpushed = record.merge->include_unpushed;
    request.unpushed = unpushed(project, request.target);
    request.is_of_task = stays_local(record, project);
    if (request.is_of_task) request.has_origin = false;  // origin's branch of that name does not count
    return request;
}

Awaitable<Result<MergeOutcome>> Merges::run(TaskRecord record, std::vector<std::string> notes, Start start,
                                            async::Mutex::Lock* checks_place) {
    CO_TRY(const auto project, registered_project(world_, record.task.project));
    // Merges run one after the other: the second begins at the result of the first.
    auto turn = co_await repository_turns_.acquire(project.path);
    MergeRun run(runner_, record, request_for(record, project), std::move(turn), start == Start::forced);
    run.outcome.notes = std::move(notes);
    run.checks_place = checks_place;
    const bool resumed = start == Start::resumed;
    // A push of a killed daemon could land after the query.
    if (resumed) co_await agents::end_left_by_daemons(project.path, world_.pool.mark());
    auto done = turns_.try_save(record);
    if (done) done = co_await run.go_on();
    if (done) co_return std::move(run.outcome);
    if (!resumed && is_untested(done.error()) && !run.may_be_published()) {
        record.merge.reset();  // as if it had not begun
        CO_TRY(turns_.try_save(record));
        co_return done.error();
    }
    co_return failed(run, done.error(), resumed);
}

Error Merges::failed(MergeRun& run, Error error, bool resumed) {
    const auto& id = run.record().task.id;
    const bool known = run.merge().phase == MergePhase::pushed;
    if (run.may_be_published()) {
        error.message = "the merge of " + id.value +
                        (known ? " is published, but not finished: " : " is not finished, and may be published: ") +
                        error.message + "\nThe daemon tries again. To try now:\n  orange task merge " + id.value;
        log::warn("runner", error.message, {{"task", id.value}});
        std::erase_if(tried_, [this](const auto& each) {
            const auto task = world_.tasks.awake(each.first);
            return task == nullptr || under_way(*task).empty();
        });
        tried_[id] = async::now();
        return error;
    }
    error = in_context("cannot merge " + id.value, std::move(error));
    const auto saved_record = world_.tasks.awake(id);
    if (!saved_record) return error;
    auto record = *saved_record;
    if (!engine::find_notice(run.record(), NoticeKind::merge_failed)) (void)clear(record, NoticeKind::merge_failed);
    record.merge = run.merge();
    record.merge->phase = MergePhase::failed;
    record.merge->failure = error.message;
    const auto command = error.details.find("command");
    if (stands(error) || resumed) {
        raise(world_, record, NoticeKind::merge_failed, error.message,
              command == error.details.end() ? "orange task merge " + id.value : command->second);
    }
    if (auto saved = turns_.try_save(record); !saved) log::error("runner", saved.error().message);
    return error;
}

}  // namespace orange
