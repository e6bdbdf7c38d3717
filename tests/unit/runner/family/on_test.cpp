#include <algorithm>
#include <utility>

#include "common/base/text.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/branch/branch.hpp"
#include "tests/catch.hpp"
#include "tests/unit/runner/family.hpp"

/// Tasks that are built on another one (--on).
using namespace orange;
using namespace orange::test;

namespace {

std::string status_on(RunnerWorld& world, const TaskId& id) {
    return world.record(id).task.status;
}

std::string tip_at(RunnerWorld& world, const std::string& branch) {
    return world.git.ref(world.repo(), branch);
}

void bring_to_review(RunnerWorld& world, const TaskId& id) {
    world.append_body(id, "\n## Handoff\nall of it\n");
    world.move(id, "agent-review").value();
    world.append_body(id, "\n## Review\nPASS\n");
    world.move(id, "reviewing").value();
}

/// A task that is worked on, with a commit. Its branch is "lower".
TaskId lower(RunnerWorld& world) {
    auto record = world.draft("the one below", 3);
    record.task.workflow = "relay";
    record.task.branch = "lower";
    const auto id = record.task.id;
    world.create(std::move(record), "", true).value();
    world.move(id, "working").value();
    world.git.commit(worktree_of(world, id), "feature", "it\n");
    return id;
}

/// As task.create makes one with --on. Its branch is "upper".
TaskId upper_on(RunnerWorld& world, const TaskId& other) {
    auto record = world.draft("the one above", 3);
    record.task.workflow = "relay";
    record.task.branch = "upper";
    build_on(world.house().world(), record, other.value).value();
    record.stacked_on = other;
    record.task.base = "refs/heads/lower";
    const auto id = record.task.id;
    world.create(std::move(record), "", false).value();
    return id;
}

/// Two tasks in review, the second built on the first, with a commit each.
struct Stack {
    explicit Stack(RunnerWorld& world, bool is_reviewed = true) : below(lower(world)) {
        bring_to_review(world, below);
        above = upper_on(world, below);
        world.git.commit(worktree_of(world, above), "more", "of it\n");
        if (is_reviewed) bring_to_review(world, above);
    }
    TaskId below, above;
};

/// The task is in review again, with its branch as it is.
void review_again(RunnerWorld& world, const TaskId& id) {
    auto record = world.record(id);
    record.reviewed_commit = tip_at(world, record.task.branch);
    record.task.status = "reviewing";
    record.entered_at = world.outside.clock.now();
    world.house().world().tasks.save(record).value();
    world.house().go(world.house().runner().reconciler.wake_all());
}

/// The same, with one more commit.
void review_again(RunnerWorld& world, const TaskId& id, const std::string& file, const std::string& text) {
    world.git.commit(worktree_of(world, id), file, text);
    review_again(world, id);
}

void look_at_all(RunnerWorld& world) {
    world.house().go(world.house().runner().reconciler.wake_all());
}

std::string agents_told(RunnerWorld& world, const TaskId& id) {
    std::string texts;
    for (const auto& message : world.record(id).outbox) texts += message.text + "\n";
    for (const auto& message : world.record(id).typed) texts += message.text + "\n";
    return texts;
}

Result<MergeOutcome> merge_plainly(RunnerWorld& world, const TaskId& id) {
    return world.house().go(world.house().runner().merges.merge(id, forced_order(), a_human()));
}

/// Files that differ from the last commit.
std::string edits_of(RunnerWorld& world, const TaskId& id) {
    return world.git.plain(worktree_of(world, id), {"status", "--porcelain", "-uno"});
}

}  // namespace

