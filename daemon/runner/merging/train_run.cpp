#include "daemon/runner/merging/train_run.hpp"

#include <algorithm>

#include "common/base/ids.hpp"
#include "common/base/in_set.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/merging/merge_concerns.hpp"
#include "daemon/runner/merging/merge_run.hpp"
#include "daemon/runner/placing/walls.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {
namespace {

constexpr int k_most_races = 4;        ///< of one train
constexpr int k_tests_of_failure = 2;  ///< a result that fails is tested once more before its task goes back
constexpr std::size_t k_files_length = 200;

Error has_changed_meanwhile(const TaskId& id) {
    return {ErrorCode::conflict,
            "task " + id.value + " has changed while the checks of its merge ran. Try again:\n  " + merge_command(id)};
}

Error target_moved(const std::string& target, const std::string& project) {
    return {ErrorCode::conflict,
            "each time that the checks had passed, " + target +
                " had moved, so that they had to run again. Try again when it rests, or let the checks of merges run "
                "in the worktree:\n  orange project update " +
                project + " --set merge_checks=worktree",
            {{"raced", "true"}}};
}

std::string in_one_line(const std::string& lines) {
    std::vector<std::string> all;
    for (const auto line : split_lines(lines)) all.emplace_back(line);
    return ellipsized(printable(join(all, ", ")), k_files_length);
}

}  // namespace

TrainRun::TrainRun(Runner& runner, Project project, MergeOrder order, Caller by,
                   std::shared_ptr<std::map<TaskId, std::size_t>> riding, std::shared_ptr<std::set<TaskId>> publishing)
    : Owner(runner),
      project_(std::move(project)),
      order_(std::move(order)),
      by_(std::move(by)),
      riding_(std::move(riding)),
      publishing_(std::move(publishing)),
      id_(random_id(12)) {}

Awaitable<void> TrainRun::go(std::vector<TaskId> ids) {
    const auto place = co_await runner_.checks.take_place(ids.front(), project_.name);
    if (const auto* now = world_.projects.find(project_.name)) project_ = *now;  // others may have had the place long
    checks_ = *settings_of(world_, project_).checks;
    co_await board(std::move(ids));
    while (!rest_.empty()) {
        const auto gone_on = co_await step();
        drop_gone();
        if (!gone_on) leave_all(gone_on.error());
    }
}

/// Removes the tasks that are not in the train any more: nothing of it keeps them back.
void TrainRun::drop_gone() {
    std::erase_if(rest_, [this](const auto& member) {
        if (member->is_gone) riding_->erase(member->id());
        return member->is_gone;
    });
}

Awaitable<void> TrainRun::board(std::vector<TaskId> ids) {
    for (const auto& id : ids) {
        auto boarded = co_await runner_.merges.board(id, order_, by_);
        if (!boarded) {
            ends.push_back({id, TrainEnd::What::left, {}, boarded.error()});
            riding_->erase(id);
            continue;
        }
        const auto wall = *boarded ? wall_of((*boarded)->record.task) : std::string();
        // The checks are the same for all, and run behind one wall.
        if (!*boarded || (*boarded)->record.merge->checks != engine::hash_of(checks_) ||
            (!wall.empty() && !wall_.empty() && wall != wall_)) {
            alone.push_back(id);
            continue;
        }
        if (!wall.empty()) wall_ = wall;
        auto member = std::make_unique<Member>();
        member->record = std::move((*boarded)->record);
        member->record.merge->train = id_;
        member->notes = std::move((*boarded)->notes);
        rest_.push_back(std::move(member));
    }
}

/// Returns what tells the wall around the task's commands from others; empty if they run behind none.
std::string TrainRun::wall_of(const Task& task) const {
    const auto wall = walls::wall_of(world_, task);
    return wall && wall->has_commands_inside() ? task.executor + "\n" + task.executor_options : std::string();
}

Awaitable<Result<void>> TrainRun::step() {
    CO_TRY(co_await build());
    if (chain_.empty()) co_return Result<void>{};
    const auto size = static_cast<std::ptrdiff_t>(size_of_batch());
    const Batch batch(chain_.begin(), chain_.begin() + size);
    const auto passed = co_await test(batch);
    if (!passed) {
        const bool has_dropped = co_await drop_changed();
        if (runner_.checks.have_ended()) co_return passed.error();
        if (has_dropped) co_return Result<void>{};
        co_return doubt(batch, passed.error());
    }
    if (*passed) co_return co_await publish(batch);
    co_await blame(batch);
    co_return Result<void>{};
}

