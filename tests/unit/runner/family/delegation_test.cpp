#include <fstream>

#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/branch/branch.hpp"
#include "tests/catch.hpp"
#include "tests/support/sitter.hpp"
#include "tests/unit/runner/family.hpp"
#include "tests/unit/runner/limits.hpp"

/// Tasks that were split into sub-tasks: what follows from the ends of these.
using namespace orange;
using namespace orange::test;

namespace {

const std::string& status_of(RunnerWorld& world, const TaskId& id) {
    return world.record(id).task.status;
}

Need need_of(RunnerWorld& world, const TaskId& id) {
    return needs_of(world.house().runner(), world.record(id)).kind;
}

void forget(RunnerWorld& world, const TaskId& id) {
    auto& runner = world.house().runner();
    const auto parent = world.record(id).task.parent;
    world.house().go(runner.reconciler.pass_on_end(id)).value();
    world.house().go(runner.requests.remove(id, a_human())).value();
    runner.reconciler.wake(parent);
    world.house().go(runner.queue.look("shop"));
}

std::size_t ways_out(RunnerWorld& world, const TaskId& id, const std::string& to) {
    std::size_t taken = 0;
    for (const auto& event : world.events(id, "status.changed")) {
        const bool it_is = event.fields.at("from") == Scalar{"delegated"} && event.fields.at("to") == Scalar{to};
        taken += it_is ? 1 : 0;
    }
    return taken;
}

Result<Outcome> approve(RunnerWorld& world, const TaskId& id) {
    return world.house().go(world.house().runner().queue.approve(id, a_human()));
}

TaskId unapproved_child(RunnerWorld& world, const TaskId& parent) {
    auto record = child_draft(world, parent);
    record.unapproved = true;
    return create_child(world, std::move(record));
}

}  // namespace

TEST_CASE("A task gives its workspace to its sub-tasks, and is done when the last of them is merged") {
    RunnerWorld world;
    const auto family = split_into(world, 2, false);
    CHECK_FALSE(world.record(family.parent).task.workspace);
    CHECK(world.record(family.parent).runs.empty());
    CHECK(need_of(world, family.parent) == Need::nothing);
    REQUIRE(status_of(world, family.children[0]) == "working");
    CHECK(status_of(world, family.children[1]) == "pending");
    finish_child(world, family.children[0]);
    CHECK(status_of(world, family.parent) == "delegated");
    CHECK(world.record(family.parent).children_done.size() == 1);
    REQUIRE(status_of(world, family.children[1]) == "working");
    finish_child(world, family.children[1]);
    CHECK(status_of(world, family.parent) == "done");
    CHECK(ways_out(world, family.parent, "done") == 1);
    CHECK(world.events(family.parent, "child.done").size() == 2);
    CHECK(world.events(family.parent, "auto.advanced").size() == 1);
    CHECK(world.outside.processes.alive.empty());
}

TEST_CASE("A task with work of its own goes on with a worker that integrates, whatever way its sub-tasks are merged") {
    RunnerWorld world;
    const auto strategy = GENERATE(git::MergeStrategy::merge, git::MergeStrategy::squash);
    const auto parent = split_into(world, 1, true);
    // The sub-task begins with what its parent has done.
    const auto tree = worktree_of(world, parent.children[0]);
    CHECK(std::filesystem::exists(tree / ("of-" + parent.parent.value)));
    // More of its own, that no sub-task brings.
    world.git.plain(world.repo(), {"switch", "-q", world.record(parent.parent).task.branch});
    world.git.commit(world.repo(), "later", "more\n");
    world.git.plain(world.repo(), {"switch", "-q", "main"});
    finish_child(world, parent.children[0], strategy);
    REQUIRE(status_of(world, parent.parent) == "working");
    CHECK(ways_out(world, parent.parent, "working") == 1);
    const auto& record = world.record(parent.parent);
    REQUIRE(record.runs.size() == 1);
    CHECK(record.runs[0].prompt == "integrate");
    CHECK(std::filesystem::exists(worktree_of(world, parent.parent) / "later"));
}

TEST_CASE("What its sub-tasks bring along into the default branch is no work of its own any more") {
    RunnerWorld world;
    const auto strategy = GENERATE(git::MergeStrategy::merge, git::MergeStrategy::squash);
    const auto family = split_into(world, 1, true);
    finish_child(world, family.children[0], strategy);
    CHECK(status_of(world, family.parent) == "done");
}