TEST_CASE("A task that is built on another one starts when that is in review, from its reviewed commit") {
    RunnerWorld world;
    const auto below = lower(world);
    const auto above = upper_on(world, below);
    CHECK(status_on(world, above) == "pending");
    CHECK(needs_of(world.house().runner(), world.record(above)).kind == Need::nothing);
    CHECK_THAT(needs_of(world.house().runner(), world.record(above)).text,
               Tells(world.house().world().tasks.short_id(below)));
    const auto refused = world.move(above, "working");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::guard_failed);

    bring_to_review(world, below);
    REQUIRE(status_on(world, above) == "working");
    const auto reviewed = world.record(below).reviewed_commit;
    CHECK(world.record(above).task.base == reviewed);
    CHECK(world.record(above).stacked_on.empty());
    CHECK(tip_at(world, "upper") == reviewed);
    CHECK(world.record(above).branch_start == reviewed);
    CHECK(world.events(above, "blocker.done").empty());

    world.git.commit(worktree_of(world, above), "more", "of it\n");
    const auto changes = world.house().go(changes_of(world.house().world(), world.record(above), {})).value();
    CHECK(changes.base == reviewed);
    CHECK(changes.commits == 1);
    CHECK(changes.files == 1);
}

TEST_CASE("A task that has not begun waits again if the one below is sent back") {
    RunnerWorld world;
    const auto below = lower(world);
    auto project = shop(world);
    project.pool_size = 1;
    world.house().world().projects.put(project).value();
    const auto above = upper_on(world, below);
    bring_to_review(world, below);
    CHECK(status_on(world, above) == "pending");
    CHECK_FALSE(world.record(above).blocked());
    auto record = world.record(below);
    record.task.status = "working";
    world.house().world().tasks.save(record).value();
    look_at_all(world);
    CHECK(world.record(above).waits_for() == std::vector<TaskId>{below});
    CHECK(world.record(above).queued);
}

TEST_CASE("A task is brought along when the one below moves, and its review stays for the same patch") {
    RunnerWorld world;
    const Stack stack(world);
    const auto before = tip_at(world, "upper");
    CHECK(world.record(stack.above).reviewed_commit == before);
    review_again(world, stack.below, "feature", "it, better\n");
    const auto& record = world.record(stack.above);
    CHECK(record.task.base == tip_at(world, "lower"));
    CHECK(record.on_move.empty());
    const auto now = tip_at(world, "upper");
    CHECK(now != before);
    CHECK(world.git.plain(world.repo(), {"rev-list", "--count", "upper..lower"}) == "0");
    CHECK(world.git.plain(world.repo(), {"rev-list", "--count", now + ".." + before}) == "0");
    CHECK(read_file(worktree_of(world, stack.above) / "feature") == "it, better\n");
    CHECK(edits_of(world, stack.above).empty());
    CHECK(record.reviewed_commit == now);
    CHECK(world.events(stack.above, "branch.updated").size() == 1);
    CHECK_FALSE(notice_of(world, stack.above, NoticeKind::on_changed));
    look_at_all(world);
    CHECK(tip_at(world, "upper") == now);
}

TEST_CASE("A task follows one whose commit was made again, without the old commit") {
    RunnerWorld world;
    const Stack stack(world);
    const auto tree = worktree_of(world, stack.below);
    write_file(tree / "feature", "it, in other words\n");
    world.git.plain(tree, {"commit", "-qa", "--amend", "-m", "amended"});
    review_again(world, stack.below);
    const auto& record = world.record(stack.above);
    CHECK(record.task.base == tip_at(world, "lower"));
    CHECK(tip_at(world, "upper^") == tip_at(world, "lower"));
    CHECK(read_file(worktree_of(world, stack.above) / "feature") == "it, in other words\n");
    CHECK(read_file(worktree_of(world, stack.above) / "more") == "of it\n");
    CHECK(edits_of(world, stack.above).empty());
    CHECK(record.reviewed_commit == tip_at(world, "upper"));
    CHECK_FALSE(notice_of(world, stack.above, NoticeKind::on_changed));
}

TEST_CASE("While a reviewer works, the branch stays, and the worker is not told to change it") {
    RunnerWorld world;
    const Stack stack(world, false);
    world.append_body(stack.above, "\n## Handoff\nall of it\n");
    world.move(stack.above, "agent-review").value();
    const auto before = tip_at(world, "upper");
    review_again(world, stack.below, "feature", "it, better\n");
    CHECK(tip_at(world, "upper") == before);
    CHECK(agents_told(world, stack.above).find("git merge") == std::string::npos);
    CHECK_FALSE(notice_of(world, stack.above, NoticeKind::on_changed));
    world.append_body(stack.above, "\n## Review\nPASS\n");
    world.move(stack.above, "reviewing").value();
    look_at_all(world);
    CHECK(world.record(stack.above).task.base == tip_at(world, "lower"));
    CHECK(world.record(stack.above).reviewed_commit == tip_at(world, "upper"));
}

