// The number of processes and of fsyncs that the most frequent changes use. tests/bench/limits.json has the limits.
// Nothing is timed.
#include <chrono>
#include <fstream>
#include <thread>

#include "common/base/text.hpp"
#include "common/model/json.hpp"
#include "daemon/git/branch_names.hpp"
#include "daemon/git/small_files.hpp"
#include "daemon/runner/branch/branch.hpp"
#include "daemon/runner/branch/committed.hpp"
#include "tests/catch.hpp"
#include "tests/unit/runner/changes.hpp"
#include "tests/unit/runner/power.hpp"

using namespace orange;
using namespace orange::test;

namespace {

Json limits() {
    std::ifstream in(std::string(ORANGE_SOURCE_DIR) + "/tests/bench/limits.json");
    return Json::parse(in);
}

struct Costs {
    std::vector<std::string> processes;  ///< their command lines
    int syncs = 0;
    int tmux = 0;  ///< questions to tmux, and windows and sessions to close: a process each
};

int asked_of(const fakes::FakeTmux& tmux) {
    return tmux.asked_for_lines + tmux.asked_for_panes + static_cast<int>(tmux.state.killed.size());
}

Costs costs_of(RunnerWorld& world, const std::function<void()>& change) {
    Costs costs;
    PageCache cache(world.home());
    cache.before_sync = [&costs] { ++costs.syncs; };
    world.outside.children.disarm();
    const auto asked = asked_of(world.outside.tmux);
    change();
    costs.processes = world.outside.children.commands;
    costs.tmux = asked_of(world.outside.tmux) - asked;
    return costs;
}

void check(const std::string& name, const Costs& costs) {
    const auto limit = limits().at(name);
    const auto processes = static_cast<int>(costs.processes.size());
    INFO(name << ": " << processes << " processes, " << costs.syncs << " syncs, " << costs.tmux << " of tmux\n"
              << join(costs.processes, "\n"));
    CHECK(processes <= limit.at("processes").get<int>());
    CHECK(costs.syncs <= limit.at("syncs").get<int>());
    CHECK(costs.tmux <= limit.value("processes of tmux", 0));
    CHECK(processes + costs.syncs > 0);
}

/// A life takes longer than a file's time is in doubt for, after which git's settings are remembered.
void let_settings_settle(RunnerWorld& world) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!git::settled_facts(world.repo() + "/.git/config") && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

/// A task in planning, in a workspace that another has had.
TaskId in_a_warm_pool(RunnerWorld& world) {
    const auto first = planning(world);
    world.move(first, "cancelled").value();
    return world.make_task();
}

/// What `orange task create --branch` asks git, and the start. The real tmux is one process more, and git starts two of
/// its own for a new worktree.
Costs costs_of_create(RunnerWorld& world, const TaskId& id) {
    const auto branch = world.record(id).task.branch;
    return costs_of(world, [&] {
        CHECK_FALSE(world.house().go(git::branch_state(world.house().world().git, world.repo(), branch)).value().local);
        world.move(id, "planning").value();
    });
}

}  // namespace

TEST_CASE("what a task costs that is created and started stays within its bounds", "[slow]") {
    RunnerWorld world;
    let_settings_settle(world);
    const auto first = world.make_task();
    check("create and start, new worktree", costs_of_create(world, first));
    world.move(first, "cancelled").value();
    check("create and start, warm pool", costs_of_create(world, world.make_task()));
}

TEST_CASE("what a start, an end and a transition cost stays within its bounds", "[slow]") {
    RunnerWorld world;
    let_settings_settle(world);
    const auto id = in_a_warm_pool(world);
    check("start in a warm pool", costs_of(world, [&] { world.move(id, "planning").value(); }));
    world.append_body(id, "\n## Plan\nAPPROACH: straight on\n");
    const auto take_in = [&] { world.house().go(world.house().runner().turns.body_changed(id)); };
    check("edit of TASK.md", costs_of(world, take_in));
    check("transition", costs_of(world, [&] { world.move(id, "working").value(); }));
    check("transition with a question", costs_of(world, [&] { world.move(id, "stuck").value(); }));
    check("cancel, nothing uncommitted", costs_of(world, [&] { world.move(id, "cancelled").value(); }));
    const auto other = planning(world);
    const auto worktree = world.house().world().pool.path_of(*world.record(other).task.workspace);
    write_file(worktree / "untracked", "mine\n");
    check("cancel, uncommitted files", costs_of(world, [&] { world.move(other, "cancelled").value(); }));
}