TEST_CASE("A task whose sub-tasks are done waits in the queue for a workspace, and goes on by itself") {
    RunnerWorld world;
    const auto family = split_into(world, 1, true);
    world.git.plain(world.repo(), {"switch", "-q", world.record(family.parent).task.branch});
    world.git.commit(world.repo(), "later", "more\n");
    world.git.plain(world.repo(), {"switch", "-q", "main"});
    auto other = world.draft("another");
    other.task.workflow = "relay";
    const auto before = other.task.id;
    world.create(std::move(other), "", false).value();
    finish_child(world, family.children[0]);
    CHECK(status_of(world, before) == "working");
    CHECK(status_of(world, family.parent) == "delegated");
    CHECK(world.record(family.parent).queued);
    CHECK(world.house().world().tasks.queue("shop") == std::vector<TaskId>{family.parent});
    CHECK(need_of(world, family.parent) == Need::nothing);
    SECTION("when the other one is merged") {
        finish_child(world, before);
        CHECK(status_of(world, family.parent) == "working");
        CHECK(ways_out(world, family.parent, "working") == 1);
    }
    SECTION("unless it gets another sub-task") {
        const auto another = make_child(world, family.parent, true);
        world.house().go(world.house().runner().reconciler.settle(family.parent));
        CHECK_FALSE(world.record(family.parent).queued);
        finish_child(world, before);
        CHECK(status_of(world, family.parent) == "delegated");
        world.house().go(world.house().runner().queue.spawn(another, a_human())).value();
        finish_child(world, another);  // which has brought along what was its parent's own
        CHECK(status_of(world, family.parent) == "done");
    }
    SECTION("also with another daemon") {
        world.stop();
        world.boot();
        world.recover();
        finish_child(world, before);
        CHECK(status_of(world, family.parent) == "working");
        CHECK(ways_out(world, family.parent, "working") == 1);
    }
}

TEST_CASE("A cancelled sub-task needs help until it is deleted or replaced, seen or not") {
    RunnerWorld world;
    const auto family = split_into(world, 2, false, 2);
    finish_child(world, family.children[0]);
    world.move(family.children[1], "cancelled").value();
    CHECK(status_of(world, family.parent) == "delegated");
    CHECK(need_of(world, family.parent) == Need::help);
    const auto* notice = notice_of(world, family.parent, NoticeKind::child_needs_you);
    REQUIRE(notice);
    CHECK_THAT(notice->text, Tells("--status working") && Tells("--with-children"));
    world.house().go(world.house().runner().requests.acknowledge(family.parent)).value();
    world.house().go(world.house().runner().reconciler.settle(family.parent));
    CHECK_FALSE(notice_of(world, family.parent, NoticeKind::child_needs_you));
    CHECK(need_of(world, family.parent) == Need::help);
    forget(world, family.children[1]);
    CHECK(status_of(world, family.parent) == "done");
}

TEST_CASE("A human may go on without a sub-task that was cancelled") {
    RunnerWorld world;
    const auto family = split_into(world, 1, false);
    world.move(family.children[0], "cancelled").value();
    world.move(family.parent, "working").value();
    CHECK(need_of(world, family.parent) == Need::nothing);
    CHECK_FALSE(notice_of(world, family.parent, NoticeKind::child_needs_you));
    CHECK(world.record(family.parent).run_of(Role::worker)->prompt == "integrate");
}

TEST_CASE("A stuck sub-task needs help until it is freed, and each time anew") {
    RunnerWorld world;
    const auto family = split_into(world, 1, false);
    for (int i = 0; i < 2; ++i) {
        world.move(family.children[0], "stuck").value();
        CHECK(need_of(world, family.parent) == Need::help);
        REQUIRE(notice_of(world, family.parent, NoticeKind::child_needs_you));
        world.move(family.children[0], "working").value();
        CHECK(need_of(world, family.parent) == Need::nothing);
        CHECK_FALSE(notice_of(world, family.parent, NoticeKind::child_needs_you));
    }
    finish_child(world, family.children[0]);
    CHECK(status_of(world, family.parent) == "done");
}