TEST_CASE("A worktree in which an agent works is left alone, and the worker is told once") {
    RunnerWorld world;
    const Stack stack(world, false);
    const auto before = tip_at(world, "upper"), base = *world.record(stack.above).task.base;
    review_again(world, stack.below, "feature", "it, better\n");
    look_at_all(world);
    CHECK(tip_at(world, "upper") == before);
    CHECK(world.record(stack.above).task.base == base);
    const auto told = agents_told(world, stack.above);
    const auto command = "git merge " + tip_at(world, "lower").substr(0, 12);
    CHECK_THAT(told, Tells(command));
    CHECK(told.find(command) == told.rfind(command));
    CHECK_FALSE(notice_of(world, stack.above, NoticeKind::on_changed));

    world.git.plain(worktree_of(world, stack.above), {"merge", "-q", "--no-edit", "lower"});
    look_at_all(world);
    CHECK(world.record(stack.above).task.base == tip_at(world, "lower"));
    CHECK(world.events(stack.above, "branch.updated").empty());
}

TEST_CASE("Where edits or a conflict are in the way, the human is told, and nothing is touched") {
    RunnerWorld world;
    const Stack stack(world);
    const auto tree = worktree_of(world, stack.above);
    const bool conflicts = GENERATE(false, true);
    if (conflicts) {
        world.git.commit(tree, "feature", "mine\n");
    } else {
        write_file(tree / "feature", "not yet\n");
    }
    const auto before = tip_at(world, "upper"), edits = edits_of(world, stack.above);
    review_again(world, stack.below, "feature", "it, better\n");
    CHECK(tip_at(world, "upper") == before);
    CHECK(edits_of(world, stack.above) == edits);
    const auto* notice = notice_of(world, stack.above, NoticeKind::on_changed);
    REQUIRE(notice);
    CHECK_THAT(notice->text, Tells("git merge " + tip_at(world, "lower").substr(0, 12)));
    world.house().go(world.house().runner().requests.acknowledge(stack.above)).value();
    look_at_all(world);
    CHECK_FALSE(notice_of(world, stack.above, NoticeKind::on_changed));  // it is told once

    if (conflicts) {
        world.git.plain(tree, {"merge", "-q", "-X", "ours", "--no-edit", "lower"});
    } else {
        world.git.plain(tree, {"checkout", "-q", "feature"});
    }
    look_at_all(world);
    CHECK(world.record(stack.above).task.base == tip_at(world, "lower"));
    CHECK(world.git.plain(world.repo(), {"rev-list", "--count", "upper..lower"}) == "0");
}

TEST_CASE("A task is merged after the one that it is built on") {
    RunnerWorld world;
    const Stack stack(world);
    const auto refused = merge_plainly(world, stack.above);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::conflict);
    CHECK(refused.error().details.at("why") == "below_not_merged");
    CHECK(refused.error().details.at("on") == stack.below.value);
    CHECK_THAT(refused.error().message,
               Tells("orange task merge " + world.house().world().tasks.short_id(stack.below)));
    CHECK_FALSE(world.record(stack.above).merge);
    const auto needs = needs_of(world.house().runner(), world.record(stack.above));
    CHECK(needs.kind == Need::review);
    CHECK_THAT(needs.text, Tells(world.house().world().tasks.short_id(stack.below)));
    const auto offers = offers_of(world.house().runner(), world.record(stack.above), needs);
    CHECK(std::ranges::find(offers, "merge") == offers.end());

    const auto before = tip_at(world, "upper");
    merge_now(world, stack.below);
    CHECK_FALSE(world.record(stack.above).task.base);
    CHECK(tip_at(world, "upper") == before);
    CHECK(world.record(stack.above).reviewed_commit == before);
    CHECK(world.git.plain(world.repo(), {"rev-list", "--count", "main..upper"}) == "1");
    merge_plainly(world, stack.above).value();
    CHECK(status_on(world, stack.above) == "done");
}

