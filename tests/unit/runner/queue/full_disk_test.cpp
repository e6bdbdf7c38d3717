// The disk is full while a task is created and started, from any write on and for some writes. When there is room, the
// loops that run anyway put everything right: .pool.json and the tasks say the same, and the task is started. No daemon
// ends in between, and nobody asks.
#include <map>

#include "daemon/async/async.hpp"
#include "daemon/runner/queue/workspaces.hpp"
#include "tests/catch.hpp"
#include "tests/unit/runner/changes.hpp"

using namespace orange;
using namespace orange::test;
using fakes::Fuse;

namespace {

constexpr int k_short = 3, k_long = 500;  // looks at what was begun, 10 ms apart

bool is_started(RunnerWorld& world, const TaskId& id) {
    if (!world.house().world().tasks.brief(id)) return true;  // it was not created
    const auto& record = world.record(id);
    return record.task.status == "planning" && !record.intent && record.held.empty() && record.runs.size() == 1;
}

/// Does what a poll does for tasks that are to start, and waits for what it has begun.
void look_again(RunnerWorld& world, const TaskId& id, int patience) {
    auto& runner = world.house().runner();
    const bool is_there = world.house().world().tasks.brief(id) != nullptr;
    if (is_there && world.record(id).intent) world.house().go(runner.recovery.resume(id));
    world.house().go(runner.workspaces.release_left_over());
    world.house().go(runner.queue.restart_stalled());
    runner.reconciler.room_changed();
    world.house().go([&]() -> Awaitable<void> {
        const std::chrono::milliseconds pause{10};
        for (int i = 0; i < patience && !is_started(world, id); ++i) co_await async::sleep(pause);
    }());
}

std::map<std::string, TaskId> claims_in_file(RunnerWorld& world) {
    std::map<std::string, TaskId> claims;
    const auto file = world.home() / "workspaces/.pool.json";
    if (!std::filesystem::exists(file)) return claims;
    const auto pool = Json::parse(read_file(file));
    for (const auto& slot : pool.at("workspaces")) {
        if (slot.at("task").is_string())
            claims[slot.at("name").get<std::string>()] = TaskId{slot.at("task").get<std::string>()};
    }
    return claims;
}

void check_claims(RunnerWorld& world) {
    std::map<std::string, TaskId> claims;
    for (const auto& workspace : world.house().world().pool.list("shop")) {
        if (!workspace.task.empty()) claims[workspace.name] = workspace.task;
    }
    CHECK(claims == claims_of(world.house().world().tasks));
    CHECK(claims == claims_in_file(world));
}

void create_while_full(int length) {
    RunnerWorld world;
    const auto record = world.draft();
    const auto id = record.task.id;
    world.keep();
    for (int n = 1;; ++n) {
        INFO("full for " << length << " writes from the " << n << "th on");
        world.back();
        world.outside.fuse.arm(Fuse::Ending::disk_full_for_a_while, n, length);
        (void)world.create(record, "", false);
        const bool struck = world.outside.fuse.struck();
        if (struck) look_again(world, id, k_short);
        world.outside.fuse.disarm();
        look_again(world, id, k_long);
        look_again(world, id, k_long);
        CHECK(is_started(world, id));
        check_claims(world);
        const bool is_there = world.house().world().tasks.brief(id) != nullptr;
        CHECK(world.outside.processes.alive.size() == (is_there ? 1 : 0));
        if (!struck) return;
    }
}

}  // namespace

TEST_CASE(
    "a task that is created on a full disk runs when there is room, and has the workspace that it is said to have",
    "[slow]") {
    for (const int length : {1, 2, 5, 1000}) create_while_full(length);
}

TEST_CASE("no workspace stays with a task that a full disk kept from starting and that was deleted", "[slow]") {
    RunnerWorld world;
    const auto record = world.draft();
    const auto id = record.task.id;
    world.keep();
    for (int n = 1;; ++n) {
        INFO("full from the " << n << "th write on");
        world.back();
        world.outside.fuse.arm(Fuse::Ending::disk_full_for_good, n);
        (void)world.create(record, "", false);
        const bool struck = world.outside.fuse.struck();
        world.outside.fuse.disarm();
        if (world.house().world().tasks.brief(id)) {
            REQUIRE(world.move(id, "cancelled"));
            REQUIRE(world.house().go(world.house().runner().requests.remove(id, a_human(), false)));
        }
        look_again(world, id, k_short);
        CHECK(world.house().world().pool.free(shop(world)) == 1);
        check_claims(world);
        if (!struck) return;
    }
}
