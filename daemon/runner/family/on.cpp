#include <algorithm>
#include <utility>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/branch_names.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/merge.hpp"
#include "daemon/git/replay.hpp"
#include "daemon/git/update.hpp"
#include "daemon/runner/agents/outbox.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/branch/branch.hpp"
#include "daemon/runner/family/family.hpp"
#include "daemon/runner/merging/merge_target.hpp"
#include "daemon/runner/placing/walls.hpp"
#include "daemon/runner/runner.hpp"

/// Tasks that are built on another one.
namespace orange {
namespace {

using engine::Below;
using Holding = std::optional<engine::Hold>;

constexpr std::chrono::minutes k_look_again{1};
/// The cause of the notice that the work has to be reviewed again, which no later move of the branch ends.
constexpr const char* k_unreviewed = "unreviewed";

/// True if a human's merge is all that the task needs.
bool needs_only_merge(const World& world, const TaskRecord& record) {
    const auto definition = world.workflows.pinned(record.task.workflow, record.task.workflow_hash);
    const auto* state = definition ? (*definition)->state(record.task.status) : nullptr;
    return state != nullptr && !state->agent && engine::can_be_merged_from(**definition, state->name);
}

std::string without_it(const TaskRecord& record, const Below& below) {
    return "orange task update " + record.task.id.value + " --unblock " + below.id.value;
}

/// One step of a task whose branch follows the task that it is built on.
class Follower : Owner {
  public:
    Follower(Runner& runner, TaskRecord& record, Below below)
        : Owner(runner), record_(record), below_(std::move(below)) {}
    Awaitable<Result<Holding>> go();

  private:
    Awaitable<Result<Holding>> wait_again();
    Awaitable<Result<Holding>> note_open();
    Awaitable<Result<Holding>> note_gone();
    Awaitable<Result<Holding>> bring_along();
    Awaitable<Result<Holding>> settle();
    /// From now on the branch is compared with `base`; with the default branch if there is none.
    Awaitable<Result<Holding>> stand_on(std::optional<std::string> base);

    /// Opens the worktree, if there is one, and reads the branch. Ends a move that a killed daemon has begun.
    Awaitable<Result<void>> look();
    /// Returns why the branch cannot be moved now; empty: it can.
    Awaitable<Result<std::string>> obstacle(std::string to);
    /// Moves the task's own commits from the commit that they stand on to `to`, or merges `to`, which goes on from that
    /// commit. Returns a Hold if that is not possible now.
    Awaitable<Result<Holding>> put_on(std::string to, std::string shown);
    /// Returns the place of the agent's own repository, if it has one.
    std::optional<walls::WalledWorktree> own_place() const;
    Awaitable<Result<void>> move(std::string to, std::string base);
    Awaitable<Result<void>> end_move();
    void keep_verdict(const std::string& from, const std::string& to);
    /// Tells the worker, once, what its branch has to follow, and the human if no agent works. `command`: for a worker.
    Awaitable<Result<Holding>> ask(std::string why, std::string command);
    void clear_notice();
    /// Returns true once for each reader and each change of the task below, and notes that in the record.
    bool is_news_to(const std::string& who);
    void tell_worker(std::string text, std::string key);
    std::string name() const { return "task " + below_.short_id + ", on which this one is built,"; }
    Awaitable<Result<Holding>> save();

