#include <fstream>

#include "daemon/async/async.hpp"
#include "tests/catch.hpp"
#include "tests/unit/runner/dying_agents.hpp"

/// Agents that die while something cannot be looked at, read or written.
using namespace orange;
using namespace orange::test;

namespace {

/// Somebody who has the file open, and takes his time.
Awaitable<void> writes_late(std::ofstream& writer) {
    const std::chrono::milliseconds while_open{400};
    co_await async::sleep(while_open);
    writer << "late\n";
    writer.close();
}

}  // namespace

TEST_CASE("an agent that cannot be looked at is no death, and no second one is started beside it") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto before = world.state_text(id);
    world.outside.exits.look_fails = Error(ErrorCode::io, "Too many open files");
    notice(world, id, Role::worker);
    CHECK(world.state_text(id) == before);
    CHECK(world.house().control().liveness(world.record(id), Role::worker) == agents::Liveness::unknown);
    CHECK(respawn(world, id).error().code == ErrorCode::conflict);
    world.outside.exits.look_fails.reset();
    dies(world, id, Role::worker, 4);
    CHECK(world.record(id).task.crash_count() == 1);
}

TEST_CASE("the death of an agent whose workflow is lost concludes nothing, and says what is wrong") {
    RunnerWorld world;
    const auto id = planning(world);
    set(world, id, [](TaskRecord& record) {
        record.task.workflow = "lost";
        record.task.workflow_hash = "0123456789abcdef";
    });
    dies(world, id, Role::worker);
    CHECK(world.record(id).task.status == "planning");
    CHECK(world.record(id).task.crash_count() == 0);
    CHECK(world.record(id).runs.empty());
    CHECK_THAT(attention(world, id), Tells("worker"));
    CHECK(world.events(id, "agent.exited").size() == 1);
    const auto no_way = respawn(world, id);
    REQUIRE_FALSE(no_way);
    CHECK_THAT(attention(world, id), Holds(no_way.error().message));
}

TEST_CASE("a folder in the place of TASK.md hides no death: it is moved aside, and the other copy counts") {
    RunnerWorld world;
    const auto id = planning(world);
    world.kill_agent(id, Role::worker, 7);
    const auto file = world.house().world().tasks.folder(world.record(id)) / "TASK.md";
    const auto before = read_file(file);
    std::filesystem::remove(file);
    std::filesystem::create_directory(file);
    write_file(file / "x", "in the way");
    notice(world, id, Role::worker);
    CHECK(world.record(id).task.crash_count() == 1);
    CHECK(world.record(id).runs.empty());
    CHECK(std::filesystem::is_regular_file(file));
    CHECK(read_file(file.string() + ".found/x") == "in the way");
    CHECK_THAT(read_file(file), Holds(before.substr(before.rfind("---"))));
}

TEST_CASE("a death in the middle of a transition waits until that is finished") {
    RunnerWorld world;
    const auto id = planning(world);
    world.kill_agent(id, Role::worker, 1);
    set(world, id, [](TaskRecord& record) {
        record.intent = Intent{};
        record.intent->id = "tx-1";
        record.intent->from = record.intent->to = "planning";
    });
    notice(world, id, Role::worker);
    CHECK(world.record(id).run_of(Role::worker));
    CHECK(world.record(id).task.crash_count() == 0);
    world.house().go(world.house().runner().recovery.resume(id));
    notice(world, id, Role::worker);
    CHECK(world.record(id).task.crash_count() == 1);
}

TEST_CASE("what cannot be written down is asked for again, and then it is") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto with_full_disk = [&](const std::function<void()>& what) {
        world.outside.fuse.arm(fakes::Fuse::Ending::disk_full_for_good, 1);
        what();
        world.outside.fuse.disarm();
    };
    SECTION("a dialog") {
        write_file(world.home() / "harnesses/shy.yml",
                   "name: shy\nprogram: true\nargv:\n  full: [--, \"{prompt}\"]\nscreen:\n  waiting: [\"Really?\"]\n");
        set(world, id, [](TaskRecord& record) { record.runs.front().harness = "shy"; });
        world.outside.tmux.screens[world.record(id).runs.front().pane_id] = "Really?";
        const auto look = [&] { world.house().go(world.house().runner().activities.update(id)); };
        with_full_disk(look);
        CHECK(attention(world, id) == "none");
        look();
        CHECK_THAT(attention(world, id), Tells("orange task attach " + id.value));
    }
    SECTION("a message that waits for long") {
        world.outside.tmux_faults.arm(fakes::TmuxFault::does_not_answer, 2);
        world.house().go(world.house().runner().outbox.send(id, Role::worker, "hello")).value();
        world.house().world().settings.message_patience = {};
        const auto deliver = [&] {
            world.outside.tmux_faults.arm(fakes::TmuxFault::does_not_answer, 2);
            CHECK_FALSE(orange::test::deliver(world, id));
        };
        with_full_disk(deliver);
        CHECK(attention(world, id) == "none");
        deliver();
        CHECK_THAT(attention(world, id), Tells("orange task attach " + id.value));
    }
    SECTION("an agent's wish") {
        world.append_body(id, "\n## Plan\nAPPROACH: straight on\n");
        world.move(id, "working").value();
        world.move(id, "stuck").value();
        set(world, id, [](TaskRecord& record) { engine::clear_all(record); });
        const auto wish = [&] { CHECK_FALSE(world.move(id, "reviewing", Role::worker)); };
        with_full_disk(wish);
        CHECK(attention(world, id) == "none");
        wish();
        CHECK_THAT(attention(world, id), Tells("orange task update " + id.value));
    }
    SECTION("a death whose workflow is lost") {
        set(world, id, [](TaskRecord& record) {
            record.task.workflow = "lost";
            record.task.workflow_hash = "0123456789abcdef";
        });
        world.kill_agent(id, Role::worker, 1);
        const auto look = [&] { notice(world, id, Role::worker); };
        with_full_disk(look);
        CHECK(world.record(id).run_of(Role::worker));
        look();
        CHECK_THAT(attention(world, id), Tells("worker"));
    }
    SECTION("the death of somebody who is not waited for") {
        world.move(id, "clarification").value();
        world.kill_agent(id, Role::worker, 1);
        const auto look = [&] { notice(world, id, Role::worker); };
        with_full_disk(look);
        REQUIRE(world.record(id).run_of(Role::worker));
        look();
        CHECK(world.record(id).runs.empty());
    }
}

