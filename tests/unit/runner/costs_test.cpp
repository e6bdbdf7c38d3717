#include <fstream>

#include "common/model/json.hpp"
#include "tests/catch.hpp"
#include "tests/unit/runner/changes.hpp"
#include "tests/unit/runner/power.hpp"

/// What the daemon asks of the machine for the changes that are waited for most: processes that it starts, and calls of
/// fsync. The bounds are in tests/bench/limits.json. Counted, never timed.
using namespace orange;
using namespace orange::test;

namespace {

Json limits() {
    std::ifstream in(std::string(ORANGE_SOURCE_DIR) + "/tests/bench/limits.json");
    return Json::parse(in);
}

struct Costs {
    int processes = 0;
    int syncs = 0;
};

Costs costs_of(RunnerWorld& world, const std::function<void()>& change) {
    Costs costs;
    PageCache cache(world.home());
    cache.before_sync = [&costs] { ++costs.syncs; };
    world.outside.children.disarm();
    change();
    costs.processes = world.outside.children.started;
    return costs;
}

void check(const std::string& name, const Costs& costs) {
    const auto limit = limits().at(name);
    INFO(name << ": " << costs.processes << " processes, " << costs.syncs << " syncs");
    CHECK(costs.processes <= limit.at("processes").get<int>());
    CHECK(costs.syncs <= limit.at("syncs").get<int>());
    CHECK(costs.processes + costs.syncs > 0);
}

/// A task in planning, in a workspace that another has had.
TaskId in_a_warm_pool(RunnerWorld& world) {
    const auto first = planning(world);
    world.move(first, "cancelled").value();
    return world.make_task();
}

}  // namespace

TEST_CASE("what a start, an end and a transition cost stays within its bounds") {
    RunnerWorld world;
    const auto id = in_a_warm_pool(world);
    check("start in a warm pool", costs_of(world, [&] { world.move(id, "planning").value(); }));
    world.append_body(id, "\n## Plan\nAPPROACH: straight on\n");
    const auto take_in = [&] { world.house().go(world.house().runner().body_changed(id)); };
    check("edit of TASK.md", costs_of(world, take_in));
    check("transition", costs_of(world, [&] { world.move(id, "working").value(); }));
    check("transition with a question", costs_of(world, [&] { world.move(id, "stuck").value(); }));
    check("cancel, nothing uncommitted", costs_of(world, [&] { world.move(id, "cancelled").value(); }));
    const auto other = planning(world);
    const auto worktree = world.house().world().pool.path_of(*world.record(other).task.workspace);
    write_file(worktree / "untracked", "mine\n");
    check("cancel, uncommitted files", costs_of(world, [&] { world.move(other, "cancelled").value(); }));
}
