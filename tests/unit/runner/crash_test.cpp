// A daemon ends at every step of every kind of transition, and the next daemon goes on with the same files. It finishes
// each transition once. A step is everything that leaves a trace: a file that is written or removed, a command to tmux.
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>

#include "tests/catch.hpp"
#include "tests/unit/runner/changes.hpp"

using namespace orange;
using namespace orange::test;
using fakes::Fuse;

namespace {

struct Scenario {
    std::function<TaskId(RunnerWorld&)> arrange;
    std::function<void(RunnerWorld&, const TaskId&)> act;
    std::string from;
    std::string to;
    std::map<std::string, std::size_t> windows;  ///< opened on the whole way, where the transition took place
    std::size_t told = 0;                        ///< messages for the worker
    std::size_t workspace_events = 0;            ///< workspace.released
    /// What must be so where the transition took place and no hook failed.
    std::function<void(RunnerWorld&, const TaskId&)> then = [](RunnerWorld&, const TaskId&) {};
};

TaskId planned(RunnerWorld& world) {
    const auto id = world.make_task();
    world.move(id, "planning").value();
    return id;
}

TaskId worked(RunnerWorld& world) {
    const auto id = planned(world);
    world.append_body(id, "\n## Plan\nAPPROACH: straight on\n");
    world.move(id, "working").value();
    world.append_body(id, "\n## Handoff\nDONE: all of it\n");
    return id;
}

TaskId reviewed(RunnerWorld& world, const std::string& verdict) {
    const auto id = worked(world);
    world.move(id, "agent-review").value();
    world.append_body(id, "\n## Review\nVerdict: " + verdict + "\n");
    return id;
}

std::function<void(RunnerWorld&, const TaskId&)> moving(const std::string& to) {
    return [to](RunnerWorld& world, const TaskId& id) { (void)world.move(id, to); };
}

std::function<void(RunnerWorld&, const TaskId&)> seeing_the_end_of(Role role) {
    return [role](RunnerWorld& world, const TaskId& id) {
        const auto* run = world.record(id).run_of(role);
        if (run) world.house().go(world.house().runner().exits.agent_exited(id, RunId{run->run}));
    };
}

std::size_t messages_for_worker(RunnerWorld& world, const TaskId& id) {
    return world.record(id).outbox.size();
}

void check(RunnerWorld& world, const TaskId& id, const Scenario& scenario, std::size_t changes_before,
           Fuse::Ending ending) {
    const auto& record = world.record(id);
    const bool moved = record.task.status == scenario.to;
    CHECK((moved || record.task.status == scenario.from));
    CHECK_FALSE(record.intent);
    const auto changes = world.events(id, "status.changed");
    CHECK(changes.size() == changes_before + (moved ? 1 : 0));
    if (moved && !changes.empty()) CHECK(changes.back().fields.at("to") == Scalar{scenario.to});
    for (const auto& [window, count] : scenario.windows) {
        INFO(window);
        if (moved) CHECK(world.outside.tmux.windows_named(window) == count);
        CHECK(world.outside.tmux.windows_named(window) <= count);
        std::size_t spawned = 0;
        for (const auto& event : world.events(id, "agent.spawned"))
            spawned += event.fields.at("window") == Scalar{window};
        // What the disk has no room for is not in history; a killed daemon's successor makes up for it.
        CHECK(spawned <= world.outside.tmux.windows_named(window));
        if (ending == Fuse::Ending::killed && moved) CHECK(spawned == count);
    }
    // A hook that fails is not tried again: it is told instead.
    const bool whole = ending != Fuse::Ending::disk_full_once || !record.task.attention;
    const auto told = messages_for_worker(world, id);
    const auto released = world.events(id, "workspace.released").size();
    CHECK(told <= scenario.told);
    CHECK(released <= scenario.workspace_events);
    if (moved && whole) CHECK(told == scenario.told);
    if (moved && whole) CHECK(released == scenario.workspace_events);
    if (moved && whole) scenario.then(world, id);
    CHECK(world.events(id, "notification").size() <= 1);
    const auto acquired = world.events(id, "workspace.acquired").size();
    if (ending == Fuse::Ending::killed) CHECK(acquired == released + (record.task.workspace ? 1 : 0));
    // Every living process is one that the task knows of.
    for (const auto& [pid, process] : world.outside.processes.alive) {
        bool known = false;
        for (const auto& run : record.runs) known = known || run.pid == pid;
        CHECK(known);
    }
}

void end_everywhere(const Scenario& scenario, Fuse::Ending ending) {
    RunnerWorld world;
    const auto id = scenario.arrange(world);
    const auto before = world.events(id, "status.changed").size();
    world.keep();

    world.outside.fuse.arm(Fuse::Ending::none, 0);
    scenario.act(world, id);
    const int steps = world.outside.fuse.steps();
    REQUIRE(steps > 3);
    REQUIRE(world.record(id).task.status == scenario.to);
    check(world, id, scenario, before, ending);

    for (int n = 1; n <= steps; ++n) {
        INFO("step " << n << " of " << steps);
        world.back();
        world.outside.fuse.arm(ending, n);
        try {
            scenario.act(world, id);
        } catch (const fakes::Killed&) {
        }
        world.outside.fuse.disarm();
        world.boot();
        world.recover();
        check(world, id, scenario, before, ending);
        if (world.record(id).task.status == scenario.to) continue;
        // Nothing of the attempt is in the way of the next one.
        scenario.act(world, id);
        CHECK(world.record(id).task.status == scenario.to);
        check(world, id, scenario, before, ending);
    }
}

/// Daemons that are killed, each a step further into its recovery than the one before, until one gets through.
void recover_through_deaths(RunnerWorld& world) {
    for (int n = 1;; ++n) {
        world.boot();
        world.outside.fuse.arm(Fuse::Ending::killed, n);
        try {
            world.recover();
            world.outside.fuse.disarm();
            return;
        } catch (const fakes::Killed&) {
            world.outside.fuse.disarm();
        }
        REQUIRE(n < 200);
    }
}

/// Killed at some steps of the transition, and then in the recovery, at the nth step of each. Every third step, each
/// story beginning elsewhere: all of them would be the square of all.
void end_in_recovery_too(const Scenario& scenario, int first) {
    RunnerWorld world;
    const auto id = scenario.arrange(world);
    const auto before = world.events(id, "status.changed").size();
    world.keep();
    world.outside.fuse.arm(Fuse::Ending::none, 0);
    scenario.act(world, id);
    const int steps = world.outside.fuse.steps();
    REQUIRE(steps > 3);
    for (int n = first; n <= steps; n += 3) {
        INFO("step " << n << " of " << steps);
        world.back();
        world.outside.fuse.arm(Fuse::Ending::killed, n);
        try {
            scenario.act(world, id);
        } catch (const fakes::Killed&) {
        }
        world.outside.fuse.disarm();
        recover_through_deaths(world);
        check(world, id, scenario, before, Fuse::Ending::killed);
        if (world.record(id).task.status == scenario.to) continue;
        scenario.act(world, id);
        CHECK(world.record(id).task.status == scenario.to);
        check(world, id, scenario, before, Fuse::Ending::killed);
    }
}

void end_in_every_way(const Scenario& scenario) {
    for (const auto ending : {Fuse::Ending::killed, Fuse::Ending::disk_full_for_good, Fuse::Ending::disk_full_once}) {
        INFO("ending " << static_cast<int>(ending));
        end_everywhere(scenario, ending);
    }
}

struct Creation {
    std::optional<std::string> start;
    std::string status;  ///< in which it is in the end
    std::map<std::string, std::size_t> windows;
    std::int64_t review_round = 0;
};

/// No task, or a whole one: with its context, once in history, where it was to begin.
void check_created(RunnerWorld& world, const TaskId& id, const Creation& creation, Fuse::Ending ending) {
    const auto& store = world.house().world().tasks;
    if (!store.brief(id)) {
        CHECK_FALSE(std::filesystem::exists(world.house().world().paths.tasks() / "shop" / id.value));
        CHECK(world.outside.processes.alive.empty());
        return;
    }
    const auto& record = world.record(id);
    const auto body = world.task_text(id);
    CHECK_THAT(body, Holds("### Why"));
    if (ending == Fuse::Ending::killed) CHECK(world.events(id, "task.created").size() == 1);
    const bool told_why_not = ending != Fuse::Ending::killed && record.task.attention;
    if (told_why_not) return;
    CHECK_FALSE(record.intent);
    CHECK(record.task.status == creation.status);
    CHECK(record.task.review_round() == creation.review_round);
    for (const auto& [window, count] : creation.windows) CHECK(world.outside.tmux.windows_named(window) == count);
    CHECK(world.outside.processes.alive.size() == creation.windows.size());
    CHECK(world.events(id, "status.changed").size() == 1);
}

void cut_off_everywhere(const Creation& creation, Fuse::Ending ending) {
    RunnerWorld world;
    auto record = world.draft();
    record.start = creation.start;
    const auto id = record.task.id;
    world.keep();
    world.outside.fuse.arm(Fuse::Ending::none, 0);
    REQUIRE(world.create(record, "## Why\nbecause\n", false));
    const int steps = world.outside.fuse.steps();
    REQUIRE(steps > 3);
    check_created(world, id, creation, Fuse::Ending::killed);
    for (int n = 1; n <= steps; ++n) {
        INFO("step " << n << " of " << steps);
        world.back();
        world.outside.fuse.arm(ending, n);
        try {
            (void)world.create(record, "## Why\nbecause\n", false);
        } catch (const fakes::Killed&) {
        }
        world.outside.fuse.disarm();
        world.boot();
        // A claim of the dead daemon's is given back at the start, before the queue goes on.
        const auto project = world.house().world().projects.find("shop");
        REQUIRE(project);
        const auto shop = *project;
        REQUIRE(world.house().go(world.house().runner().workspaces.collect(shop)));
        world.recover();
        check_created(world, id, creation, ending);
        if (world.house().world().tasks.brief(id)) continue;
        REQUIRE(world.create(record, "## Why\nbecause\n", false));
        check_created(world, id, creation, ending);
    }
}

void cut_off_in_every_way(const Creation& creation) {
    for (const auto ending : {Fuse::Ending::killed, Fuse::Ending::disk_full_for_good, Fuse::Ending::disk_full_once}) {
        INFO("ending " << static_cast<int>(ending));
        cut_off_everywhere(creation, ending);
    }
}

}  // namespace