    TaskRecord& record_;
    Below below_;
    Project project_;
    std::optional<git::Pinned> worktree_;
    std::string tip_;
};

Awaitable<Result<Holding>> Follower::save() {
    CO_TRY(turns_.try_save(record_));
    co_await turns_.show(record_);
    co_return Holding{};
}

/// A message to an agent that does not run is of no use: its next run sees the branch as it is then. It takes the place
/// of one with the same key that was not typed yet.
void Follower::tell_worker(std::string text, std::string key) {
    if (record_.run_of(Role::worker) == nullptr) return;
    std::erase_if(record_.outbox, [&](const Message& message) { return message.id == key; });
    add_message(world_, record_, Role::worker, Role::system, std::move(text), false, std::move(key));
}

void Follower::clear_notice() {
    const auto* notice = engine::find_notice(record_, NoticeKind::on_changed);
    if (notice != nullptr && notice->cause != k_unreviewed) (void)clear(record_, NoticeKind::on_changed);
}

bool Follower::is_news_to(const std::string& who) {
    auto& told = record_.on_told;
    if (!told.starts_with(below_.seen)) told = below_.seen;
    if (told.find("|" + who, below_.seen.size()) != std::string::npos) return false;
    told += "|" + who;
    return true;
}

Awaitable<Result<Holding>> Follower::wait_again() {
    record_.blockers_done.erase(below_.id);
    co_return co_await save();
}

Awaitable<Result<Holding>> Follower::note_open() {
    tell_worker(name() + " was sent back, and its commits may change. Go on; you are told when they have", "on-open");
    if (needs_only_merge(world_, record_)) {
        raise(world_, record_, NoticeKind::on_changed,
              "task " + below_.short_id + ", on which it is built, was sent back; its commits may change",
              "orange task show " + below_.short_id);
    }
    record_.on_seen = below_.seen;
    co_return co_await save();
}

Awaitable<Result<Holding>> Follower::note_gone() {
    tell_worker(name() + " " + below_.fate + ". Its commits stay in your branch until your human decides", "on-gone");
    raise(world_, record_, NoticeKind::on_changed,
          "task " + below_.short_id + ", on which it is built, " + below_.fate +
              "; its commits are still in the branch. Go on without that task, with its commits (--unblock " +
              below_.id.value + "), or cancel this one (orange task cancel " + record_.task.id.value + ")",
          without_it(record_, below_));
    record_.on_seen = below_.seen;
    co_return co_await save();
}

Awaitable<Result<void>> Follower::look() {
    if (record_.task.workspace) {
        CO_TRY(auto opened, co_await open_worktree(world_, record_, Commits::must_be_taken_over));
        worktree_.emplace(std::move(opened));
    }
    CO_TRY(tip_, co_await git::branch_tip(world_.git, project_.path, record_.task.branch));
    if (record_.on_move.empty()) co_return Result<void>{};
    const auto move = record_.on_move;
    const auto parts = split(move, ' ');
    if (parts.size() == 3 && parts[1] == tip_) co_return co_await end_move();
    record_.on_move.clear();  // the branch was not moved
    co_return turns_.try_save(record_);
}

std::optional<walls::WalledWorktree> Follower::own_place() const {
    auto place = worktree_ ? walls::place_of(world_, record_.task, *worktree_) : std::nullopt;
    return place && is_folder(world_.files, place->own.path) ? place : std::nullopt;
}

Awaitable<Result<std::string>> Follower::obstacle(std::string to) {
    if (const auto role = role_at_work(runner_, record_)) {
        co_return "the " + name_text(*role) + " works in the worktree";
    }
    if (!worktree_) {
        CO_TRY(const auto state, co_await git::branch_state(world_.git, project_.path, record_.task.branch));
        if (state.checkout.empty()) co_return std::string();
        co_return "the branch is checked out in " + printable(state.checkout);
    }
    // Git in a worktree must not meet an agent behind a wall; in the agent's own repository it runs behind that wall.
    if (worktree_->is_walled() && !own_place() && runner_.agents.any_may_live(record_)) {
        co_return std::string("an agent behind a wall lives in the worktree");
    }
    auto branch = record_.task.branch;
    const auto head = co_await git::head_to_merge_into(world_.git, *worktree_, std::move(branch), std::move(to));
    if (head && *head != tip_) co_return Error(ErrorCode::conflict, "the branch has got commits meanwhile");
    if (head) co_return std::string();
    if (head.error().code != ErrorCode::conflict) co_return head.error();
    co_return "the workspace " + head.error().message;
}

/// The move is written down first: a daemon that finds the branch moved goes on with end_move().
Awaitable<Result<void>> Follower::move(std::string to, std::string base) {
    record_.on_move = tip_ + " " + to + " " + base;
    CO_TRY(turns_.try_save(record_));
    if (const auto place = own_place()) {
        CO_TRY(co_await walls::reset_there(world_, *place, *worktree_, tip_, to));
    } else if (worktree_) {
        CO_TRY(co_await git::reset_here(world_.git, *worktree_, to));
    } else {
        CO_TRY(const auto common, co_await world_.pool.known().git_dir(world_.git, project_.path));
        CO_TRY(git::check_branch_files(common, record_.task.branch));
        CO_TRY(co_await git::move_branch(world_.git, project_.path, record_.task.branch, to, tip_));
    }
    tip_ = to;
    co_return co_await end_move();
}

void Follower::keep_verdict(const std::string& from, const std::string& to) {
    record_.reviewed_commit = to;
    for (auto& [section, review] : record_.reviews) {
        if (review.starts_with(from + " ")) review = to + review.substr(from.size());
    }
}

/// The branch has moved. The review counts for the new commits only if they certainly change the same as the old ones.
Awaitable<Result<void>> Follower::end_move() {
    const auto move = record_.on_move;
    const auto parts = split(move, ' ');
    const std::string from(parts[0]), to(parts[1]), base(parts[2]);
    const git::Range before{record_.task.base.value_or(base), from}, after{base, to};
    const bool was_reviewed = record_.reviewed_commit == from;
    bool stays = false;
    if (was_reviewed) {
        const auto is_same = co_await git::is_same_patch(world_.git, project_.path, before, after);
        stays = is_same && *is_same;
    }
    auto text = name() + " has changed: your branch was moved to " + to.substr(0, 12) + ", which has its commits";
    if (stays) keep_verdict(from, to);
    if (was_reviewed && !stays) {
        text += ". Your changes are not the same as those that were reviewed, and are reviewed again";
        raise(
            world_, record_, NoticeKind::on_changed,
            "its branch has followed task " + below_.short_id +
                ", on which it is built, and its changes are not the same as those that were reviewed: they have to be "
                "reviewed again",
            "orange task diff " + record_.task.id.value, k_unreviewed);
    }
    if (record_.branch_start == from && to == base) record_.branch_start = to;  // it has no commits of its own
    CO_TRY(world_.journal.write_once(record_, "branch.updated",
                                     {{"from", from}, {"to", to}, {"base", base}, {"by", std::string("system")}}));
    tell_worker(std::move(text), "on-" + to.substr(0, 12));
    record_.task.base = base;
    record_.on_move.clear();
    co_return turns_.try_save(record_);
}

Awaitable<Result<Holding>> Follower::stand_on(std::optional<std::string> base) {
    record_.task.base = std::move(base);
    record_.on_seen = below_.seen;
    clear_notice();
    co_return co_await save();
}

Awaitable<Result<Holding>> Follower::ask(std::string why, std::string command) {
    bool is_news = false;
    if (record_.run_of(Role::worker) != nullptr && is_news_to("worker")) {
        tell_worker(name() + " has changed. In your worktree, when you have committed, run: " + command, "on-do");
        is_news = true;
    }
    if (!role_at_work(runner_, record_) && is_news_to("human")) {
        raise(world_, record_, NoticeKind::on_changed,
              "task " + below_.short_id +
                  ", on which it is built, has changed, and its branch cannot follow by itself: " +
                  std::string(first_line(why)) + ". In its worktree: " + command,
              "orange task shell " + record_.task.id.value);
        is_news = true;
    }
    if (is_news) CO_TRY(co_await save());
    co_return Holding{engine::Hold{k_look_again, std::string(first_line(why))}};
}

Awaitable<Result<Holding>> Follower::put_on(std::string to, std::string shown) {
    const auto repo = project_.path;
    const auto& task = record_.task;
    const auto base = *task.base;
    auto passing = runner_.checks.under_way(task.id);
    if (role_at_work(runner_, record_) == Role::reviewer) passing = "the reviewer works in the worktree";
    if (!passing.empty()) co_return Holding{engine::Hold{k_look_again, std::move(passing)}};
    CO_TRY(const bool goes_on, co_await git::contains(world_.git, repo, to, base));
    CO_TRY(const bool has_base, co_await git::contains(world_.git, repo, tip_, base));
    CO_TRY(const bool is_ahead, co_await git::contains(world_.git, repo, to, tip_));
    const bool merges = goes_on || !has_base;
    const auto at = to.substr(0, 12);
    const auto command = merges ? "git merge " + at : "git rebase --onto " + at + " " + base.substr(0, 12);
    CO_TRY(auto in_the_way, co_await obstacle(to));
    if (!in_the_way.empty()) co_return co_await ask(std::move(in_the_way), command);
    const auto footer = "\n\nTask: " + task.id.value + "\n";
    git::Replay again;
    auto& request = again.request;
    request.repo = repo;
    request.scratch = (world_.paths.workspaces() / (".merge-" + task.id.value)).string();
    request.branch = task.branch;
    request.target = request.shown_base = shown;
    CO_TRY(request.git_dir, co_await world_.pool.known().git_dir(world_.git, repo));
    auto made = Result<std::string>(to);
    if (!merges) {
        request.tip = tip_;
        again.from = base;
        again.onto = to;
        again.message = printable(task.summary.empty() ? task.branch : task.summary) + footer;
        made = co_await git::replay(world_.git, std::move(again));
    } else if (!is_ahead) {
        request.tip = to;
        auto message = "Merge " + shown + " into " + task.branch + footer;
        made = co_await git::build_merge(world_.git, request, git::MergeStrategy::merge, tip_, std::move(message));
    }
    if (!made && made.error().details.contains("files")) co_return co_await ask(made.error().message, command);
    if (!made) co_return made.error();
    CO_TRY(auto meanwhile, co_await obstacle(to));
    if (!meanwhile.empty()) co_return Holding{engine::Hold{k_look_again, std::move(meanwhile)}};
    CO_TRY(co_await move(*made, to));
    co_return Holding{};
}

Awaitable<Result<Holding>> Follower::bring_along() {
    CO_TRY(auto to, co_await commit_below(world_, record_));
    if (to.empty()) co_return Error(ErrorCode::not_found, "task " + below_.short_id + " has no commit");
    CO_TRY(const bool has_it, co_await git::contains(world_.git, project_.path, tip_, to));
    if (has_it) co_return co_await stand_on(std::move(to));
    CO_TRY(const auto held, co_await put_on(to, "task " + below_.short_id));
    if (held) co_return held;
    co_return co_await stand_on(std::move(to));
}

/// True if Orange knows that the other task's work was merged.
bool is_merge_known(const World& world, const TaskId& id) {
    const auto other = world.tasks.read(id).value_or(nullptr);
    return other && other->merge && other->merge->phase == MergePhase::done;
}

/// Returns the commit that brought the other task's work into `target`; empty if it was made elsewhere and is not here
/// yet; `target` if it is not known.
Awaitable<Result<std::string>> result_in(World& world, TaskId id, std::string repo, std::string target) {
    const auto other = world.tasks.read(id).value_or(nullptr);
    if (!is_merge_known(world, id) || other->merge->commit.empty()) co_return target;
    const auto commit = other->merge->commit;
    CO_TRY(const auto there, co_await git::commit_of(world.git, repo, commit));
    if (there.empty()) co_return there;
    CO_TRY(const bool has_it, co_await git::contains(world.git, repo, target, commit));
    if (has_it) co_return commit;
    co_return target;
}

Awaitable<Result<Holding>> Follower::settle() {
    const auto repo = project_.path;
    const auto base = *record_.task.base;
    CO_TRY(const auto ref, co_await target_ref(world_, record_, project_));
    CO_TRY(const auto target, co_await git::commit_of(world_.git, repo, ref));
    CO_TRY(const bool is_there, co_await git::contains(world_.git, repo, target, base));
    if (is_there) co_return co_await stand_on(std::nullopt);
    CO_TRY(const auto onto, co_await result_in(world_, below_.id, repo, target));
    if (onto.empty()) {
        co_return Holding{engine::Hold{k_look_again, "the merge of task " + below_.short_id + " is not fetched yet"}};
    }
    CO_TRY(const bool has_base, co_await git::contains(world_.git, repo, tip_, base));
    CO_TRY(const bool has_result, co_await git::contains(world_.git, repo, tip_, onto));
    const bool is_settled = !has_base || has_result;  // somebody has rebased or merged it
    if (is_settled) {
        if (!is_merge_known(world_, below_.id)) co_await void_review(world_, record_, base);
        co_return co_await stand_on(std::nullopt);
    }
    CO_TRY(const auto held, co_await put_on(onto, git::shown_ref(ref)));
    if (held) co_return held;
    co_return co_await stand_on(std::nullopt);
}

Awaitable<Result<Holding>> Follower::go() {
    if (!record_.stacked_on.empty()) co_return co_await wait_again();
    if (below_.state == Below::State::open) co_return co_await note_open();
    if (below_.state == Below::State::gone) co_return co_await note_gone();
    if (below_.state == Below::State::done && !record_.on_told.starts_with(below_.seen)) {
        record_.on_told = below_.seen;  // that one may be deleted from now on
        CO_TRY(turns_.try_save(record_));
    }
    CO_TRY(project_, registered_project(world_, record_.task.project));
    const auto lock = co_await world_.repositories.acquire(project_.path);
    const auto looked = co_await look();
    if (!looked && looked.error().code == ErrorCode::not_found) {  // its branch is gone, or has another name
        co_return Holding{engine::Hold{k_look_again, std::string(first_line(looked.error().message))}};
    }
    if (!looked) co_return looked.error();
    if (below_.state == Below::State::done) co_return co_await settle();
    co_return co_await bring_along();
}

}  // namespace

std::optional<Below> below_of(const World& world, const TaskRecord& record) {
    const auto& id = record.task.on;
    if (id.empty()) return std::nullopt;
    Below below{id};
    below.short_id = world.tasks.short_id(id);
    const auto* brief = world.tasks.brief(id);
    const auto state = blocker_state(world, id);
    const bool was_done = record.on_seen == engine::k_below_done || record.on_told.starts_with(engine::k_below_done);
    if (state == BlockerState::done || (!brief && was_done)) {
        below.state = Below::State::done;
        below.seen = engine::k_below_done;
    } else if (state == BlockerState::gone) {
        below.state = Below::State::gone;
        below.seen = "gone";
        below.fate = fate_of(world, id);
    } else {
        const auto other = world.tasks.awake(id);
        below.seen = "open";
        below.is_changing = other && other->intent;
        if (!other || below.is_changing || !needs_only_merge(world, *other)) return below;
        below.state = Below::State::reviewed;
        const auto& commit = other->reviewed_commit;
        const auto since = other->entered_at.value_or(other->task.updated_at);
        below.seen = "reviewed " + (commit.empty() || commit == "none" ? to_rfc3339(since) : commit);
    }
    return below;
}

Result<void> build_on(const World& world, TaskRecord& record, const std::string& name) {
    TRY(auto id, world.tasks.resolve(name, store::Naming::id_or_branch));
    if (id == record.task.id) return {ErrorCode::conflict, "task " + id.value + " cannot be built on itself"};
    const auto* other = world.tasks.brief(id);
    if (other && other->project.text() != record.task.project) {
        return {ErrorCode::invalid_argument, "task " + id.value + " is in the project " + other->project.text() +
                                                 "; a task can be built only on one of its own project, " +
                                                 record.task.project};
    }
    if (other && other->into_parent) {
        return {ErrorCode::invalid_argument, "task " + id.value + " is merged into the branch of its parent, task " +
                                                 other->parent.value +
                                                 ", not into the default branch. Build on that "
                                                 "task instead: --on " +
                                                 other->parent.value};
    }
    if (std::ranges::find(record.task.blocked_by, id) != record.task.blocked_by.end()) {
        return {ErrorCode::invalid_argument,
                "a task that is built on " + id.value + " waits for its review. Leave out --blocked-by " + id.value};
    }
    if (blocker_state(world, id) == BlockerState::gone) {
        return {ErrorCode::conflict,
                "task " + id.value + " " + fate_of(world, id) + ", and nothing can be built on it"};
    }
    record.task.on = id;
    const auto below = below_of(world, record);
    const bool waits = below->state == Below::State::open;
    if (!waits) record.blockers_done.insert(std::move(id));
    return check_cycle(world, record);
}

void build_on_none(TaskRecord& record) {
    record.blockers_done.erase(record.task.on);
    record.task.on = {};
    record.task.base.reset();
    record.stacked_on = {};
    record.on_seen.clear();
    record.on_told.clear();
    record.on_move.clear();
    (void)clear(record, NoticeKind::on_changed);
}

namespace {

/// Returns the last commit that the task's branch shares with its target; empty if the target has `base`.
Awaitable<Result<std::string>> begin_without(World& world, TaskRecord record, std::string base) {
    CO_TRY(const auto project, registered_project(world, record.task.project));
    CO_TRY(const auto target, co_await target_ref(world, record, project));
    CO_TRY(const bool has_it, co_await git::contains(world.git, project.path, target, base));
    if (has_it) co_return std::string();
    GitCommand ask{project.path, {"merge-base", target, "refs/heads/" + record.task.branch}};
    CO_TRY(const auto begin, co_await git_output(world.git, std::move(ask)));
    co_return std::string(trim(begin));
}

/// True if the commit is in the target of the task, as after void_review().
Awaitable<Result<bool>> is_in_target(World& world, TaskRecord record, Project project, std::string commit) {
    CO_TRY(auto target, co_await target_ref(world, record, project));
    co_return co_await git::contains(world.git, project.path, std::move(target), std::move(commit));
}

}  // namespace

Awaitable<void> void_review(World& world, TaskRecord& record, std::string base) {
    if (record.reviewed_commit.empty() && !needs_only_merge(world, record)) co_return;
    auto begin = co_await begin_without(world, record, std::move(base));
    if (!begin) {
        record.reviewed_commit = "none";
    } else if (!begin->empty()) {
        record.reviewed_commit = std::move(*begin);
    }
}

Awaitable<Result<std::string>> commit_below(World& world, TaskRecord record) {
    CO_TRY(const auto project, registered_project(world, record.task.project));
    const auto other = world.tasks.read(record.task.on).value_or(nullptr);
    if (!other) co_return std::string();
    const auto repo = project.path;
    const auto reviewed = other->reviewed_commit == "none" ? std::string() : other->reviewed_commit;
    if (!reviewed.empty()) {
        CO_TRY(auto there, co_await git::commit_of(world.git, repo, reviewed));
        const auto in_target = co_await is_in_target(world, *other, project, there);
        const bool is_void = there.empty() || (in_target && *in_target);
        if (!is_void) co_return there;
    }
    auto tip = co_await git::branch_tip(world.git, repo, other->task.branch);
    if (!tip && tip.error().code == ErrorCode::not_found) co_return std::string();
    co_return tip;
}

Result<void> check_below_is_merged(const World& world, const TaskRecord& record) {
    const auto below = below_of(world, record);
    if (!below || below->state == Below::State::done) return {};
    const auto& id = record.task.id.value;
    std::map<std::string, std::string> details = {{"why", "below_not_merged"}, {"on", below->id.value}};
    if (below->state != Below::State::reviewed) {
        const bool is_gone = below->state == Below::State::gone;
        return Error(ErrorCode::conflict,
                     "task " + id + " is built on task " + below->short_id + ", which " +
                         (is_gone ? below->fate : "is worked on. It can be merged after that one") +
                         ". To go on without that task, with the commits that it has from it:\n  " +
                         without_it(record, *below),
                     std::move(details));
    }
    return Error(ErrorCode::conflict,
                 "task " + id + " is built on task " + below->short_id +
                     ", which is not merged. Merge that first:\n  orange task merge " + below->short_id,
                 std::move(details));
}

Awaitable<Result<std::optional<engine::Hold>>> follow_below(Runner& runner, TaskRecord& record, engine::Below below) {
    Follower follower(runner, record, std::move(below));
    co_return co_await follower.go();
}

}  // namespace orange
