// Requests, hooks, crashes and restarts of one task, through the whole runner.
#include <fstream>

#include "tests/catch.hpp"
#include "tests/unit/runner/house.hpp"

using namespace orange;
using namespace orange::test;

namespace {

TaskId working(RunnerWorld& world) {
    const auto id = world.make_task();
    world.move(id, "planning").value();
    world.append_body(id, "\n## Plan\nAPPROACH: straight on\n");
    world.move(id, "working").value();
    return id;
}

Result<Outcome> ask(RunnerWorld& world, const TaskId& id, const std::string& to, Caller by, Edit edit = {}) {
    engine::Request request;
    request.to = to;
    request.by = by.role;
    return world.house().go(world.house().runner().requests.move(id, request, by, std::move(edit)));
}

}  // namespace

TEST_CASE("a request that is refused changes nothing") {
    RunnerWorld world;
    const auto id = working(world);
    const auto other = world.make_task("another");
    const auto state = world.state_text(id);
    const auto history = world.history_text(id);
    const auto opened = world.outside.tmux.state.opened.size();
    Caller worker;
    worker.role = Role::worker;
    worker.task = id;
    Caller stranger = worker;
    stranger.task = other;
    Caller human;
    Edit edit;

    SECTION("no such way") {
        CHECK(ask(world, id, "reviewing", human).error().code == ErrorCode::illegal_transition);
    }
    SECTION("gate") {
        CHECK(ask(world, id, "agent-review", human).error().code == ErrorCode::gate_failed);
    }
    SECTION("not theirs") {
        CHECK(ask(world, id, "cancelled", worker).error().code == ErrorCode::forbidden);
    }
    SECTION("another task's agent") {
        CHECK(ask(world, id, "clarification", stranger).error().code == ErrorCode::forbidden);
    }
    SECTION("with fields that would have been fine") {
        edit.summary = "new";
        edit.feedback = "more";
        CHECK(ask(world, id, "agent-review", human, edit).error().code == ErrorCode::gate_failed);
    }
    SECTION("with fields that are wrong, where the way is free") {
        edit.summary = "two\nlines";
        CHECK(ask(world, id, "clarification", human, edit).error().code == ErrorCode::invalid_argument);
    }
    SECTION("no such harness") {
        edit.harness = "nobody";
        CHECK_FALSE(ask(world, id, "clarification", human, edit));
    }
    CHECK(world.state_text(id) == state);
    CHECK(world.history_text(id) == history);
    CHECK(world.outside.tmux.state.opened.size() == opened);
}

TEST_CASE("a start whose workspace cannot be made ready changes nothing") {
    RunnerWorld world;
    const auto id = world.make_task();
    auto project = *world.house().world().projects.find("shop");
    project.setup = {"false"};
    REQUIRE(world.house().world().projects.put(project));
    const auto state = world.state_text(id);
    const auto history = world.history_text(id);
    CHECK(world.move(id, "planning").error().code == ErrorCode::external_failed);
    CHECK(world.state_text(id) == state);
    CHECK(world.history_text(id) == history);
    CHECK(world.outside.tmux.state.opened.empty());
    CHECK(world.house().world().pool.list("shop").at(0).task.empty());
}

TEST_CASE("a hook that fails is told, and the hooks after it run") {
    RunnerWorld world;
    const auto id = working(world);
    world.kill_agent(id, Role::worker, 0);
    world.outside.tmux.open_fails = Error(ErrorCode::unavailable, "no server");
    const auto moved = world.move(id, "stuck").value();
    REQUIRE_FALSE(moved.notes.empty());
    CHECK_THAT(moved.notes[0], Tells("orange task why " + id.value));
    const auto& record = world.record(id);
    CHECK(record.task.status == "stuck");
    CHECK_FALSE(record.intent);
    REQUIRE(record.task.attention);
    CHECK_THAT(*record.task.attention, Holds("no server"));
    CHECK(world.events(id, "hook.failed").at(0).fields.at("hook") == Scalar{std::string("spawn_agent")});
    CHECK(world.events(id, "notification").size() == 1);
    CHECK(world.events(id, "status.changed").back().fields.at("to") == Scalar{std::string("stuck")});
    world.outside.tmux.open_fails.reset();
    CHECK(world.house().go(world.house().runner().respawns.respawn(id, Caller{})));
    CHECK_FALSE(world.record(id).task.attention);
}

