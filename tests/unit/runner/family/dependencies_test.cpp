#include "daemon/runner/attention/attention.hpp"
#include "tests/catch.hpp"
#include "tests/unit/runner/blocked_tasks.hpp"

/// Tasks that wait for others to be done, and begin then.
using namespace orange;
using namespace orange::test;

namespace {

std::string status(RunnerWorld& world, const TaskId& id) {
    return world.record(id).task.status;
}

Need need(RunnerWorld& world, const TaskId& id) {
    return needs_of(world.house().runner(), world.record(id)).kind;
}

void remove(RunnerWorld& world, const TaskId& id) {
    auto& runner = world.house().runner();
    world.house().go(runner.reconciler.pass_on_end(id)).value();
    world.house().go(runner.requests.remove(id, a_human())).value();
}

/// A task that is worked on: its branch is "below", and has a commit.
TaskId below(RunnerWorld& world, const std::string& file, const std::string& text) {
    auto record = world.draft("the one below", 2);
    record.task.workflow = "relay";
    record.task.branch = "below";
    const auto id = record.task.id;
    world.create(std::move(record), "", true).value();
    world.move(id, "working").value();
    world.git.commit(world.house().world().pool.path_of(*world.record(id).task.workspace), file, text);
    return id;
}

/// As task.create makes one whose --base names its blocker's branch.
TaskId stacked_on(RunnerWorld& world, const TaskId& blocker) {
    auto record = blocked_draft(world, {blocker}, "above");
    record.stacked_on = blocker;
    record.task.base = "refs/heads/below";
    const auto id = record.task.id;
    world.create(std::move(record), "", false).value();
    return id;
}

}  // namespace

TEST_CASE("A task starts by itself when its last blocker is merged, and not before") {
    RunnerWorld world;
    const auto first = with_work(world);
    const auto second = make_blocked(world, {first});
    const auto third = make_blocked(world, {first, second});
    CHECK(status(world, second) == "pending");
    CHECK(need(world, second) == Need::nothing);
    CHECK(world.house().world().tasks.queue("shop").empty());
    const auto refused = world.move(second, "working");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::guard_failed);
    CHECK_THAT(refused.error().message, Tells("--unblock"));

    merge_now(world, first);
    CHECK(status(world, second) == "working");
    CHECK(status(world, third) == "pending");
    CHECK(world.record(third).blockers_done == std::set<TaskId>{first});
    CHECK(world.events(second, "blocker.done").size() == 1);
    const auto tree = world.house().world().pool.path_of(*world.record(second).task.workspace);
    CHECK(std::filesystem::exists(tree / "feature"));
    world.git.commit(tree, "second", "too\n");
    merge_now(world, second);
    CHECK(status(world, third) == "working");
    CHECK(world.events(third, "blocker.done").size() == 2);
    CHECK(world.house().world().tasks.blocked().empty());
}

TEST_CASE("A blocker that is done already holds nothing back, and one that never will be is refused") {
    RunnerWorld world;
    const auto done = with_work(world);
    merge_now(world, done);
    const auto now = make_blocked(world, {done});
    CHECK(status(world, now) == "working");
    world.move(now, "cancelled").value();
    auto record = world.draft();
    const auto refused = add_blockers(world.house().world(), record, {now.value});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::conflict);
}

TEST_CASE("A task that is only created does not start when its blockers are done, unless it was asked to meanwhile") {
    RunnerWorld world;
    const auto first = with_work(world);
    const auto left = make_blocked(world, {first}, true), asked = make_blocked(world, {first}, true);
    const auto told = world.house().go(world.house().runner().queue.spawn(asked, a_human())).value();
    REQUIRE(told.notes.size() == 1);
    CHECK_THAT(told.notes[0], Tells("--unblock"));
    merge_now(world, first);
    CHECK(status(world, left) == "pending");
    CHECK(need(world, left) == Need::start);
    CHECK(status(world, asked) == "working");
}