TEST_CASE("a start that was cut off anywhere is finished once", "[slow]") {
    end_in_every_way({[](RunnerWorld& world) { return world.make_task(); },
                      moving("planning"),
                      "pending",
                      "planning",
                      {{"worker", 1}}});
}

TEST_CASE("a transition without hooks that was cut off anywhere is finished once", "[slow]") {
    end_in_every_way({[](RunnerWorld& world) {
                          const auto id = planned(world);
                          world.append_body(id, "\n## Plan\nAPPROACH: straight on\n");
                          return id;
                      },
                      moving("working"),
                      "planning",
                      "working",
                      {{"worker", 1}}});
}

TEST_CASE("the start of a review that was cut off anywhere is finished once", "[slow]") {
    end_in_every_way({worked, moving("agent-review"), "working", "agent-review", {{"worker", 1}, {"review-1", 1}}});
}

TEST_CASE("a verdict that was cut off anywhere is acted on once", "[slow]") {
    SECTION("passed") {
        end_in_every_way({[](RunnerWorld& world) { return reviewed(world, "PASS"); },
                          moving("reviewing"),
                          "agent-review",
                          "reviewing",
                          {{"worker", 1}, {"review-1", 1}},
                          1});
    }
    SECTION("failed") {
        end_in_every_way({[](RunnerWorld& world) { return reviewed(world, "FAIL"); },
                          moving("working"),
                          "agent-review",
                          "working",
                          {{"worker", 1}, {"review-1", 1}},
                          1});
    }
}