TEST_CASE("After a squash the commits are made again on the result, and the review stays for the same patch") {
    RunnerWorld world;
    const Stack stack(world);
    const auto tree = worktree_of(world, stack.above);
    write_file(tree / "untracked", "mine\n");
    const auto before = tip_at(world, "upper");
    merge_now(world, stack.below, git::MergeStrategy::squash);
    const auto& record = world.record(stack.above);
    CHECK_FALSE(record.task.base);
    const auto now = tip_at(world, "upper");
    CHECK(now != before);
    CHECK(tip_at(world, "upper^") == tip_at(world, "main"));
    CHECK(record.reviewed_commit == now);
    CHECK_FALSE(notice_of(world, stack.above, NoticeKind::on_changed));
    CHECK(world.git.plain(world.repo(), {"log", "-1", "--format=%an %s", before}) ==
          world.git.plain(world.repo(), {"log", "-1", "--format=%an %s", now}));
    CHECK(edits_of(world, stack.above).empty());
    CHECK(read_file(tree / "more") == "of it\n");
    CHECK(read_file(tree / "untracked") == "mine\n");
    merge_plainly(world, stack.above).value();
    CHECK(status_on(world, stack.above) == "done");
}

TEST_CASE("After a squash a task that was brought along has its own commits only") {
    RunnerWorld world;
    const Stack stack(world);
    review_again(world, stack.below, "feature", "it, better\n");
    merge_now(world, stack.below, git::MergeStrategy::squash);
    CHECK_FALSE(world.record(stack.above).task.base);
    CHECK(world.git.plain(world.repo(), {"rev-list", "--count", "main..upper"}) == "1");
    CHECK(world.git.plain(world.repo(), {"diff", "--name-only", "main", "upper"}) == "more");
    CHECK(world.record(stack.above).reviewed_commit == tip_at(world, "upper"));
}