TEST_CASE("a cancelled task whose end was cut off is finished by the next daemon") {
    RunnerWorld world;
    const auto id = working(world);
    world.outside.tmux.before = [&] { throw fakes::Killed(); };
    CHECK_THROWS_AS(world.move(id, "cancelled"), fakes::Killed);
    world.outside.tmux.before = [] {};
    world.boot();
    CHECK(world.record(id).task.status == "cancelled");
    CHECK(world.house().world().tasks.active().contains(id));
    world.recover();
    CHECK(world.outside.processes.alive.empty());
    CHECK_FALSE(world.record(id).task.workspace);
    CHECK_FALSE(world.house().world().tasks.active().contains(id));
}

TEST_CASE("a crash below the threshold leaves its agent to a human, with the command") {
    RunnerWorld world;
    const auto id = working(world);
    world.kill_agent(id, Role::worker, 7);
    const auto run = world.record(id).run_of(Role::worker)->run;
    world.house().go(world.house().runner().exits.agent_exited(id, run));
    world.house().go(world.house().runner().exits.agent_exited(id, run));
    CHECK(world.record(id).task.crash_count() == 1);
    CHECK_THAT(attention(world, id), Tells("orange task respawn " + id.value));
    const auto exited = world.events(id, "agent.exited");
    REQUIRE(exited.size() == 1);
    CHECK(exited[0].fields.at("exit_status") == Scalar{std::int64_t{7}});
    CHECK(world.events(id, "agent.crashed").size() == 1);
}

TEST_CASE("a death that cannot be counted is seen again, and then counted once") {
    RunnerWorld world;
    const auto id = working(world);
    world.kill_agent(id, Role::worker, 7);
    const auto run = world.record(id).run_of(Role::worker)->run;
    world.keep();
    for (int n = 1; n <= 12; ++n) {
        INFO("step " << n);
        world.back();
        world.outside.fuse.arm(fakes::Fuse::Ending::killed, n);
        try {
            world.house().go(world.house().runner().exits.agent_exited(id, run));
        } catch (const fakes::Killed&) {
        }
        world.outside.fuse.disarm();
        world.boot();
        world.recover();
        CHECK(world.record(id).task.crash_count() == 1);
        CHECK(world.record(id).runs.empty());
        CHECK(world.record(id).task.attention);
        CHECK(world.events(id, "agent.crashed").size() <= 1);
    }
}

TEST_CASE("a reviewer that crashed and was to be started again is either alive or asked for") {
    RunnerWorld world;
    const auto id = working(world);
    world.append_body(id, "\n## Handoff\nDONE: all of it\n");
    world.move(id, "agent-review").value();
    world.kill_agent(id, Role::reviewer, 1);
    const auto run = world.record(id).run_of(Role::reviewer)->run;
    world.keep();
    for (int n = 1; n <= 24; ++n) {
        INFO("step " << n);
        world.back();
        world.outside.fuse.arm(fakes::Fuse::Ending::killed, n);
        try {
            world.house().go(world.house().runner().exits.agent_exited(id, run));
        } catch (const fakes::Killed&) {
        }
        world.outside.fuse.disarm();
        world.boot();
        world.recover();
        const auto& record = world.record(id);
        CHECK(record.task.crash_count() == 1);
        CHECK((world.house().control().alive(record, Role::reviewer) || record.task.attention));
        CHECK(world.outside.tmux.windows_named("review-1") <= 2);
    }
}