TEST_CASE("instructions for a worker that lives are given once", "[slow]") {
    end_in_every_way({worked, moving("stuck"), "working", "stuck", {{"worker", 1}}, 1});
}

TEST_CASE("a cancellation that was cut off anywhere is finished once", "[slow]") {
    end_in_every_way({[](RunnerWorld& world) { return reviewed(world, "PASS"); },
                      moving("cancelled"),
                      "agent-review",
                      "cancelled",
                      {{"worker", 1}, {"review-1", 1}},
                      0,
                      1});
}

TEST_CASE("an agent's end that was dealt with up to anywhere moves its task once", "[slow]") {
    end_in_every_way({[](RunnerWorld& world) {
                          const auto id = worked(world);
                          world.kill_agent(id, Role::worker, 0);
                          return id;
                      },
                      seeing_the_end_of(Role::worker),
                      "working",
                      "agent-review",
                      {{"worker", 1}, {"review-1", 1}}});
}

namespace {

/// Reviewed on relay, so that nobody lives any more, with a commit that main does not have.
TaskId mergeable(RunnerWorld& world) {
    const auto id = world.make_task("do it", 1, "relay");
    world.move(id, "working").value();
    const auto worktree = world.house().world().pool.path_of(*world.record(id).task.workspace);
    world.git.commit(worktree, "feature", "it\n");
    world.append_body(id, "\n## Handoff\nall of it\n");
    world.move(id, "agent-review").value();
    world.append_body(id, "\n## Review\nPASS\n");
    world.move(id, "reviewing").value();
    return id;
}

/// A workflow of its own whose one way out of `working` runs a command and pushes.
TaskId publishable(RunnerWorld& world) {
    const auto live = std::filesystem::path(world.repo()).parent_path();
    world.git.make_origin(world.repo(), "live/origin.git");
    write_file(live / "home/workflows/publish.yml",
               "name: publish\nversion: 1\n"
               "states: {pending: {}, working: {}, published: {}, done: {terminal: true}}\n"
               "transitions:\n"
               "  - {from: pending, to: working, hooks: [{action: acquire_workspace}]}\n"
               "  - from: working\n    to: published\n    hooks:\n"
               "      - {action: run_command, argv: [touch, ran]}\n"
               "      - {action: push_branch}\n"
               "  - {from: published, to: done}\n");
    const auto id = world.make_task("do it", 1, "publish");
    world.move(id, "working").value();
    return id;
}

}  // namespace

