// The nth child (git, a command of a workflow) fails, for every n until no child fails. The result is an error or a
// notice, and the next attempt succeeds. Each child fails in one of the ways, in turn; in every way if
// ORANGE_ALL_FAULTS is set.
#include <cstdlib>

#include "tests/catch.hpp"
#include "tests/unit/runner/pull_changes.hpp"
#include "tests/unit/runner/repair_changes.hpp"

using namespace orange;
using namespace orange::test;
using fakes::ChildFault;
using fakes::TmuxFault;

namespace {

constexpr ChildFault k_faults[] = {ChildFault::does_not_start,  ChildFault::dies_at_once,
                                   ChildFault::dies_at_the_end, ChildFault::hangs_at_the_end,
                                   ChildFault::prints_garbage,  ChildFault::floods};
constexpr int k_ways = 6;

/// What must be so after a change in which something went wrong.
void is_told_and_goes_on(RunnerWorld& world, const TaskId& id, const Change& change, const Result<void>& result) {
    if (!result) CHECK_FALSE(result.error().message.empty());
    INFO((result ? std::string() : result.error().message.substr(0, 300)));
    if (!result) CHECK(result.error().message.size() < 10'000);
    CHECK_NOTHROW(change.holds(world, id));
    const auto record = world.house().world().tasks.read(id).value_or(nullptr);
    const bool told = !result || change.is_done(world, id) || (record && record->task.attention);
    CHECK(told);
    CHECK_NOTHROW(goes_on(world, id, change));
}

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
    is_told_and_goes_on(world, id, change, result);
    return true;
}

/// The same with the nth call of tmux, in both ways.
void silence_tmux_everywhere(const Change& change) {
    RunnerWorld world;
    const auto id = change.arrange(world);
    world.keep();
    for (const auto fault : {TmuxFault::does_not_answer, TmuxFault::answers_too_late}) {
        for (int n = 1;; ++n) {
            INFO(change.name << ", call " << n << " of tmux, way " << static_cast<int>(fault));
            world.back();
            world.outside.tmux_faults.arm(fault, n);
            const auto result = change.act(world, id);
            const bool struck = world.outside.tmux_faults.struck;
            world.outside.tmux_faults.disarm();
            if (!struck) {
                REQUIRE(result);
                CHECK(change.is_done(world, id));
                CHECK(n > 1);
                break;
            }
            is_told_and_goes_on(world, id, change, result);
            // Never two of one role, and nobody who is in no record.
            CHECK(world.outside.processes.alive.size() <= 1);
        }
    }
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

TEST_CASE("a child that fails while a task is started is told, and the next try succeeds", "[slow]") {
    fail_everywhere(starting());
}

TEST_CASE("a child that fails while a task is created is told, and the next try succeeds", "[slow]") {
    fail_everywhere(creating());
}

TEST_CASE("a child that fails while a task is cancelled loses no work, and the next try succeeds", "[slow]") {
    fail_everywhere(cancelling());
}

TEST_CASE("a child that fails in a merge never makes it done without being merged, and the next try succeeds",
          "[soak]") {
    fail_everywhere(merging());
    fail_everywhere(merging_by_squash());
    fail_everywhere(merging_with_origin());
    fail_everywhere(merging_with_checks());
}

TEST_CASE("a child that fails while checks run is told, and the next try succeeds", "[slow]") {
    fail_everywhere(checking());
}

TEST_CASE("a child that fails while a branch is renamed is told, and the next try succeeds", "[slow]") {
    fail_everywhere(renaming_the_branch());
    fail_everywhere(switching_the_branch());
    fail_everywhere(taking_over_the_branch());
}

TEST_CASE("a child that fails while workspaces change is told, and the next try succeeds", "[slow]") {
    fail_everywhere(making_workspaces());
    fail_everywhere(removing_workspaces());
    fail_everywhere(releasing_again());
    fail_everywhere(leaving());
}

TEST_CASE("a setup command that fails is told, and the next try succeeds", "[slow]") {
    fail_everywhere(starting_with_setup());
}

TEST_CASE("a command, a push or gh that fails is told, and the next try succeeds", "[slow]") {
    fail_everywhere(publishing());
}

TEST_CASE("a git or gh that fails never opens a second pull request, nor makes a task done that is not merged",
          "[soak]") {
    fail_everywhere(opening_a_pull_request());
    fail_everywhere(merging_at_github());
    fail_everywhere(following_a_merge());
}

TEST_CASE("a child that fails while a project is added or moved is told, and the next try succeeds") {
    fail_everywhere(adding_a_project());
    fail_everywhere(moving_a_project());
}

TEST_CASE("a tmux that does not answer while an agent is started starts none twice, and the next try succeeds") {
    silence_tmux_everywhere(starting());
    silence_tmux_everywhere(respawning());
}

TEST_CASE("a tmux that does not answer while an agent is ended keeps no workspace for ever, and loses no work",
          "[soak]") {
    silence_tmux_everywhere(cancelling());
}
