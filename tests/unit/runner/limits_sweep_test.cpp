// A daemon ends at every step between a transition whose agent has to wait for a limit, and the late start of that
// agent. The next daemon starts the agent once.
#include "tests/catch.hpp"
#include "tests/unit/runner/limits.hpp"

using namespace orange;
using namespace orange::test;
using fakes::Fuse;

namespace {

struct Pair {
    TaskId first, second;
};

/// The second is handed over while the first one's reviewer has the only place; then the first one's review passes.
void hand_over_and_free(RunnerWorld& world, const Pair& two) {
    if (world.record(two.second).task.status == "working") (void)world.move(two.second, "agent-review");
    if (world.record(two.first).task.status == "agent-review") (void)world.move(two.first, "reviewing");
    comes_true(world, [&, looks = 0]() mutable { return runs(world, two.second, Role::reviewer) || ++looks > 200; });
}

void check_pair(RunnerWorld& world, const Pair& two, Fuse::Ending ending) {
    const auto& second = world.record(two.second);
    CHECK_FALSE(second.intent);
    std::size_t spawned = 0;
    for (const auto& event : world.events(two.second, "agent.spawned")) {
        spawned += event.fields.at("role") == Scalar{std::string("reviewer")};
    }
    CHECK(spawned <= 1);
    CHECK(world.events(two.second, "agent.waits").size() <= 1);
    CHECK(world.outside.tmux.windows_named("review-1") <= 2);
    for (const auto& [pid, process] : world.outside.processes.alive) {
        bool known = false;
        for (const auto& id : {two.first, two.second}) {
            for (const auto& run : world.record(id).runs) known = known || run.pid == pid;
        }
        CHECK(known);
    }
    if (second.task.status != "agent-review" || ending != Fuse::Ending::killed) return;
    const bool waits = second.held_start(Role::reviewer) != nullptr;
    CHECK(waits != runs(world, two.second, Role::reviewer));
    if (!waits) CHECK(spawned == 1);
}

void end_handover_everywhere(Fuse::Ending ending) {
    RunnerWorld world;
    (void)world.draft("", 3);
    set(world, "limits.reviewer", 1);
    const Pair two{in_review(world), workable(world)};
    world.append_body(two.first, "\n## Review\nVerdict: PASS\n");
    world.keep();
    world.outside.fuse.arm(Fuse::Ending::none, 0);
    hand_over_and_free(world, two);
    const int steps = world.outside.fuse.steps();
    REQUIRE(steps > 20);
    REQUIRE(runs(world, two.second, Role::reviewer));
    check_pair(world, two, Fuse::Ending::killed);
    for (int n = 1; n <= steps; ++n) {
        INFO("step " << n << " of " << steps);
        world.back();
        world.outside.fuse.arm(ending, n);
        try {
            hand_over_and_free(world, two);
        } catch (const fakes::Killed&) {
        }
        world.outside.fuse.disarm();
        world.boot();
        world.recover();
        check_pair(world, two, ending);
        hand_over_and_free(world, two);
        const bool told = !world.record(two.second).notices.empty();  // what failed for want of room on the disk
        if (told && ending != Fuse::Ending::killed && !runs(world, two.second, Role::reviewer)) {
            (void)world.house().go(world.house().runner().respawns.respawn(two.second, a_human()));
        }
        CHECK(runs(world, two.second, Role::reviewer));
        CHECK(world.record(two.first).task.status == "reviewing");
        check_pair(world, two, ending);
    }
}

}  // namespace

TEST_CASE("a daemon killed anywhere between a handover without room and the late start starts one reviewer", "[slow]") {
    end_handover_everywhere(Fuse::Ending::killed);
}

TEST_CASE("a disk that is full anywhere between a handover without room and the late start loses no reviewer",
          "[slow]") {
    end_handover_everywhere(Fuse::Ending::disk_full_once);
}