TEST_CASE("A sub-task that was done counts when it is deleted") {
    RunnerWorld world;
    const auto family = split_into(world, 2, false, 2);
    finish_child(world, family.children[0]);
    forget(world, family.children[0]);
    CHECK(children_of(world.house().world(), world.record(family.parent)).size() == 2);
    finish_child(world, family.children[1]);
    CHECK(status_of(world, family.parent) == "done");
}

TEST_CASE("What an agent has created under ask starts when its human approves it, and not before") {
    RunnerWorld world;
    auto record = world.draft("the whole", 3);
    record.task.workflow = "relay";
    const auto parent = record.task.id;
    world.create(std::move(record), "", false).value();
    const auto first = unapproved_child(world, parent), second = unapproved_child(world, parent);
    CHECK(status_of(world, first) == "pending");
    CHECK(need_of(world, parent) == Need::help);
    CHECK(need_of(world, first) == Need::nothing);
    REQUIRE(notice_of(world, parent, NoticeKind::children_unapproved));
    world.house().go(world.house().runner().queue.look("shop"));
    CHECK(status_of(world, first) == "pending");
    approve(world, first).value();
    CHECK(status_of(world, first) == "working");
    CHECK(status_of(world, second) == "pending");
    CHECK(need_of(world, parent) == Need::help);
    approve(world, parent).value();
    CHECK(status_of(world, second) == "working");
    CHECK(need_of(world, parent) == Need::nothing);
    CHECK_FALSE(notice_of(world, parent, NoticeKind::children_unapproved));
    CHECK(world.events(second, "task.approved").size() == 1);
    CHECK(approve(world, parent));
}

TEST_CASE("Whoever starts a sub-task by hand has approved it") {
    RunnerWorld world;
    auto record = world.draft("the whole", 3);
    record.task.workflow = "relay";
    const auto parent = record.task.id;
    world.create(std::move(record), "", false).value();
    const auto first = unapproved_child(world, parent);
    world.house().go(world.house().runner().queue.spawn(first, a_human())).value();
    CHECK(status_of(world, first) == "working");
    CHECK(need_of(world, parent) == Need::nothing);
}

TEST_CASE("A sub-task that waited for another begins with its parent's work and the other's") {
    RunnerWorld world;
    const auto family = split_into(world, 1, true);
    const auto second = create_child(world, child_draft(world, family.parent, {family.children[0]}));
    finish_child(world, family.children[0], git::MergeStrategy::squash);
    REQUIRE(status_of(world, second) == "working");
    const auto tree = worktree_of(world, second);
    CHECK(std::filesystem::exists(tree / ("of-" + family.parent.value)));
    CHECK(std::filesystem::exists(tree / ("of-" + family.children[0].value)));
    CHECK(status_of(world, family.parent) == "delegated");
}

TEST_CASE("A sub-task of a task that has committed nothing begins at the default branch") {
    RunnerWorld world;
    const auto family = split_into(world, 1, false);
    CHECK_FALSE(world.record(family.children[0]).task.base);
    CHECK(world.record(family.children[0]).stacked_on.empty());
}

TEST_CASE("A workspace that could not be given back when its task began to wait is given back later") {
    RunnerWorld world;
    auto record = world.draft("the whole");
    record.task.workflow = "relay";
    const auto parent = record.task.id;
    world.create(std::move(record), "", true).value();
    world.move(parent, "working").value();
    const auto child = make_child(world, parent, false);
    world.append_body(parent, "\n## Subtasks\n- " + child.value + "\n");
    Sitter editor(worktree_of(world, parent));
    world.move(parent, "delegated").value();
    REQUIRE(world.record(parent).task.workspace == "shop--1");
    CHECK(need_of(world, parent) == Need::help);
    editor.end();
    SECTION("by itself") {
        world.house().go(world.house().runner().workspaces.release_left_over());
    }
    SECTION("when its human asks for it") {
        const auto done = world.house().go(world.house().runner().workspaces.collect(shop(world))).value();
        REQUIRE(done.size() == 1);
        CHECK_THAT(done.front(), Holds("waits for its sub-tasks"));
    }
    CHECK_FALSE(world.record(parent).task.workspace);
    CHECK(need_of(world, parent) == Need::nothing);
    world.house().go(world.house().runner().queue.look("shop"));
    REQUIRE(status_of(world, child) == "working");
    finish_child(world, child);
    CHECK(status_of(world, parent) == "done");
}