/// After a test that could not be made. The setup command may have failed because of one task, which is looked for as
/// after a check that failed, and is left. At the second one the train ends.
Result<void> TrainRun::doubt(const Batch& batch, const Error& why) {
    const bool is_alone = batch.size() == 1;
    if (why.code != ErrorCode::external_failed || (is_alone && was_doubted_)) return why;
    suspects_ = is_alone ? 0 : batch.size();
    if (!is_alone) return {};
    was_doubted_ = true;
    leave(*batch.front(), why);
    return {};
}

/// Builds the chain on the target as it is now. A task that conflicts with the target leaves the train; one that
/// conflicts with another task of the chain is tried again when that is published, or has left.
Awaitable<Result<void>> TrainRun::build() {
    chain_.clear();
    CO_TRY(co_await fetch(*rest_.front()));
    for (std::size_t i = 0; i < rest_.size(); ++i) {
        auto& member = *rest_[i];
        CO_TRY(co_await couple(member));
    }
    drop_gone();
    co_return Result<void>{};
}

Awaitable<Result<void>> TrainRun::fetch(const Member& first) {
    CO_TRY(const auto has_origin, co_await world_.pool.known().has_origin(world_.git, project_.path));
    if (!has_origin) co_return Result<void>{};
    const std::chrono::milliseconds deadline = k_fetch_deadline;
    const auto fetched = co_await git::fetch(world_.git, project_.path, deadline);
    if (fetched || !first.record.merge->push) co_return Result<void>{};
    co_return Error(ErrorCode::unavailable, "origin does not answer: " + first_line(fetched.error().message),
                    fetched.error().details);
}

Awaitable<Result<void>> TrainRun::look_at_target(const Member& first) {
    auto request = runner_.merges.request_for(first.record, project_);
    const auto lock = co_await world_.repositories.acquire(project_.path);
    CO_TRY(view_, co_await git::inspect_merge(world_.git, request));
    const bool is_origins = !view_.remote.empty() && view_.base == view_.remote;
    shown_ = (is_origins ? "origin/" : "") + request.target;
    co_return Result<void>{};
}

Awaitable<Result<void>> TrainRun::couple(Member& member) {
    const bool is_first = chain_.empty();
    if (is_first) CO_TRY(co_await look_at_target(member));
    auto turn = co_await turns_.begin_turn(member.id());
    Result<bool> same = false;
    if (turn) same = co_await is_as_boarded(member, turn->record);
    if (turn) turn->lock.release();
    CO_TRY(const auto is_same, same);
    if (!is_same) {
        leave(member, has_changed_meanwhile(member.id()));
        co_return Result<void>{};
    }
    const auto base = is_first ? view_.base : chain_.back()->merge().commit;
    CO_TRY(const auto is_there, co_await git::has_commit(world_.git, project_.path, base, member.merge().tip));
    if (is_there && !is_first) co_return Result<void>{};  // it is a part of another task's work
    Result<bool> elsewhere = is_there;
    if (!is_there) elsewhere = co_await is_elsewhere(member, view_.base);
    CO_TRY(const auto is_merged, elsewhere);
    if (is_merged) {
        alone.push_back(member.id());
        member.is_gone = true;
        co_return Result<void>{};
    }
    MergeRun run(runner_, member.record, runner_.merges.request_for(member.record, project_), async::Mutex::Lock(),
                 order_.force);
    const auto built = co_await run.build_on(base, shown_);
    if (built) {
        if (!run.outcome.notes.empty()) member.notes_of_build = run.outcome.notes;
        chain_.push_back(&member);
        co_return Result<void>{};
    }
    const auto files = built.error().details.find("files");
    if (files == built.error().details.end()) {
        leave(member, built.error());
    } else if (is_first) {
        const auto named = in_one_line(files->second);
        co_await send_back(member, "conflicts with " + shown_ + " in " + named,
                           "Merge " + shown_ + " into your branch, resolve the conflict in " + named +
                               ", and hand the work over again.");
    }
    co_return Result<void>{};
}