TEST_CASE("a merge that was cut off anywhere is finished once", "[soak]") {
    Scenario scenario;
    scenario.arrange = mergeable;
    scenario.act = [](RunnerWorld& world, const TaskId& id) {
        auto& runner = world.house().runner();
        (void)world.house().go(runner.merges.merge(id, MergeOrder{}, Caller{}));
    };
    scenario.from = "reviewing";
    scenario.to = "done";
    scenario.windows = {{"worker", 1}, {"review-1", 1}};
    scenario.workspace_events = 1;
    scenario.then = [](RunnerWorld& world, const TaskId& id) {
        CHECK(world.git.plain(world.repo(), {"show", "main:feature"}) == "it");
        // One merge, however often it was tried.
        CHECK(world.git.plain(world.repo(), {"rev-list", "--count", "--merges", "main"}) == "1");
        CHECK_FALSE(world.record(id).task.workspace);
    };
    end_in_every_way(scenario);
}

TEST_CASE("a merge with a remote that was cut off anywhere is published once, and finished", "[soak]") {
    const auto change = merging_with_origin();
    Scenario scenario;
    scenario.arrange = change.arrange;
    scenario.act = [change](RunnerWorld& world, const TaskId& id) { (void)change.act(world, id); };
    scenario.from = "reviewing";
    scenario.to = "done";
    scenario.windows = {{"worker", 1}, {"review-1", 1}};
    scenario.workspace_events = 1;
    scenario.then = [change](RunnerWorld& world, const TaskId& id) {
        CHECK_NOTHROW(change.holds(world, id));
        CHECK(world.git.ref(world.repo(), "refs/heads/main") == world.record(id).merge->commit);
        CHECK(world.record(id).merge->phase == MergePhase::done);
    };
    end_in_every_way(scenario);
    end_in_recovery_too(scenario, 2);
}

