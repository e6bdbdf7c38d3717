// The daemon is killed at every step of a creation with attempts, and of a pick.
#include <algorithm>

#include "tests/catch.hpp"
#include "tests/unit/runner/attempts.hpp"

using namespace orange;
using namespace orange::test;
using fakes::Fuse;

namespace {

const char* const k_fixed_id = "aaaabbbbccccddddeeeef";

/// The next daemon comes, and does what is left to be done.
void come_back(RunnerWorld& world, const TaskId& parent) {
    world.outside.fuse.disarm();
    world.boot();
    world.recover();
    if (!world.house().world().tasks.brief(parent)) return;
    world.house().go(world.house().runner().reconciler.settle(parent));
    world.house().go(world.house().runner().queue.look("shop"));
}

void kill_at_each_step(RunnerWorld& world, const TaskId& parent, const std::function<void()>& act,
                       const std::function<void()>& check) {
    world.keep();
    world.outside.fuse.arm(Fuse::Ending::none, 0);
    act();
    const int steps = world.outside.fuse.steps();
    REQUIRE(steps > 3);
    for (int n = 1; n <= steps; ++n) {
        INFO("step " << n << " of " << steps);
        world.back();
        world.outside.fuse.arm(Fuse::Ending::killed, n);
        try {
            act();
        } catch (const fakes::Killed&) {
        }
        come_back(world, parent);
        check();
    }
}

}  // namespace

TEST_CASE("A daemon that is killed while it creates attempts leaves all of them, or no task", "[slow]") {
    RunnerWorld world;
    prepare_attempts(world);
    const TaskId parent{k_fixed_id};
    kill_at_each_step(
        world, parent,
        [&] {
            (void)call(world, "task.create", attempts_params({{"id", parent.value}}));
        },
        [&] {
            const auto& tasks = world.house().world().tasks;
            if (!tasks.brief(parent)) {
                CHECK(tasks.active().empty());
                return;
            }
            const auto& record = world.record(parent);
            CHECK(record.task.status == "delegated");
            REQUIRE(record.attempts.size() == 3);
            CHECK(tasks.children_of(parent).size() == 3);
            for (const auto& row : record.attempts) {
                CHECK(row.made);
                CHECK(world.record(row.id).task.status == "working");
                CHECK(world.events(row.id, "task.created").size() == 1);
            }
        });
}

TEST_CASE("A daemon that is killed during a pick leaves one picked and the others cancelled, or nothing changed",
          "[slow]") {
    RunnerWorld world;
    prepare_attempts(world);
    const auto family = tried_by_three(world);
    for (const auto& id : family.children) hand_over_attempt(world, id);
    kill_at_each_step(
        world, family.parent, [&] { (void)pick_attempt(world, family.parent, "other"); },
        [&] {
            const auto picked = world.record(family.parent).picked;
            CHECK((picked.empty() || picked == family.children[1]));
            for (const auto& id : family.children) {
                const bool stays = picked.empty() || id == picked;
                CHECK(world.record(id).task.status == (stays ? "reviewing" : "cancelled"));
                CHECK_FALSE(world.record(id).intent);
                CHECK(world.record(id).unpicked == !stays);
                if (!stays) CHECK(is_kept(world, id));
                if (stays) CHECK(read_file(worktree_of(world, id) / "untracked") == "mine\n");
            }
            CHECK(world.record(family.parent).task.status == "delegated");
        });
}