TEST_CASE("A patch that is not the same after a squash has to be reviewed again") {
    RunnerWorld world;
    world.git.commit(world.repo(), "list", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    const Stack stack(world, false);
    world.git.commit(worktree_of(world, stack.above), "list", "1\n2\n3\n4\n5\n6\nseven\n8\n9\n");
    bring_to_review(world, stack.above);
    const auto before = tip_at(world, "upper");
    world.git.commit(world.repo(), "list", "1\n2\n3\nfour\n5\n6\n7\n8\n9\n");
    merge_now(world, stack.below, git::MergeStrategy::squash);
    CHECK_FALSE(world.record(stack.above).task.base);
    CHECK(world.record(stack.above).reviewed_commit == before);
    CHECK(tip_at(world, "upper") != before);
    const auto* notice = notice_of(world, stack.above, NoticeKind::on_changed);
    REQUIRE(notice);
    CHECK_THAT(notice->command, Tells("orange task diff " + stack.above.value));
    CHECK(read_file(worktree_of(world, stack.above) / "list") == "1\n2\n3\nfour\n5\n6\nseven\n8\n9\n");
    const auto asked = world.house().go(world.house().runner().merges.merge(stack.above, {}, a_human()));
    REQUIRE_FALSE(asked);
    CHECK(asked.error().code == ErrorCode::needs_force);
}

TEST_CASE("After a squash a worker at work is told to rebase, and the one below may be deleted meanwhile") {
    RunnerWorld world;
    const Stack stack(world, false);
    const auto base = *world.record(stack.above).task.base;
    merge_now(world, stack.below, git::MergeStrategy::squash);
    CHECK(world.record(stack.above).task.base == base);
    const auto command = "git rebase --onto " + tip_at(world, "main").substr(0, 12) + " " + base.substr(0, 12);
    CHECK_THAT(agents_told(world, stack.above), Tells(command));
    CHECK(agents_told(world, stack.above).find("sent back") == std::string::npos);
    world.house().go(world.house().runner().reconciler.pass_on_end(stack.below)).value();
    world.house().go(world.house().runner().requests.remove(stack.below, a_human())).value();
    CHECK_FALSE(notice_of(world, stack.above, NoticeKind::on_changed));
    bring_to_review(world, stack.above);
    look_at_all(world);
    CHECK_FALSE(world.record(stack.above).task.base);
    CHECK(tip_at(world, "upper^") == tip_at(world, "main"));
    CHECK(world.record(stack.above).reviewed_commit == tip_at(world, "upper"));
}

TEST_CASE("A task stays as it is until the merge of the one below was fetched") {
    RunnerWorld world;
    const Stack stack(world, false);
    const auto base = world.record(stack.above).task.base;
    merge_now(world, stack.below, git::MergeStrategy::squash);
    auto record = world.record(stack.below);
    const auto commit = std::exchange(record.merge->commit, std::string(40, '1'));
    world.house().world().tasks.save(record).value();
    bring_to_review(world, stack.above);
    const auto before = tip_at(world, "upper");
    look_at_all(world);
    CHECK(tip_at(world, "upper") == before);
    CHECK(world.record(stack.above).task.base == base);
    record = world.record(stack.below);
    record.merge->commit = commit;
    world.house().world().tasks.save(record).value();
    look_at_all(world);
    CHECK_FALSE(world.record(stack.above).task.base);
    CHECK(tip_at(world, "upper^") == tip_at(world, "main"));
}

TEST_CASE("The one below can be deleted when the branch that is built on it is gone") {
    RunnerWorld world;
    const Stack stack(world);
    world.git.plain(world.repo(), {"update-ref", "-d", "refs/heads/upper"});
    merge_now(world, stack.below, git::MergeStrategy::squash);
    CHECK(world.house().go(world.house().runner().reconciler.pass_on_end(stack.below)));
    CHECK(world.record(stack.above).on_told == "done");
}

TEST_CASE("When the one below is sent back, the worker is told, and the human of a task in review") {
    RunnerWorld world;
    const bool is_reviewed = GENERATE(false, true);
    const Stack stack(world, is_reviewed);
    const auto before = tip_at(world, "upper");
    auto record = world.record(stack.below);
    record.task.status = "working";
    world.house().world().tasks.save(record).value();
    look_at_all(world);
    look_at_all(world);
    CHECK(world.record(stack.above).on_seen == "open");
    CHECK(tip_at(world, "upper") == before);
    CHECK((notice_of(world, stack.above, NoticeKind::on_changed) != nullptr) == is_reviewed);
    CHECK(world.record(stack.above).outbox.size() == (is_reviewed ? 0 : 1));
    const auto refused = merge_plainly(world, stack.above);
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Tells("--unblock " + stack.below.value) && !Holds("orange task merge"));

    record = world.record(stack.below);
    record.task.status = "reviewing";
    world.house().world().tasks.save(record).value();
    look_at_all(world);
    CHECK_FALSE(notice_of(world, stack.above, NoticeKind::on_changed));
    CHECK(tip_at(world, "upper") == before);
}

TEST_CASE("When the one below is cancelled, the human decides, and the branch stays as it is") {
    RunnerWorld world;
    const Stack stack(world);
    const auto before = tip_at(world, "upper");
    world.move(stack.below, "cancelled").value();
    const auto* notice = notice_of(world, stack.above, NoticeKind::on_changed);
    REQUIRE(notice);
    const auto command = "orange task update " + stack.above.value + " --unblock " + stack.below.value;
    CHECK_THAT(notice->command, Tells(command));
    const auto refused = merge_plainly(world, stack.above);
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Tells(command) && !Holds("orange task merge"));
    world.house().go(world.house().runner().requests.acknowledge(stack.above)).value();
    CHECK_FALSE(notice_of(world, stack.above, NoticeKind::on_changed));
    const auto needs = needs_of(world.house().runner(), world.record(stack.above));
    CHECK(needs.kind == Need::help);
    CHECK(needs.command.text() == command);
    world.house().go(world.house().runner().reconciler.pass_on_end(stack.below)).value();
    world.house().go(world.house().runner().requests.remove(stack.below, a_human())).value();
    CHECK(needs_of(world.house().runner(), world.record(stack.above)).command.text() == command);

    edit(world, stack.above, unblocking({stack.below})).value();
    const auto& record = world.record(stack.above);
    CHECK(record.task.on.empty());
    CHECK_FALSE(record.task.base);
    CHECK_FALSE(notice_of(world, stack.above, NoticeKind::on_changed));
    CHECK(tip_at(world, "upper") == before);
    merge_plainly(world, stack.above).value();
    CHECK(read_file(std::filesystem::path(world.repo()) / "feature") == "it\n");
}