/// Searches the target completely once: other people may have merged the work in another form.
Awaitable<Result<bool>> TrainRun::is_elsewhere(Member& member, std::string base) {
    if (member.was_sought) co_return false;
    const auto target = member.merge().push && !view_.remote.empty() ? view_.remote : std::move(base);
    CO_TRY(const auto found, co_await git::find_elsewhere(world_.git, project_.path, target, member.merge().tip));
    member.was_sought = true;
    co_return !found.empty();
}

/// True if the task, as it is now, is what was boarded.
Awaitable<Result<bool>> TrainRun::is_as_boarded(const Member& member, TaskRecord record) {
    const auto& boarded = member.record;
    const bool is_in_other_merge = record.merge && record.merge->unfinished() && record.merge->tx != boarded.merge->tx;
    if (record.intent || is_in_other_merge || store::has_ended(record) || record.task.status != boarded.task.status ||
        record.task.branch != boarded.task.branch || record.task.workflow != boarded.task.workflow ||
        record.task.project != boarded.task.project) {
        co_return false;
    }
    const auto tip = co_await git::branch_tip(world_.git, project_.path, record.task.branch);
    if (!tip && tip.error().code == ErrorCode::not_found) co_return false;
    if (!tip) co_return tip.error();
    co_return *tip == boarded.merge->tip;
}

/// After a test without a result: leaves out the tasks that have changed. Waits for whoever is changing one, such as a
/// cancellation that has stopped the checks. Returns false if there is none.
Awaitable<bool> TrainRun::drop_changed() {
    bool any = false;
    for (std::size_t i = 0; i < chain_.size(); ++i) {
        auto& member = *chain_[i];
        auto turn = co_await turns_.begin_turn(member.id());
        Result<bool> same = false;
        if (turn) same = co_await is_as_boarded(member, turn->record);
        if (!same || *same) continue;
        leave(member, has_changed_meanwhile(member.id()));
        any = true;
    }
    suspects_ = 0;
    co_return any;
}

/// The whole chain, or half of those of which one is to blame.
std::size_t TrainRun::size_of_batch() const {
    const auto known = std::min(suspects_, chain_.size());
    return known == 0 ? chain_.size() : std::max<std::size_t>(1, known / 2);
}

Awaitable<Result<bool>> TrainRun::test(Batch batch) {
    const auto hash = engine::hash_of(checks_);
    const auto& result = batch.back()->merge().commit;
    CO_TRY(tree_, co_await git::tree_of(world_.git, project_.path, result));
    for (const auto* member : batch) {
        const auto record = world_.tasks.awake(member->id());
        if (!record || !Checks::have_passed(*record, hash, tree_)) continue;
        report_ = CheckReport{member->record.merge->tip};
        report_.seconds = record->merge_checked->seconds;
        co_return true;
    }
    const auto* carrier = carrier_of(batch);
    CheckOrder order;
    order.commit = carrier->record.merge->tip;
    order.result = {result, tree_, merged_with(batch, *carrier)};
    order.checks = checks_;
    order.for_merge = order.has_place = true;
    CO_TRY(report_, co_await runner_.checks.run(carrier->id(), order));
    if (!report_.passed()) ++failures_[tree_];
    co_return report_.passed();
}

/// Returns the task for which the checks run. They run files of all of them, so it is one that has a wall, if any has.
/// An agent that has asked for checks of its own task holds up nobody.
const TrainRun::Member* TrainRun::carrier_of(const Batch& batch) const {
    const auto has_wall = [this](const Member* member) { return !wall_of(member->record.task).empty(); };
    const bool any_wall = std::ranges::any_of(batch, has_wall);
    const Member* found = nullptr;
    for (const auto* member : batch) {
        if (any_wall && !has_wall(member)) continue;
        if (!found || runner_.checks.running_for(member->id()).empty()) found = member;
    }
    return found;
}

/// Returns what the work of one task of the batch was merged with.
std::string TrainRun::merged_with(const Batch& batch, const Member& one) const {
    std::vector<std::string> others;
    for (const auto* member : batch) {
        if (member != &one) others.push_back(world_.tasks.short_id(member->id()));
    }
    return shown_ + (others.empty() ? "" : " with " + join(others, ", "));
}