TEST_CASE("a folder in the place of TASK.md stops nobody, and its human is told") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto file = world.house().world().tasks.folder(world.record(id)) / "TASK.md";
    std::filesystem::remove(file);
    std::filesystem::create_directory(file);
    write_file(file / "x", "in the way");
    CHECK(world.house().go(world.house().runner().transitions.explain(id)));
    CHECK(std::filesystem::is_regular_file(file));
    CHECK_THAT(attention(world, id), Holds("TASK.md.found"));
    CHECK(world.events(id, "task_file.moved").size() == 1);
    world.append_body(id, "\n## Questions\n- Lemons?\n");
    CHECK(world.move(id, "clarification", Role::worker));
}

TEST_CASE("a line from somebody who still had the replaced file open comes in by itself") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto mirror = world.house().world().pool.path_of("shop--1") / "TASK.md";
    std::ofstream writer(mirror, std::ios::app);
    async::spawn(world.house().io.get_executor(), "late writer", writes_late(writer));
    Edit edit;
    edit.summary = "another";
    REQUIRE(
        world.house().go(world.house().runner().requests.edit(id, edit, Caller{})));  // and all that follows from it
    CHECK_FALSE(writer.is_open());
    CHECK_THAT(world.task_text(id), Holds("late\n"));
    CHECK_THAT(read_file(mirror), Holds("late\n"));
}

TEST_CASE("a death that could not be written down is not told, and told once when it can be") {
    RunnerWorld world;
    const auto id = planning(world);
    another_server(world);
    world.keep();
    for (int n = 1;; ++n) {
        INFO("operation " << n);
        world.back();
        world.outside.fuse.arm(fakes::Fuse::Ending::disk_full_once, n);
        notice(world, id, Role::worker);
        const bool struck = world.outside.fuse.struck();
        world.outside.fuse.disarm();
        const bool known = world.record(id).runs.empty();
        if (!known) {
            CHECK(world.events(id, "session.lost").empty());
            notice(world, id, Role::worker);
            CHECK(world.events(id, "session.lost").size() == 1);
        }
        CHECK(world.record(id).runs.empty());
        if (!struck) break;
    }
}

TEST_CASE("an end that Orange or tmux brought about is settled although TASK.md cannot be read") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto tree = world.house().world().pool.path_of("shop--1");
    std::filesystem::remove(tree / "TASK.md");
    std::filesystem::create_directory(tree / "TASK.md");
    SECTION("ended by Orange") {
        set(world, id, [](TaskRecord& record) { record.runs.front().ending = true; });
        dies(world, id, Role::worker);
        CHECK(world.events(id, "agent.exited").size() == 1);
    }
    SECTION("gone with its tmux server") {
        another_server(world);
        notice(world, id, Role::worker);
        CHECK(world.events(id, "session.lost").size() == 1);
        CHECK_THAT(attention(world, id), Tells("tmux") && Tells("worker"));
    }
    CHECK(world.record(id).runs.empty());
    CHECK(world.record(id).task.crash_count() == 0);
}

TEST_CASE("while its workflow cannot be read nothing is concluded from a death, and it counts once when it can") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto hash = world.house().world().workflows.pin("default").value();
    set(world, id, [&](TaskRecord& record) { record.task.workflow_hash = hash; });
    const auto file = world.home() / "workflows/.pinned" / (hash + ".yml");
    std::filesystem::rename(file, file.string() + ".kept");
    std::filesystem::create_directory(file);
    world.boot();
    dies(world, id, Role::worker, 7);
    REQUIRE(world.record(id).run_of(Role::worker));
    CHECK_THAT(attention(world, id), Tells("worker") && Tells("workflow"));
    std::filesystem::remove(file);
    std::filesystem::rename(file.string() + ".kept", file);
    notice(world, id, Role::worker);
    CHECK(world.record(id).task.crash_count() == 1);
    CHECK(world.record(id).runs.empty());
}