TEST_CASE("what the death of an agent costs stays within its bounds", "[slow]") {
    RunnerWorld world;
    let_settings_settle(world);
    const auto id = planning(world);
    const auto run = world.record(id).runs.at(0).run;
    world.kill_agent(id, Role::worker, 1);
    check("death of an agent",
          costs_of(world, [&] { world.house().go(world.house().runner().exits.agent_exited(id, run)); }));
    CHECK(world.events(id, "agent.exited").size() == 1);
}

TEST_CASE("what is counted of branches for lists stays within its bounds, and is what their commits change") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto worktree = world.house().world().pool.path_of(*world.record(id).task.workspace);
    auto& committed = world.house().runner().committed;
    const auto refresh = [&] { world.house().go(committed.refresh("shop", {id})).value(); };
    refresh();
    REQUIRE(committed.of(id));
    CHECK(committed.of(id)->changes.files == 0);
    world.git.commit(worktree, "feature", "one\ntwo\n");
    write_file(worktree / "untracked", "not counted\n");
    check("count after a commit", costs_of(world, refresh));
    REQUIRE(committed.of(id));
    CHECK(committed.of(id)->changes.commits == 1);
    CHECK(committed.of(id)->changes.files == 1);
    CHECK(committed.of(id)->changes.added == 2);
    CHECK(committed.of(id)->changes.removed == 0);
    check("count, nothing has moved", costs_of(world, refresh));
    world.git.commit(world.repo(), "other", "beside it\n");
    check("count after a commit on the default branch", costs_of(world, refresh));
    CHECK(committed.of(id)->changes.commits == 1);

    world.git.commit(worktree, "feature", "one\n");
    refresh();
    CHECK(committed.of(id)->changes.commits == 2);
    CHECK(committed.of(id)->changes.added == 1);
    world.move(id, "cancelled").value();
    REQUIRE(committed.of(id));
    CHECK(committed.of(id)->changes.commits == 2);
}

TEST_CASE("what is known of a branch is not counted again, but uncommitted files are") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto worktree = world.house().world().pool.path_of(*world.record(id).task.workspace);
    world.git.commit(worktree, "feature", "one\ntwo\n");
    auto& committed = world.house().runner().committed;
    world.house().go(committed.refresh("shop", {id})).value();
    auto& children = world.outside.children;
    const auto counted = [&](const Changes& known) {
        children.disarm();
        return world.house().go(changes_of(world.house().world(), world.record(id), known)).value();
    };
    CHECK(counted(Changes()).added == 2);
    const auto all = children.commands.size();
    const auto known = counted(committed.known(id));
    CHECK(children.commands.size() == all - 2);
    CHECK(known.commits == 1);
    CHECK(known.files == 1);
    CHECK(known.added == 2);
    write_file(worktree / "untracked", "three\n");
    const auto dirty = counted(committed.known(id));
    CHECK(dirty.uncommitted);
    CHECK(dirty.files == 2);
    CHECK(dirty.added == 3);
}

/// From the creation to the merge at origin: at most 31 processes in all.
TEST_CASE("what one short life costs stays within its bounds", "[slow]") {
    RunnerWorld world;
    world.git.make_origin(world.repo(), "live/origin.git");
    let_settings_settle(world);
    world.move(planning(world), "cancelled").value();
    TaskId id;
    check("life: start", costs_of(world, [&] {
              id = world.make_task("do it", 1, "relay");
              world.move(id, "working").value();
          }));
    world.git.commit(world.house().world().pool.path_of(*world.record(id).task.workspace), "feature", "it\n");
    world.append_body(id, "\n## Handoff\nall of it\n");
    check("life: review", costs_of(world, [&] { world.move(id, "agent-review").value(); }));
    world.append_body(id, "\n## Review\nPASS\n");
    check("life: verdict", costs_of(world, [&] { world.move(id, "reviewing").value(); }));
    check("life: merge", costs_of(world, [&] {
              world.house().go(world.house().runner().merges.merge(id, MergeOrder{}, a_human())).value();
          }));
}