/// After a test that failed: finds the task with which the checks fail. The next batch is half of this one, until it is
/// one task. That is tested once more before it goes back.
Awaitable<void> TrainRun::blame(Batch batch) {
    suspects_ = batch.size();
    if (batch.size() > 1) co_return;
    auto& member = *batch.front();
    const int times = ++failures_alone_[member.id()];  // its result is another one if the target has moved
    if (std::max(failures_[tree_], times) < k_tests_of_failure) co_return;
    suspects_ = 0;
    const auto check = "the check `" + report_.failed + "` " + report_.why;
    co_await send_back(member, check + " on the result of the merge with " + shown_,
                       checked::as_list(report_.tail) + "Merge " + shown_ +
                           " into your branch, make the check pass there, and hand the work over again. The whole "
                           "output is in " +
                           report_.log.string());
}

Awaitable<Result<void>> TrainRun::publish(Batch batch) {
    const auto publishing = publishing_;
    std::vector<std::unique_ptr<InSet<TaskId>>> published;
    for (const auto* member : batch) published.push_back(std::make_unique<InSet<TaskId>>(*publishing, member->id()));
    const auto marked = co_await mark_all(batch);
    if (!marked || !*marked) {
        co_await unmark(batch);
        suspects_ = 0;
        if (!marked) co_return marked.error();
        co_return Result<void>{};
    }
    bool may_arrive = false;
    const auto pushed = co_await push(*batch.back(), may_arrive);
    if (pushed && pushed->state == git::Pushed::landed) {
        for (auto* member : batch) co_await complete(*member);
        suspects_ = suspects_ > batch.size() ? suspects_ - batch.size() : 0;
        co_return Result<void>{};
    }
    if (may_arrive) {
        const auto why = pushed ? pushed->why : std::string(first_line(pushed.error().message));
        const Error unknown(ErrorCode::unavailable, "origin gave no answer: " + why);
        for (auto* member : batch) {
            leave(*member, Error(ErrorCode::unavailable, unknown.message +
                                                             ". It may have the merge; the daemon finds out, and "
                                                             "finishes it then. To try now:\n  " +
                                                             merge_command(member->id())));
        }
        co_return unknown;
    }
    co_await unmark(batch);
    suspects_ = 0;
    if (!pushed) co_return pushed.error();
    if (++races_ >= k_most_races) co_return target_moved(shown_, project_.name);
    co_return Result<void>{};
}

/// Saves the merge of each task of the batch, as it is about to be published. False if one has changed: that leaves the
/// train.
Awaitable<Result<bool>> TrainRun::mark_all(Batch batch) {
    for (auto* member : batch) {
        CO_TRY(const auto marked, co_await mark(batch, *member));
        if (!marked) co_return false;
    }
    co_return true;
}

Awaitable<Result<bool>> TrainRun::mark(const Batch& batch, Member& member) {
    auto turn = co_await turns_.begin_turn(member.id());
    Result<bool> same = false;
    if (turn) same = co_await is_as_boarded(member, turn->record);
    CO_TRY(const auto is_same, same);
    if (!is_same) {
        leave(member, has_changed_meanwhile(member.id()));
        co_return false;
    }
    auto& record = turn->record;
    const auto tip = member.merge().tip;
    CO_TRY(const auto concerns, co_await merge_concerns(world_, record, tip, true));
    if (!order_.force && !concerns.empty()) {  // they were none when it was boarded
        leave(member, confirmation(merge_command(member.id(), order_), concerns, tip));
        co_return false;
    }
    if (record.merge) (void)clear(record, NoticeKind::merge_failed);
    (void)clear(record, NoticeKind::checks_failed);
    ++member.merge().attempts;
    record.merge = member.merge();
    record.merge->phase = MergePhase::merged;
    auto checked = checked::record_of(report_, member.merge().checks, world_.clock.now());
    checked.commit = member.merge().tip;
    checked.tree = tree_;
    checked.merged_with = merged_with(batch, member);
    record.merge_checked = std::move(checked);
    CO_TRY(turns_.try_save(record));
    co_return true;
}

/// Takes back what mark() has saved: nothing is published. What cannot be saved now, the next daemon undoes.
Awaitable<void> TrainRun::unmark(Batch batch) {
    for (auto* member : batch) {
        auto turn = co_await turns_.begin_turn(member->id());
        if (!turn || !turn->record.merge) continue;
        const auto& merge = *turn->record.merge;
        if (merge.tx != member->merge().tx || merge.phase != MergePhase::merged) continue;
        turn->record.merge.reset();
        (void)turns_.save(turn->record);
    }
}

