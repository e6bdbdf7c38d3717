// A daemon ends at every step of the merge of the last sub-task, and of the change of its parent that follows.
#include "tests/catch.hpp"
#include "tests/unit/runner/family.hpp"

using namespace orange;
using namespace orange::test;
using fakes::Fuse;

namespace {

/// Two sub-tasks, of which the second is ready to be merged, and how their parent goes on.
struct Split {
    Family family;
    std::string next;
};

Split split_up(RunnerWorld& world, bool commits) {
    Split split_task{split_into(world, 2, commits, 2), commits ? "working" : "done"};
    const auto& family = split_task.family;
    if (commits) {
        world.git.plain(world.repo(), {"switch", "-q", world.record(family.parent).task.branch});
        world.git.commit(world.repo(), "later", "more\n");
        world.git.plain(world.repo(), {"switch", "-q", "main"});
    }
    finish_child(world, family.children[0]);
    work_on(world, family.children[1]);
    return split_task;
}

void merge_last(RunnerWorld& world, const Split& split_task) {
    const auto& last = split_task.family.children.back();
    (void)world.house().go(world.house().runner().merges.merge(last, forced_order(), a_human()));
}

bool has_come_through(RunnerWorld& world, const Split& split_task) {
    return is_in(world, split_task.family.children.back(), "done") &&
           is_in(world, split_task.family.parent, split_task.next);
}

void check_family(RunnerWorld& world, const Split& split_task, Fuse::Ending ending) {
    const auto& parent = world.record(split_task.family.parent);
    const auto& last = world.record(split_task.family.children.back());
    const bool moved = parent.task.status != "delegated";
    if (moved) CHECK(last.task.status == "done");
    if (moved) CHECK(parent.task.status == split_task.next);
    CHECK(world.events(parent.task.id, "child.done").size() <= 2);
    std::size_t ways_on = 0, workers = 0;
    for (const auto& event : world.events(parent.task.id, "status.changed")) {
        ways_on += event.fields.at("from") == Scalar{"delegated"} ? 1 : 0;
    }
    CHECK(ways_on <= 1);
    if (ending == Fuse::Ending::killed && moved) CHECK(ways_on == 1);
    for (const auto& run : parent.runs) workers += run.role == Role::worker ? 1 : 0;
    if (ending == Fuse::Ending::killed) CHECK(workers == (moved && split_task.next == "working" ? 1 : 0));
    CHECK(workers <= 1);
    CHECK(world.outside.processes.alive.size() == parent.runs.size() + last.runs.size());
}

void end_family_everywhere(bool commits, Fuse::Ending ending) {
    RunnerWorld world;
    const auto split_task = split_up(world, commits);
    world.keep();
    world.outside.fuse.arm(Fuse::Ending::none, 0);
    merge_last(world, split_task);
    const int steps = world.outside.fuse.steps();
    REQUIRE(steps > 20);
    REQUIRE(has_come_through(world, split_task));
    check_family(world, split_task, Fuse::Ending::killed);
    for (int n = 1; n <= steps; ++n) {
        INFO("step " << n << " of " << steps);
        world.back();
        world.outside.fuse.arm(ending, n);
        try {
            merge_last(world, split_task);
        } catch (const fakes::Killed&) {
        }
        world.outside.fuse.disarm();
        world.boot();
        const auto project = shop(world);
        REQUIRE(world.house().go(world.house().runner().workspaces.collect(project)));
        world.recover();
        check_family(world, split_task, ending);
        if (has_come_through(world, split_task)) continue;
        if (!is_in(world, split_task.family.children.back(), "done")) merge_last(world, split_task);
        // What failed for want of room was told, and goes on when it is seen.
        if (is_in(world, split_task.family.parent, "delegated") && ending != Fuse::Ending::killed) {
            (void)world.house().go(world.house().runner().requests.acknowledge(split_task.family.parent));
            world.house().go(world.house().runner().reconciler.settle(split_task.family.parent));
            world.house().go(world.house().runner().queue.run("shop"));
        }
        CHECK(has_come_through(world, split_task));
        check_family(world, split_task, ending);
    }
}

}  // namespace

TEST_CASE("the last sub-task's end that was cut off anywhere moves its parent once, to the end or to a worker",
          "[slow]") {
    for (const bool commits : {false, true}) {
        INFO((commits ? "with" : "without") << " work of its own");
        end_family_everywhere(commits, Fuse::Ending::killed);
    }
}

TEST_CASE("a full disk at any step of the last sub-task's end leaves its parent a way on", "[slow]") {
    for (const auto ending : {Fuse::Ending::disk_full_for_good, Fuse::Ending::disk_full_once}) {
        INFO("ending " << static_cast<int>(ending));
        end_family_everywhere(true, ending);
    }
}
