// A daemon ends at every step of the merge of a blocker, and of the start that follows.
#include "tests/catch.hpp"
#include "tests/unit/runner/blocked_tasks.hpp"

using namespace orange;
using namespace orange::test;
using fakes::Fuse;

namespace {

struct Two {
    TaskId first, second;
};

Two arranged(RunnerWorld& world, bool stacked) {
    const auto first = ready_to_merge(world);
    auto record = blocked_draft(world, {first}, "above");
    if (stacked) {
        record.stacked_on = first;
        record.task.base = "refs/heads/" + world.record(first).task.branch;
        world.git.commit(world.repo(), "news", "meanwhile\n");
    }
    const auto second = record.task.id;
    world.create(std::move(record), "", false).value();
    return {first, second};
}

void merge(RunnerWorld& world, const Two& two) {
    MergeOrder order;
    order.strategy = git::MergeStrategy::squash;
    (void)world.house().go(world.house().runner().merges.merge(two.first, order, a_human()));
}

bool is_over(RunnerWorld& world, const Two& two) {
    return is_in(world, two.first, "done") && is_in(world, two.second, "working");
}

void check(RunnerWorld& world, const Two& two, bool stacked, Fuse::Ending ending) {
    const auto& first = world.record(two.first);
    const auto& second = world.record(two.second);
    const bool begun = second.task.status != "pending";
    if (begun) CHECK(first.task.status == "done");
    CHECK(world.events(two.second, "blocker.done").size() <= 1);
    CHECK(world.events(two.second, "blocker.gone").empty());
    std::size_t workers = 0;
    for (const auto& run : second.runs) workers += run.role == Role::worker;
    CHECK(workers == (begun ? 1 : 0));
    std::size_t spawned = world.events(two.second, "agent.spawned").size();
    CHECK(spawned <= 1);
    if (ending == Fuse::Ending::killed && begun) CHECK(spawned == 1);
    CHECK(world.outside.processes.alive.size() == first.runs.size() + second.runs.size());
    if (!begun || !stacked) return;
    CHECK(second.stacked_on.empty());
    CHECK(world.git.plain(world.repo(), {"show", "above:feature"}, true) == "it");
    CHECK(world.git.plain(world.repo(), {"rev-list", "--count", "above..main"}) == "0");
    CHECK(second.branch_start == world.git.ref(world.repo(), "above"));
}

void end_everywhere(bool stacked, Fuse::Ending ending) {
    RunnerWorld world;
    const auto two = arranged(world, stacked);
    world.keep();
    world.outside.fuse.arm(Fuse::Ending::none, 0);
    merge(world, two);
    const int steps = world.outside.fuse.steps();
    REQUIRE(steps > 20);
    REQUIRE(is_over(world, two));
    check(world, two, stacked, Fuse::Ending::killed);
    for (int n = 1; n <= steps; ++n) {
        INFO("step " << n << " of " << steps);
        world.back();
        world.outside.fuse.arm(ending, n);
        try {
            merge(world, two);
        } catch (const fakes::Killed&) {
        }
        world.outside.fuse.disarm();
        world.boot();
        const auto project = shop(world);
        REQUIRE(world.house().go(world.house().runner().workspaces.collect(project)));
        world.recover();
        check(world, two, stacked, ending);
        if (is_over(world, two)) continue;
        if (!is_in(world, two.first, "done")) merge(world, two);
        // What failed for want of room was told, and is started again by hand.
        if (is_in(world, two.second, "pending") && ending != Fuse::Ending::killed) {
            (void)world.house().go(world.house().runner().queue.spawn(two.second, a_human()));
        }
        CHECK(is_over(world, two));
        check(world, two, stacked, ending);
    }
}

}  // namespace

TEST_CASE("a blocker's end that was cut off anywhere starts the task that waits for it, once", "[slow]") {
    for (const auto ending : {Fuse::Ending::killed, Fuse::Ending::disk_full_for_good, Fuse::Ending::disk_full_once}) {
        INFO("ending " << static_cast<int>(ending));
        end_everywhere(false, ending);
    }
}

TEST_CASE("the start of stacked work that was cut off anywhere begins it once, on one branch", "[slow]") {
    end_everywhere(true, Fuse::Ending::killed);
}