/// `may_arrive`: the target may have the commit although the answer does not say so.
Awaitable<Result<git::PushAnswer>> TrainRun::push(const Member& last, bool& may_arrive) {
    auto record = last.record;
    record.merge->phase = MergePhase::merged;
    auto turn = co_await runner_.merges.repository_turn(project_);
    MergeRun run(runner_, record, runner_.merges.request_for(record, project_), std::move(turn), order_.force);
    auto pushed = co_await run.publish_built(view_.remote);
    may_arrive = run.may_be_published();
    co_return pushed;
}

Awaitable<void> TrainRun::complete(Member& member) {
    member.is_gone = true;
    TrainEnd end{member.id()};
    merged_.push_back(world_.tasks.short_id(member.id()));
    auto turn = co_await runner_.transitions.begin_turn(member.id());
    Result<MergeOutcome> done = MergeOutcome();
    if (!turn) {
        done = turn.error();
    } else if (!turn->record.merge || turn->record.merge->tx != member.merge().tx) {
        done = has_changed_meanwhile(member.id());
    } else {
        auto notes = member.notes;
        notes.insert(notes.end(), member.notes_of_build.begin(), member.notes_of_build.end());
        done = co_await runner_.merges.complete_published(std::move(turn->record), std::move(notes));
    }
    if (done) {
        end.what = TrainEnd::What::merged;
        end.outcome = std::move(*done);
    } else {
        end.error = done.error();
    }
    ends.push_back(std::move(end));
}

void TrainRun::leave(Member& member, Error why) {
    member.is_gone = true;
    ends.push_back({member.id(), TrainEnd::What::left, {}, std::move(why)});
}

void TrainRun::leave_all(const Error& why) {
    for (const auto& member : rest_) {
        if (!member->is_gone) leave(*member, why);
    }
    rest_.clear();
}

/// Returns a clause that names the tasks that this train has merged; empty if there are none.
std::string TrainRun::merged_before() const {
    return merged_.empty() ? std::string() : "merged before it: " + join(merged_, ", ");
}

/// Rejects the work, as its human would. If its workflow has no such way, or first wants checks, for which the train
/// has the place, a notice says what happened.
Awaitable<void> TrainRun::send_back(Member& member, std::string reason, std::string details) {
    const auto id = member.id();
    auto turn = co_await runner_.transitions.begin_turn(id);
    Result<bool> same = false;
    if (turn) same = co_await is_as_boarded(member, turn->record);
    if (!same || !*same) {
        leave(member, has_changed_meanwhile(id));
        co_return;
    }
    member.is_gone = true;
    const auto before = merged_before();
    TrainEnd end{id};
    end.error = Error(ErrorCode::conflict, reason + (before.empty() ? "" : "; " + before));
    log::info("runner", "a task leaves its merge train", {{"task", id.value}, {"reason", end.error->message}});
    engine::Request request;
    request.goal = engine::Goal::rejected;
    Edit edit;
    edit.feedback = "Your work could not be merged: " + end.error->message + ".\n" + details;
    auto moved = co_await runner_.transitions.request(std::move(turn->record), request, by_, std::move(edit));
    if (moved) {
        end.what = TrainEnd::What::back;
        end.outcome.notes = std::move(moved->notes);
        if (!moved->spawn_error.empty()) end.outcome.notes.push_back("no agent works on it: " + moved->spawn_error);
    } else {
        end.outcome.notes.push_back("it did not go back to its worker: " + moved.error().message);
        co_await note_failure(member, end.error->message);
    }
    ends.push_back(std::move(end));
}

/// Called under the task's lock.
Awaitable<void> TrainRun::note_failure(const Member& member, std::string why) {
    auto record = turns_.record_of(member.id());
    if (!record) co_return;
    const auto same = co_await is_as_boarded(member, *record);
    if (!same || !*same) co_return;
    record->merge = member.record.merge;
    record->merge->phase = MergePhase::failed;
    record->merge->failure = why;
    raise(world_, *record, NoticeKind::merge_failed, "cannot merge " + member.id().value + ": " + why,
          merge_command(member.id()));
    (void)turns_.save(*record);
}

}  // namespace orange