TEST_CASE("a merge whose daemon ends at any of its children is published once, and finished by the next daemon",
          "[soak]") {
    const auto change = merging_with_origin();
    RunnerWorld world;
    const auto id = change.arrange(world);
    world.keep();
    const bool all = std::getenv("ORANGE_ALL_FAULTS") != nullptr;
    using fakes::ChildFault;
    for (int n = 1;; ++n) {
        for (const auto fault : {ChildFault::ends_the_daemon_before, ChildFault::ends_the_daemon_after}) {
            if (!all && (n % 2 == 0) == (fault == ChildFault::ends_the_daemon_before)) continue;
            INFO("child " << n << ", " << (fault == ChildFault::ends_the_daemon_before ? "before" : "after") << " it");
            world.back();
            world.outside.children.arm(fault, n);
            auto done = Result<void>{};
            try {
                done = change.act(world, id);
            } catch (const fakes::Killed&) {
            }
            const bool struck = world.outside.children.struck;
            world.outside.children.disarm();
            if (!struck) {
                REQUIRE(done);
                CHECK(n > 20);
                return;
            }
            CHECK_NOTHROW(goes_on(world, id, change));
            CHECK(world.record(id).merge->phase == MergePhase::done);
            CHECK(world.git.ref(world.repo(), "refs/heads/main") == world.record(id).merge->commit);
        }
    }
}

TEST_CASE("a command and a push that were cut off anywhere have happened in the end", "[slow]") {
    Scenario scenario;
    scenario.arrange = publishable;
    scenario.act = moving("published");
    scenario.from = "working";
    scenario.to = "published";
    scenario.then = [](RunnerWorld& world, const TaskId& id) {
        const auto& task = world.record(id).task;
        CHECK(std::filesystem::exists(world.house().world().pool.path_of(*task.workspace) / "ran"));
        CHECK(world.git.plain(world.repo(), {"ls-remote", "origin", "refs/heads/" + task.branch}) != "");
    };
    end_in_every_way(scenario);
}

TEST_CASE("a creation that was cut off anywhere leaves no task, or a whole one that is started", "[slow]") {
    cut_off_in_every_way({{}, "planning", {{"worker", 1}}, 0});
}

TEST_CASE("a creation for a review that was cut off anywhere leaves no task, or one that is reviewed", "[soak]") {
    cut_off_in_every_way({"agent-review", "agent-review", {{"review-1", 1}}, 1});
}

TEST_CASE("a creation of work that is there, cut off anywhere, leaves no task, or one that can be merged") {
    cut_off_in_every_way({"reviewing", "reviewing", {}, 0});
}

TEST_CASE("a recovery that is killed, again and again, recovers in the end: starts and reviews", "[slow]") {
    end_in_recovery_too({[](RunnerWorld& world) { return world.make_task(); },
                         moving("planning"),
                         "pending",
                         "planning",
                         {{"worker", 1}}},
                        1);
    end_in_recovery_too({worked, moving("agent-review"), "working", "agent-review", {{"worker", 1}, {"review-1", 1}}},
                        2);
    end_in_recovery_too({[](RunnerWorld& world) { return reviewed(world, "FAIL"); },
                         moving("working"),
                         "agent-review",
                         "working",
                         {{"worker", 1}, {"review-1", 1}},
                         1},
                        3);
}

TEST_CASE("a recovery that is killed, again and again, recovers in the end: what ends a task", "[slow]") {
    end_in_recovery_too({[](RunnerWorld& world) { return reviewed(world, "PASS"); },
                         moving("cancelled"),
                         "agent-review",
                         "cancelled",
                         {{"worker", 1}, {"review-1", 1}},
                         0,
                         1},
                        2);
    Scenario merge;
    merge.arrange = mergeable;
    merge.act = [](RunnerWorld& world, const TaskId& id) {
        auto& runner = world.house().runner();
        (void)world.house().go(runner.merges.merge(id, MergeOrder{}, Caller{}));
    };
    merge.from = "reviewing";
    merge.to = "done";
    merge.windows = {{"worker", 1}, {"review-1", 1}};
    merge.workspace_events = 1;
    merge.then = [](RunnerWorld& world, const TaskId&) {
        CHECK(world.git.plain(world.repo(), {"rev-list", "--count", "--merges", "main"}) == "1");
    };
    end_in_recovery_too(merge, 1);
}