TEST_CASE("A merge that would bring commits of the one below, which nobody reviewed with it, has to be confirmed") {
    RunnerWorld world;
    const bool is_by_agent = GENERATE(true, false);
    const Stack stack(world);
    auto record = world.record(stack.above);
    if (!is_by_agent) record.reviewed_commit.clear();
    world.house().world().tasks.save(record).value();
    world.move(stack.below, "cancelled").value();
    const auto outcome = edit(world, stack.above, unblocking({stack.below})).value();
    CHECK_THAT(join(outcome.notes, "\n"), Tells("orange task diff " + stack.above.value));
    CHECK(world.record(stack.above).reviewed_commit == tip_at(world, "main"));
    const auto asked = world.house().go(world.house().runner().merges.merge(stack.above, {}, a_human()));
    REQUIRE_FALSE(asked);
    CHECK(asked.error().code == ErrorCode::needs_force);
    CHECK_THAT(asked.error().message, Holds("2 commits"));
    CHECK_FALSE(std::filesystem::exists(std::filesystem::path(world.repo()) / "feature"));
}

TEST_CASE("A merge also has to be confirmed if the one below is done without a merge that Orange knows") {
    RunnerWorld world;
    const Stack stack(world);
    auto record = world.record(stack.below);
    record.task.status = "done";
    record.ended = true;
    world.house().world().tasks.save(record).value();
    look_at_all(world);
    CHECK_FALSE(world.record(stack.above).task.base);
    CHECK(world.record(stack.above).reviewed_commit == tip_at(world, "main"));
    const auto asked = world.house().go(world.house().runner().merges.merge(stack.above, {}, a_human()));
    REQUIRE_FALSE(asked);
    CHECK(asked.error().code == ErrorCode::needs_force);
    CHECK_FALSE(std::filesystem::exists(std::filesystem::path(world.repo()) / "feature"));
}

TEST_CASE("A review stays if the target has the commits of the one below, and work in progress has none") {
    RunnerWorld world;
    const bool is_reviewed = GENERATE(true, false);
    const Stack stack(world, is_reviewed);
    world.house().runner().reconciler.stop();
    if (is_reviewed) world.git.plain(world.repo(), {"merge", "-q", "--no-edit", "lower"});
    const auto before = world.record(stack.above).reviewed_commit;
    CHECK(before == (is_reviewed ? tip_at(world, "upper") : ""));
    const auto outcome = edit(world, stack.above, unblocking({stack.below})).value();
    CHECK_THAT(join(outcome.notes, "\n"), !Holds("orange task diff"));
    CHECK(world.record(stack.above).reviewed_commit == before);
}

TEST_CASE("A third task stays on the second one, whose review is void because the first one is gone") {
    RunnerWorld world;
    const Stack stack(world);
    auto record = world.draft("the third", 3);
    record.task.workflow = "relay";
    record.task.branch = "third";
    build_on(world.house().world(), record, stack.above.value).value();
    record.stacked_on = stack.above;
    record.task.base = "refs/heads/upper";
    const auto third = record.task.id;
    world.create(std::move(record), "", false).value();
    world.git.commit(worktree_of(world, third), "third", "yes\n");
    world.move(stack.below, "cancelled").value();
    edit(world, stack.above, unblocking({stack.below})).value();
    look_at_all(world);
    CHECK(world.record(third).task.base == tip_at(world, "upper"));
}

TEST_CASE("A task that waits for a review that never comes needs help, and starts without the other when asked to") {
    RunnerWorld world;
    const auto below = lower(world);
    const auto above = upper_on(world, below);
    world.move(below, "cancelled").value();
    CHECK(status_on(world, above) == "pending");
    CHECK(needs_of(world.house().runner(), world.record(above)).kind == Need::help);
    CHECK(notice_of(world, above, NoticeKind::blocker_gone));
    edit(world, above, unblocking({below})).value();
    CHECK(status_on(world, above) == "working");
    CHECK(tip_at(world, "upper") == tip_at(world, "main"));
    CHECK_FALSE(notice_of(world, above, NoticeKind::blocker_gone));
}