TEST_CASE("Where merges are not pushed the local default branch has the work of those that are done") {
    RunnerWorld world;
    (void)world.draft();
    world.git.make_origin(world.repo(), "live/origin.git");
    world.boot();
    set(world, "push", false);
    SECTION("a sub-task of a task with commits brings all of them") {
        const auto family = split_into(world, 1, true);
        finish_child(world, family.children[0]);
        CHECK(status_of(world, family.parent) == "done");
    }
    SECTION("a task that waited for another begins with its work") {
        auto first = world.draft("first");
        first.task.workflow = "relay";
        world.create(first, "", false).value();
        const auto second = make_blocked(world, {first.task.id});
        finish_child(world, first.task.id);
        REQUIRE(status_of(world, second) == "working");
        CHECK(std::filesystem::exists(worktree_of(world, second) / ("of-" + first.task.id.value)));
    }
    SECTION("so does a sub-task that waited for another") {
        const auto family = split_into(world, 1, true);
        const auto second = create_child(world, child_draft(world, family.parent, {family.children[0]}));
        finish_child(world, family.children[0]);
        REQUIRE(status_of(world, second) == "working");
        CHECK(std::filesystem::exists(worktree_of(world, second) / ("of-" + family.children[0].value)));
    }
}

TEST_CASE("A task that is being merged is not moved on when its sub-tasks are done") {
    RunnerWorld world;
    const auto family = split_into(world, 1, false);
    const auto put = [&](std::optional<MergeRecord> merge) {
        auto record = world.record(family.parent);
        record.merge = std::move(merge);
        world.house().world().tasks.save(record).value();
    };
    MergeRecord merge;
    merge.phase = MergePhase::merged;
    put(merge);
    finish_child(world, family.children[0]);
    CHECK(status_of(world, family.parent) == "delegated");
    put(std::nullopt);
    CHECK(comes_true(world, [&] { return status_of(world, family.parent) == "done"; }));
}

TEST_CASE("What is said of a sub-task is what has become of it since") {
    RunnerWorld world;
    const auto family = split_into(world, 1, false);
    const auto& child = family.children[0];
    world.move(child, "stuck").value();
    REQUIRE(notice_of(world, family.parent, NoticeKind::child_needs_you));
    CHECK_THAT(notice_of(world, family.parent, NoticeKind::child_needs_you)->text, Holds("stuck"));
    auto record = world.record(child);  // cancelled while its parent's lock was held
    record.task.status = "cancelled";
    record.ended = true;
    world.house().world().tasks.save(record).value();
    world.house().go(world.house().runner().reconciler.settle(family.parent));
    CHECK_THAT(notice_of(world, family.parent, NoticeKind::child_needs_you)->text, !Holds("stuck"));
}

TEST_CASE("Sub-tasks of sub-tasks come back one after the other, up to the first task") {
    RunnerWorld world;
    const auto family = split_into(world, 1, false, 2);
    const auto& middle = family.children[0];
    const auto below = make_child(world, middle, false);
    world.append_body(middle, "\n## Subtasks\n- " + below.value + "\n");
    world.move(middle, "delegated").value();
    finish_child(world, below);
    CHECK(status_of(world, middle) == "done");
    CHECK(status_of(world, family.parent) == "done");
}

TEST_CASE("A sub-task shows its reviewer and its human all that its merge brings, also what its parent has committed") {
    RunnerWorld world;
    const auto family = split_into(world, 1, true);
    const auto& child = family.children[0];
    work_on(world, child);
    const auto& record = world.record(child);
    CHECK_FALSE(record.task.base);
    CHECK(record.stacked_on.empty());
    const auto changes = world.house().go(changes_of(world.house().world(), record, Changes())).value();
    CHECK(changes.commits == 2);
    CHECK(changes.files == 2);
    CHECK(world.events(child, "branch.updated").empty());
}

TEST_CASE("A sub-task that has done nothing of its own has nothing to merge, whatever its parent has done") {
    RunnerWorld world;
    const auto family = split_into(world, 1, true);
    const auto& record = world.record(family.children[0]);
    const auto tip = world.git.ref(world.repo(), "refs/heads/" + record.task.branch);
    CHECK(record.branch_start == tip);
    const auto main = world.git.ref(world.repo(), "refs/heads/main");
    CHECK(tip != main);
}