TEST_CASE("while the history cannot be written the transition stays open and nothing else begins") {
    RunnerWorld world;
    const auto id = working(world);
    const auto file = world.house().world().tasks.folder(world.record(id)) / "history.jsonl";
    const auto kept = file.string() + ".kept";
    std::filesystem::rename(file, kept);
    std::filesystem::create_directory(file);
    CHECK(world.move(id, "clarification"));
    CHECK(world.record(id).task.status == "clarification");
    CHECK(world.record(id).intent);
    CHECK(world.move(id, "planning").error().code == ErrorCode::io);
    std::filesystem::remove(file);
    std::filesystem::rename(kept, file);
    CHECK(world.move(id, "planning"));
    const auto changes = world.events(id, "status.changed");
    REQUIRE(changes.size() == 4);
    CHECK(changes[2].fields.at("to") == Scalar{std::string("clarification")});
    CHECK(changes[3].fields.at("to") == Scalar{std::string("planning")});
}

TEST_CASE("a full pool keeps a task in the queue, and a free workspace starts it") {
    RunnerWorld world;
    const auto first = world.make_task("first", 1);
    world.move(first, "planning").value();
    const auto second = world.make_task("second");
    const auto waits = world.house().go(world.house().runner().queue.spawn(second, Caller{})).value();
    REQUIRE_FALSE(waits.notes.empty());
    CHECK_THAT(waits.notes[0], Tells("1"));
    world.move(first, "cancelled").value();
    world.house().go(world.house().runner().queue.look("shop"));
    CHECK(world.record(second).task.status == "planning");
    CHECK(world.record(second).task.workspace == "shop--1");
}

TEST_CASE(
    "a section in the very same words counts if it was written in this round, and its verdict is shown to a human") {
    RunnerWorld world;
    const auto id = working(world);
    const auto mirror = [&] {
        const auto& now = world.record(id);
        return world.house().world().pool.path_of(*now.task.workspace) / now.task_file;
    };
    // An agent's program saves the whole file again.
    const auto save_again = [&] {
        const auto text = read_file(mirror());
        const auto before = std::filesystem::last_write_time(mirror());
        while (std::filesystem::last_write_time(mirror()) == before) write_file(mirror(), text);
    };
    const auto is_stale = [&](const std::string& to) {
        const auto refused = world.move(id, to);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == ErrorCode::gate_failed);
    };
    const auto is_marked = [&] {
        return engine::find_notice(world.record(id), NoticeKind::unverified_review) != nullptr;
    };
    world.append_body(id, "\n## Handoff\nDONE: all of it\n");
    world.move(id, "agent-review").value();
    world.append_body(id, "\n## Review\nVerdict: FAIL\nThe sum is wrong.\n");
    world.move(id, "working").value();
    CHECK_FALSE(is_marked());
    // The next round, with the same handover and the same verdict.
    is_stale("agent-review");
    save_again();
    world.move(id, "agent-review").value();
    CHECK_FALSE(is_marked());
    is_stale("stuck");
    SECTION("another section was written") {
        world.append_body(id, "\n## Notes\nThe sum is still wrong.\n");
        is_stale("stuck");
    }
    SECTION("the daemon wrote the file") {
        Edit edit;
        edit.summary = "another summary";
        world.house().go(world.house().runner().requests.edit(id, edit, Caller{})).value();
        is_stale("stuck");
    }
    SECTION("it was written again") {
        save_again();
        world.house().go(world.house().runner().turns.body_changed(id));
        world.move(id, "stuck").value();
        CHECK(is_marked());
    }
    SECTION("it was removed and written again") {
        const auto text = read_file(mirror());
        write_file(mirror(), text.substr(0, text.find("\n## Review")));
        world.house().go(world.house().runner().turns.body_changed(id));
        write_file(mirror(), text);
        world.move(id, "stuck").value();
        CHECK(is_marked());
    }
}