TEST_CASE("A task is built on no task that waits for it, that has ended, or that is itself") {
    RunnerWorld world;
    const auto below = world.make_task("below", 3, "relay");
    const auto above = upper_on(world, below);
    const auto circle = edit(world, below, blocking({above}));
    REQUIRE_FALSE(circle);
    CHECK(circle.error().code == ErrorCode::conflict);
    CHECK(circle.error().details.contains("cycle"));

    auto record = world.draft();
    record.task.id = below;
    CHECK_FALSE(build_on(world.house().world(), record, below.value));
    record = world.draft();
    world.move(below, "cancelled").value();
    const auto gone = build_on(world.house().world(), record, below.value);
    REQUIRE_FALSE(gone);
    CHECK(gone.error().code == ErrorCode::conflict);
    record = world.draft();
    record.task.blocked_by = {above};
    const auto twice = build_on(world.house().world(), record, above.value);
    REQUIRE_FALSE(twice);
    CHECK(twice.error().code == ErrorCode::invalid_argument);
}

TEST_CASE("No task is built on a sub-task that is merged into its parent's branch") {
    RunnerWorld world;
    const auto family = split_into(world, 1, true);
    auto child = world.record(family.children[0]);
    child.into_parent = true;
    REQUIRE(world.house().world().tasks.save(child));
    auto record = world.draft();
    const auto refused = build_on(world.house().world(), record, family.children[0].value);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::invalid_argument);
    CHECK_THAT(refused.error().message, Tells("--on " + family.parent.value));
}

TEST_CASE("A move of the branch that a daemon did not finish is finished, or made again") {
    RunnerWorld world;
    const Stack stack(world);
    const bool had_moved = GENERATE(false, true);
    const auto tree = worktree_of(world, stack.above);
    world.house().runner().reconciler.stop();
    const auto before = tip_at(world, "upper");
    world.git.commit(worktree_of(world, stack.below), "feature", "it, better\n");
    auto below = world.record(stack.below);
    below.reviewed_commit = tip_at(world, "lower");
    world.house().world().tasks.save(below).value();
    if (had_moved) world.git.plain(tree, {"merge", "-q", "--no-edit", "lower"});
    const auto moved = had_moved ? tip_at(world, "upper") : std::string(40, '1');
    auto record = world.record(stack.above);
    record.on_move = before + " " + moved + " " + below.reviewed_commit;
    world.house().world().tasks.save(record).value();

    world.boot();
    world.recover();
    CHECK(world.record(stack.above).on_move.empty());
    CHECK(world.record(stack.above).task.base == tip_at(world, "lower"));
    CHECK(world.git.plain(world.repo(), {"rev-list", "--count", "upper..lower"}) == "0");
    CHECK(world.record(stack.above).reviewed_commit == tip_at(world, "upper"));
    if (had_moved) CHECK(tip_at(world, "upper") == moved);
    CHECK(world.events(stack.above, "branch.updated").size() == 1);
}

TEST_CASE("orange task update-branch merges the task below, as long as that is not merged") {
    RunnerWorld world;
    const Stack stack(world);
    world.house().runner().reconciler.stop();
    world.git.commit(world.repo(), "news", "meanwhile\n");
    world.git.commit(worktree_of(world, stack.below), "feature", "it, better\n");
    auto below = world.record(stack.below);
    below.reviewed_commit = tip_at(world, "lower");
    world.house().world().tasks.save(below).value();
    world.house().go(update_branch(world.house().runner(), stack.above, a_human())).value();
    CHECK(world.record(stack.above).task.base == tip_at(world, "lower"));
    CHECK(world.git.plain(world.repo(), {"rev-list", "--count", "upper..lower"}) == "0");
    CHECK(world.git.plain(world.repo(), {"rev-list", "--count", "upper..main"}) == "1");
}