TEST_CASE("A cancelled blocker leaves a task that needs help until it is unblocked, seen or not") {
    RunnerWorld world;
    const auto first = with_work(world);
    const auto second = make_blocked(world, {first});
    world.move(first, "cancelled").value();
    CHECK(status(world, second) == "pending");
    CHECK(need(world, second) == Need::help);
    const auto* notice = notice_of(world, second, NoticeKind::blocker_gone);
    REQUIRE(notice);
    CHECK_THAT(notice->text, Tells("cancelled") && Tells("--unblock") && Tells("orange task cancel"));
    world.house().go(world.house().runner().requests.acknowledge(second)).value();
    CHECK(need(world, second) == Need::help);
    CHECK_FALSE(notice_of(world, second, NoticeKind::blocker_gone));
    world.house().go(world.house().runner().queue.look("shop"));
    CHECK(status(world, second) == "pending");
    CHECK(world.events(second, "blocker.gone").size() == 1);
    edit(world, second, unblocking({first})).value();
    CHECK(status(world, second) == "working");
    CHECK(need(world, second) == Need::nothing);
}

TEST_CASE("A deleted blocker counts as what it was") {
    RunnerWorld world;
    const auto done = with_work(world);
    const auto other = world.make_task("other", 1, "relay");
    const auto waiting = make_blocked(world, {done, other});
    merge_now(world, done);
    remove(world, done);
    CHECK(world.record(waiting).waits_for() == std::vector<TaskId>{other});
    CHECK_FALSE(notice_of(world, waiting, NoticeKind::blocker_gone));
    world.move(other, "cancelled").value();
    remove(world, other);
    REQUIRE(notice_of(world, waiting, NoticeKind::blocker_gone));
    CHECK_THAT(notice_of(world, waiting, NoticeKind::blocker_gone)->text, Tells("deleted"));
    edit(world, waiting, unblocking({other})).value();
    CHECK(status(world, waiting) == "working");
    CHECK(world.events(waiting, "blocker.gone").size() == 1);
}

TEST_CASE("Tasks cannot wait for each other, and a task that has begun waits for nobody") {
    RunnerWorld world;
    const auto first = world.make_task(), second = make_blocked(world, {first}, true),
               third = make_blocked(world, {second}, true);
    const auto before = world.state_text(first);
    const auto cycle = edit(world, first, blocking({third}));
    REQUIRE_FALSE(cycle);
    CHECK(cycle.error().code == ErrorCode::conflict);
    CHECK(cycle.error().details.at("cycle") ==
          first.value + " " + third.value + " " + second.value + " " + first.value);
    CHECK_FALSE(edit(world, first, blocking({first})));
    CHECK_FALSE(edit(world, first, unblocking({second})));
    CHECK(world.state_text(first) == before);
    world.move(first, "planning").value();
    const auto begun = edit(world, first, blocking({world.make_task("another")}));
    REQUIRE_FALSE(begun);
    CHECK(begun.error().code == ErrorCode::conflict);
}

TEST_CASE("A blocker may be added and taken away while the task waits, and the status asked for with it") {
    RunnerWorld world;
    const auto first = with_work(world);
    const auto second = world.make_task("second", 1, "relay");
    const auto id = make_blocked(world, {first});
    edit(world, id, blocking({second})).value();
    merge_now(world, first);
    CHECK(status(world, id) == "pending");
    CHECK(world.record(id).task.blocked_by == std::vector<TaskId>{first, second});
    CHECK_THAT(world.task_text(id), Holds("\nblocked_by: [") && Holds(first.value) && Holds(second.value));
    engine::Request request;
    request.to = "working";
    const auto human = a_human();
    const auto moved = world.house().go(world.house().runner().requests.move(id, request, human, unblocking({second})));
    REQUIRE(moved);
    CHECK(status(world, id) == "working");
    CHECK(world.record(id).task.blocked_by == std::vector<TaskId>{first});
}

TEST_CASE("A daemon that ended between a blocker's end and the start leaves it to the next one, which starts it once") {
    RunnerWorld world;
    const auto first = with_work(world);
    const auto second = make_blocked(world, {first});
    merge_now(world, first);
    // As the record was when the daemon was killed.
    world.move(second, "cancelled").value();
    const auto third = make_blocked(world, {first}, true);
    auto record = world.record(third);
    record.blockers_done.clear();
    record.queued = true;
    record.queued_seq = 1;
    world.house().world().tasks.save(record).value();
    world.stop();
    world.boot();
    world.recover();
    CHECK(status(world, third) == "working");
    CHECK(world.outside.tmux.windows_named("worker") == 3);
    CHECK(world.events(third, "blocker.done").size() == 1);
}

