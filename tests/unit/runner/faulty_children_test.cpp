#include <cstdlib>

#include "tests/catch.hpp"
#include "tests/unit/runner/changes.hpp"

/// The nth child (git, a workflow's command) goes wrong, for every n until none does: an error or a mark for attention,
/// never a lie; and the next try succeeds. Each child in one of the ways, in turn; in every way where
/// ORANGE_ALL_FAULTS is set.
using namespace orange;
using namespace orange::test;
using fakes::ChildFault;

namespace {

constexpr ChildFault k_faults[] = {ChildFault::does_not_start,  ChildFault::dies_at_once,
                                   ChildFault::dies_at_the_end, ChildFault::hangs_at_the_end,
                                   ChildFault::prints_garbage,  ChildFault::floods};
constexpr int k_ways = 6;

/// False where there were fewer than `n` children.
bool goes_wrong(RunnerWorld& world, const TaskId& id, const Change& change, ChildFault fault, int n) {
    INFO(change.name << ", child " << n << ", way " << static_cast<int>(fault));
    world.back();
    world.outside.children.arm(fault, n);
    const auto result = change.act(world, id);
    const bool struck = world.outside.children.struck;
    world.outside.children.disarm();
    if (!struck) {
        REQUIRE(result);
        CHECK(change.is_done(world, id));
        return false;
    }
    if (!result) CHECK_FALSE(result.error().message.empty());
    if (!result) CHECK(result.error().message.size() < 10'000);
    CHECK_NOTHROW(change.holds(world, id));
    const auto* record = world.house().world().tasks.find(id);
    const bool told = !result || change.is_done(world, id) || (record && record->task.attention);
    CHECK(told);
    CHECK_NOTHROW(goes_on(world, id, change));
    return true;
}

void fail_everywhere(const Change& change) {
    RunnerWorld world;
    const auto id = change.arrange(world);
    world.keep();
    const bool all = std::getenv("ORANGE_ALL_FAULTS") != nullptr;
    bool more = true;
    for (int n = 1; more; ++n) {
        for (int way = 0; more && way < (all ? k_ways : 1); ++way) {
            more = goes_wrong(world, id, change, k_faults[(n + way) % k_ways], n);
        }
    }
}

}  // namespace

TEST_CASE("a child that fails while a task is started is told, and the next try succeeds") {
    fail_everywhere(starting());
}

TEST_CASE("a child that fails while a task is created is told, and the next try succeeds") {
    fail_everywhere(creating());
}

TEST_CASE("a child that fails while a task is cancelled loses no work, and the next try succeeds") {
    fail_everywhere(cancelling());
}

TEST_CASE("a child that fails in a merge never makes it done without being merged, and the next try succeeds") {
    fail_everywhere(merging());
}

TEST_CASE("a child that fails while a branch is renamed is told, and the next try succeeds") {
    fail_everywhere(renaming_the_branch());
}

TEST_CASE("a child that fails while workspaces change is told, and the next try succeeds") {
    fail_everywhere(making_workspaces());
    fail_everywhere(removing_workspaces());
    fail_everywhere(leaving());
}