TEST_CASE("The merge of a task that waits for its sub-tasks has to be confirmed, and names those that are not done") {
    RunnerWorld world;
    const auto commits = GENERATE(true, false);
    const auto family = split_into(world, 2, commits, 3);
    const auto main = world.git.ref(world.repo(), "refs/heads/main");
    const auto merge = [&](const MergeOrder& order) {
        return world.house().go(world.house().runner().merges.merge(family.parent, order, a_human()));
    };
    const auto asked = merge({});
    REQUIRE_FALSE(asked);
    CHECK(asked.error().code == ErrorCode::needs_force);
    for (const auto& id : family.children) {
        CHECK_THAT(asked.error().message, Tells(world.house().world().tasks.short_id(id)));
    }
    CHECK(status_of(world, family.parent) == "delegated");
    CHECK(world.git.ref(world.repo(), "refs/heads/main") == main);
    merge(forced_order()).value();
    CHECK(status_of(world, family.parent) == "done");
}

namespace {

/// A parent with a commit that no sub-task brings.
Family split_with_more(RunnerWorld& world, int pool_size = 1) {
    auto family = split_into(world, 1, true, pool_size);
    world.git.plain(world.repo(), {"switch", "-q", world.record(family.parent).task.branch});
    world.git.commit(world.repo(), "later", "more\n");
    world.git.plain(world.repo(), {"switch", "-q", "main"});
    return family;
}

Edit to_new_name(const std::string& name) {
    Edit edit;
    edit.branch = name;
    return edit;
}

}  // namespace

TEST_CASE("A task that waits for its sub-tasks keeps its commits when its branch gets another name") {
    RunnerWorld world;
    const auto family = split_with_more(world);
    const auto before = world.record(family.parent).task.branch;
    const auto tip = world.git.ref(world.repo(), "refs/heads/" + before);
    edit(world, family.parent, to_new_name("renamed")).value();
    CHECK(world.git.ref(world.repo(), "refs/heads/renamed") == tip);
    CHECK(world.git.ref(world.repo(), "refs/heads/" + before).empty());
    // A name that could not be written down is not given.
    world.outside.fuse.arm(fakes::Fuse::Ending::disk_full_for_good, 1);
    CHECK_FALSE(edit(world, family.parent, to_new_name("later-still")));
    world.outside.fuse.disarm();
    CHECK(world.git.ref(world.repo(), "refs/heads/renamed") == tip);
    CHECK(world.git.ref(world.repo(), "refs/heads/later-still").empty());
    finish_child(world, family.children[0]);
    REQUIRE(status_of(world, family.parent) == "working");
    CHECK(std::filesystem::exists(worktree_of(world, family.parent) / "later"));
}

TEST_CASE("A task whose branch is gone when its sub-tasks are done is not done, and goes on when it has one again") {
    RunnerWorld world;
    const auto family = split_with_more(world, 2);
    const auto before = world.record(family.parent).task.branch;
    world.git.plain(world.repo(), {"branch", "-m", before, "by-hand"});
    finish_child(world, family.children[0]);
    CHECK(status_of(world, family.parent) == "delegated");
    const auto* notice = notice_of(world, family.parent, NoticeKind::start_failed);
    REQUIRE(notice);
    CHECK_THAT(notice->text, Tells(before) && Tells("--branch"));
    CHECK(need_of(world, family.parent) == Need::help);
    // Another sub-task is to be waited for first.
    const auto another = make_child(world, family.parent);
    world.house().go(world.house().runner().reconciler.settle(family.parent));
    CHECK_FALSE(notice_of(world, family.parent, NoticeKind::start_failed));
    world.move(another, "cancelled").value();
    forget(world, another);
    CHECK(comes_true(world, [&] { return notice_of(world, family.parent, NoticeKind::start_failed) != nullptr; }));
    // All workspaces are taken: it waits, and nothing has failed any more.
    std::vector<TaskId> others;
    for (int i = 0; i < 2; ++i) {
        auto other = world.draft("another", 2);
        other.task.workflow = "relay";
        others.push_back(other.task.id);
        world.create(std::move(other), "", false).value();
    }
    edit(world, family.parent, to_new_name("by-hand")).value();
    world.house().go(world.house().runner().reconciler.wake_all());
    CHECK(comes_true(world, [&] { return world.record(family.parent).queued; }));
    CHECK_FALSE(notice_of(world, family.parent, NoticeKind::start_failed));
    CHECK(need_of(world, family.parent) == Need::nothing);
    finish_child(world, others[0]);
    REQUIRE(status_of(world, family.parent) == "working");
    CHECK(std::filesystem::exists(worktree_of(world, family.parent) / "later"));
}