TEST_CASE("A blocked task that starts in a later state begins there when it is its turn, without an agent too") {
    RunnerWorld world;
    const auto first = with_work(world);
    auto record = blocked_draft(world, {first}, "by-hand");
    record.task.workflow = "default";
    record.start = "reviewing";
    const auto id = record.task.id;
    world.git.plain(world.repo(), {"branch", "by-hand"});
    world.create(std::move(record), "", false).value();
    CHECK(status(world, id) == "pending");
    merge_now(world, first);
    CHECK(status(world, id) == "reviewing");
    CHECK_FALSE(world.record(id).task.workspace);
}

TEST_CASE("Stacked work begins with its blocker's, and with the default branch as it is then") {
    RunnerWorld world;
    const auto strategy = GENERATE(git::MergeStrategy::merge, git::MergeStrategy::squash);
    const auto first = below(world, "feature", "it\n");
    const auto second = stacked_on(world, first);
    world.git.commit(world.repo(), "news", "meanwhile\n");
    merge_now(world, first, strategy);
    REQUIRE(status(world, second) == "working");
    const auto& record = world.record(second);
    CHECK_FALSE(record.task.base);
    CHECK(record.stacked_on.empty());
    const auto tree = world.house().world().pool.path_of(*record.task.workspace);
    CHECK(read_file(tree / "feature") == "it\n");
    CHECK(read_file(tree / "news") == "meanwhile\n");
    // What it begins with is not its own.
    CHECK(record.branch_start == world.git.ref(world.repo(), "above"));
    CHECK(world.git.plain(world.repo(), {"merge-base", "--is-ancestor", "main", "above"}, true).empty());
    CHECK(world.git.plain(world.repo(), {"rev-list", "--count", "above..main"}) == "0");
    CHECK(world.events(second, "branch.updated").size() == 1);
}

TEST_CASE(
    "Where stacked work conflicts with the default branch its human is asked, and it starts when that is resolved") {
    RunnerWorld world;
    const auto first = below(world, "feature", "it\n");
    const auto second = stacked_on(world, first);
    auto project = shop(world);
    project.pool_size = 1;
    world.house().world().projects.put(project).value();
    // Somebody else has the workspace until the default branch has moved on.
    const auto queued = world.make_task("in between", 1, "relay");
    auto other = world.record(queued);
    world.house().runner().queue.enqueue(other);
    other.queued_seq = 1;
    world.house().world().tasks.save(other).value();
    merge_now(world, first, git::MergeStrategy::squash);
    REQUIRE(status(world, second) == "pending");
    world.git.commit(world.repo(), "feature", "another\n");
    world.move(queued, "cancelled").value();
    world.house().go(world.house().runner().queue.look("shop"));

    CHECK(status(world, second) == "pending");
    CHECK(need(world, second) == Need::help);
    const auto* notice = notice_of(world, second, NoticeKind::merge_conflict);
    REQUIRE(notice);
    CHECK_THAT(notice->text, Tells("feature") && Tells("git -C " + world.repo() + " merge main") &&
                                 Tells("orange task spawn " + second.value));
    CHECK_FALSE(world.record(second).queued);
    CHECK(world.record(second).task.workspace == std::nullopt);
    CHECK(world.git.plain(world.repo(), {"show", "above:feature"}) == "it");

    world.git.plain(world.repo(), {"switch", "-q", "above"});
    world.git.plain(world.repo(), {"merge", "-q", "-X", "ours", "--no-edit", "main"});
    world.git.plain(world.repo(), {"switch", "-q", "main"});
    world.house().go(world.house().runner().queue.spawn(second, a_human())).value();
    CHECK(status(world, second) == "working");
    CHECK(need(world, second) == Need::nothing);
    CHECK_FALSE(notice_of(world, second, NoticeKind::merge_conflict));
}

TEST_CASE(
    "Stacked work that is unblocked early begins at its blocker's branch, or at the default one if there is none") {
    RunnerWorld world;
    SECTION("the branch is there") {
        const auto first = below(world, "feature", "it\n");
        const auto second = stacked_on(world, first);
        edit(world, second, unblocking({first})).value();
        REQUIRE(status(world, second) == "working");
        CHECK(world.record(second).task.base == "refs/heads/below");
        CHECK(world.git.ref(world.repo(), "above") == world.git.ref(world.repo(), "below"));
    }
    SECTION("the blocker has not begun") {
        const auto first = world.make_task("first", 2, "relay");
        const auto second = stacked_on(world, first);
        edit(world, second, unblocking({first})).value();
        REQUIRE(status(world, second) == "working");
        CHECK_FALSE(world.record(second).task.base);
        CHECK(world.git.ref(world.repo(), "above") == world.git.ref(world.repo(), "main"));
    }
}