TEST_CASE("A sub-task whose files cannot be read is not done") {
    RunnerWorld world;
    const auto family = split_into(world, 2, false, 2);
    const auto& lost = family.children[1];
    const auto file = world.house().world().tasks.folder(world.record(lost)) / "state.json";
    world.stop();
    std::ofstream(file) << "{";
    world.outside.unreadable = true;
    world.boot();
    world.recover();
    CHECK(children_of(world.house().world(), world.record(family.parent)).size() == 2);
    CHECK(need_of(world, family.parent) == Need::help);
    const auto* notice = notice_of(world, family.parent, NoticeKind::child_needs_you);
    REQUIRE(notice);
    CHECK_THAT(notice->text, Tells(world.house().world().tasks.short_id(lost)) && Tells("orange doctor"));
    finish_child(world, family.children[0]);
    CHECK(status_of(world, family.parent) == "delegated");
}

TEST_CASE("The next daemon goes on with a task whose sub-tasks were done and are all deleted") {
    RunnerWorld world;
    const auto family = split_into(world, 2, false, 2);
    finish_child(world, family.children[0]);
    world.move(family.children[1], "cancelled").value();
    auto& tasks = world.house().world().tasks;
    for (const auto& id : family.children) tasks.remove(id).value();  // the daemon is killed right after it
    CHECK(status_of(world, family.parent) == "delegated");
    world.stop();
    world.boot();
    world.recover();
    CHECK(status_of(world, family.parent) == "done");
}

TEST_CASE("A sub-task that waits for an approval says so itself when its parent has ended") {
    RunnerWorld world;
    auto record = world.draft("the whole", 3);
    record.task.workflow = "relay";
    const auto parent = record.task.id;
    world.create(std::move(record), "", false).value();
    const auto child = unapproved_child(world, parent);
    CHECK(need_of(world, child) == Need::nothing);
    world.move(parent, "cancelled").value();
    CHECK(need_of(world, child) == Need::start);
}

TEST_CASE("A worker that integrates and has to wait for room starts with what it is for") {
    RunnerWorld world;
    const auto family = split_into(world, 1, false, 3);
    set(world, "limits.worker", 1);
    REQUIRE(runs(world, family.children[0], Role::worker));
    world.move(family.parent, "working").value();
    const auto* held = world.record(family.parent).held_start(Role::worker);
    REQUIRE(held);
    CHECK(held->prompt == "integrate");
    world.move(family.children[0], "cancelled").value();
    CHECK(comes_true(world, [&] { return runs(world, family.parent, Role::worker); }));
    CHECK(world.record(family.parent).run_of(Role::worker)->prompt == "integrate");
}

TEST_CASE("A task in the queue after its sub-tasks waits for room for the worker that integrates") {
    RunnerWorld world;
    const auto family = split_with_more(world, 3);
    auto record = world.draft("another", 3);
    record.task.workflow = "relay";
    const auto other = record.task.id;
    world.create(std::move(record), "", false).value();
    REQUIRE(runs(world, other, Role::worker));
    set(world, "limits.worker", 1);
    set(world, "limits.reviewer", 1);
    finish_child(world, family.children[0]);
    CHECK(status_of(world, family.parent) == "delegated");
    REQUIRE(world.record(family.parent).queued);
    const auto wait = wait_of(world, family.parent);
    REQUIRE(wait);
    CHECK(wait->role == Role::worker);
    CHECK(wait->reason == "role_limit");
    CHECK(need_of(world, family.parent) == Need::nothing);
    merge_now(world, other);
    CHECK(comes_true(world, [&] { return runs(world, family.parent, Role::worker); }));
    CHECK(world.record(family.parent).run_of(Role::worker)->prompt == "integrate");
}
