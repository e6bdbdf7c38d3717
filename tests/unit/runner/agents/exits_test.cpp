#include <algorithm>
#include <fstream>

#include "common/model/json.hpp"
#include "daemon/async/async.hpp"
#include "daemon/runner/agents/outbox.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/shim/exit_record.hpp"
#include "daemon/shim/spec.hpp"
#include "tests/catch.hpp"
#include "tests/unit/runner/house.hpp"

/// What follows from the death of an agent, and from one that cannot be started: said, counted once, and with the way
/// out.
using namespace orange;
using namespace orange::test;

namespace {

TaskId under_review(RunnerWorld& world, const std::string& summary = "do it", int pool = 1) {
    const auto id = planning(world, summary, pool);
    world.append_body(id, "\n## Plan\nAPPROACH: straight on\n");
    world.move(id, "working").value();
    world.append_body(id, "\n## Handoff\nDONE: all of it\n");
    world.move(id, "agent-review").value();
    return id;
}

void notice(RunnerWorld& world, const TaskId& id, Role role) {
    const auto run = world.record(id).run_of(role)->run;
    world.house().go(world.house().runner().exits.agent_exited(id, run));
}

/// The ends of all of them are seen before the first one is dealt with.
void notice_at_once(RunnerWorld& world, const std::vector<TaskId>& ids, Role role) {
    auto& house = world.house();
    std::vector<std::optional<bool>> noticed(ids.size());
    const auto notice_it = [&](TaskId id, RunId run) -> Awaitable<bool> {
        co_await house.runner().exits.agent_exited(std::move(id), std::move(run));
        co_return true;
    };
    for (std::size_t n = 0; n < ids.size(); ++n) {
        house.begin(notice_it(ids[n], world.record(ids[n]).run_of(role)->run), noticed[n]);
    }
    house.go([&]() -> Awaitable<void> {
        while (!std::ranges::all_of(noticed, [](const auto& each) { return each.has_value(); })) {
            co_await async::sleep(std::chrono::milliseconds(5));
        }
    }());
}

void dies(RunnerWorld& world, const TaskId& id, Role role, int status = 1) {
    world.kill_agent(id, role, status);
    notice(world, id, role);
}

Result<Outcome> respawn(RunnerWorld& world, const TaskId& id) {
    return world.house().go(world.house().runner().respawns.respawn(id, Caller{}));
}

/// Somebody who has the file open, and takes his time.
Awaitable<void> writes_late(std::ofstream& writer) {
    const std::chrono::milliseconds while_open{400};
    co_await async::sleep(while_open);
    writer << "late\n";
    writer.close();
}

void set(RunnerWorld& world, const TaskId& id, const std::function<void(TaskRecord&)>& change) {
    auto record = world.record(id);
    change(record);
    world.house().world().tasks.save(record).value();
}

/// The tmux server has ended with everybody in it, and another one answers.
void another_server(RunnerWorld& world) {
    world.outside.processes.alive.clear();
    world.outside.tmux.state.panes.clear();
    world.outside.tmux.state.server_pid = 4711;
}

void server_lives(RunnerWorld& world, const TaskId& id) {
    const auto run = *world.record(id).run_of(Role::worker);
    world.outside.processes.alive[run.server_pid].start_time = run.server_start;
}

/// Of the program that was started for the role.
std::string first_argument(RunnerWorld& world, const TaskId& id, Role role) {
    const auto& record = world.record(id);
    const auto spec = world.house().control().run_folder(record) / (record.run_of(role)->run.value + ".json");
    return Json::parse(read_file(spec)).at("argv").at(1).get<std::string>();
}

}  // namespace

TEST_CASE("an agent that is alive, or was dealt with, is no death") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto before = world.state_text(id);
    notice(world, id, Role::worker);
    world.house().go(world.house().runner().exits.agent_exited(id, RunId{"another"}));
    CHECK(world.state_text(id) == before);
    CHECK(world.events(id, "agent.exited").empty());
}

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

TEST_CASE(
    "an agent whose program ends at once: its human is told the status, the time, its last lines and where all are") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto run = *world.record(id).run_of(Role::worker);
    world.outside.tmux.screens[run.pane_id] = "the cause\n1\n2\n3\n4\n\nLog in first\n";
    const auto text = [&] {
        for (const auto& notice : world.record(id).notices) {
            if (notice.kind == NoticeKind::agent_crashed) return notice.text;
        }
        return std::string();
    };
    SECTION("at once") {
        world.outside.clock.pass(std::chrono::milliseconds(1250));
        dies(world, id, Role::worker, 3);
        CHECK_THAT(text(), Holds("the cause / 1 / … / 4 / Log in first") && Tells("3") && Holds("1.2 s") &&
                               Tells("orange task log " + id.value));
    }
    SECTION("after a while") {
        world.outside.clock.pass(std::chrono::seconds(6));
        dies(world, id, Role::worker, 3);
        CHECK_THAT(text(), Tells("## Plan") && Holds("3 / 4 / Log in first") && !Holds("the cause"));
    }
    CHECK(world.record(id).task.crash_count() == 1);
}

TEST_CASE("an agent that ends at once leaves its workspace to others, unless somebody has written there") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto worktree = world.house().control().worktree_of(world.record(id));
    const auto ends_at_once = [&] {
        dies(world, id, Role::worker, 3);
        (void)world.house().go(world.house().runner().exits.failed_start(id));
    };
    const auto is_held = [&] { return world.record(id).task.workspace.has_value(); };
    SECTION("nobody has") {
        ends_at_once();
        CHECK_FALSE(is_held());
        CHECK(world.events(id, "workspace.released").size() == 1);
        const auto next = planning(world, "another");
        CHECK(world.record(next).task.workspace == "shop--1");
        CHECK_FALSE(respawn(world, id));
        world.move(next, "cancelled").value();
        REQUIRE(respawn(world, id));
        CHECK(world.record(id).task.workspace == "shop--1");
        ends_at_once();  // stuck, in which another agent is started
        CHECK(world.record(id).task.status == "stuck");
        CHECK(is_held());
        ends_at_once();
        CHECK_FALSE(is_held());
    }
    SECTION("a text in TASK.md is no reason to keep it, and stays") {
        world.append_body(id, "\n## Notes\nlater\n");
        ends_at_once();
        CHECK_FALSE(is_held());
        CHECK_THAT(world.task_text(id), Holds("## Notes\nlater"));
    }
    SECTION("a file") {
        write_file(worktree / "new.txt", "new\n");
        ends_at_once();
        CHECK(is_held());
    }
    SECTION("a commit") {
        world.git.commit(worktree, "new.txt", "new\n");
        ends_at_once();
        CHECK(is_held());
    }
    SECTION("it ends after the call that started it") {
        dies(world, id, Role::worker, 3);
        CHECK(is_held());
    }
}

TEST_CASE("a start of an agent that has ended already is told at once") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto failed_start = [&] { return world.house().go(world.house().runner().exits.failed_start(id)); };
    const auto before = world.state_text(id);
    CHECK(failed_start().empty());
    CHECK(world.state_text(id) == before);
    world.outside.tmux.screens[world.record(id).run_of(Role::worker)->pane_id] = "no such option\n";
    world.kill_agent(id, Role::worker, 3);
    CHECK_THAT(failed_start(), Holds("no such option"));
    CHECK(world.record(id).task.crash_count() == 1);
    CHECK_THAT(failed_start(), Holds("no such option"));
    CHECK(world.record(id).task.crash_count() == 1);
}

TEST_CASE("a start waits a moment for the end of an agent") {
    RunnerWorld world;
    const auto id = planning(world);
    std::string text;
    // It runs when the call has seen a living agent and sleeps.
    const auto end = [&]() -> Awaitable<void> {
        world.outside.tmux.screens[world.record(id).run_of(Role::worker)->pane_id] = "no such option\n";
        world.kill_agent(id, Role::worker, 3);
        co_return;
    };
    const auto start = [&]() -> Awaitable<void> {
        async::spawn(co_await asio::this_coro::executor, "end", end());
        text = co_await world.house().runner().exits.failed_start(id);
    };
    world.house().go(start());
    CHECK_THAT(text, Holds("no such option"));
}

TEST_CASE("a start waits for the shim of a program that has ended") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto run = *world.record(id).run_of(Role::worker);
    const auto folder = world.house().control().run_folder(world.record(id));
    const auto ended = 1'000'000'007;  // no process of this world
    write_file(agents::Launcher::begun_file(folder, run.run), std::to_string(ended) + "\n");
    std::string text;
    const auto end = [&]() -> Awaitable<void> {
        const std::chrono::milliseconds longer_than_a_first_moment(150);
        co_await async::sleep(longer_than_a_first_moment);
        world.outside.tmux.screens[run.pane_id] = "no such option\n";
        world.kill_agent(id, Role::worker, 3);
        world.house().runner().exits.look_at_start(id);
    };
    const auto start = [&]() -> Awaitable<void> {
        async::spawn(co_await asio::this_coro::executor, "end", end());
        text = co_await world.house().runner().exits.failed_start(id);
    };
    world.house().go(start());
    CHECK_THAT(text, Holds("no such option"));
    CHECK_FALSE(std::filesystem::exists(agents::Launcher::begun_file(folder, run.run)));
}

TEST_CASE("a task that is stuck after crashes says the last lines of the last one") {
    RunnerWorld world;
    const auto id = planning(world);
    for (const char* said : {"first words", "last words"}) {
        if (!world.record(id).run_of(Role::worker)) REQUIRE(respawn(world, id));
        world.outside.clock.pass(std::chrono::seconds(60));
        world.outside.tmux.screens[world.record(id).run_of(Role::worker)->pane_id] = said;
        dies(world, id, Role::worker, 3);
    }
    REQUIRE(world.record(id).task.status == "stuck");
    CHECK_THAT(world.record(id).moved_because, Holds("last words") && Tells("## Plan"));
    CHECK_THAT(std::get<std::string>(world.events(id, "agent.crashed").back().fields.at("reason")),
               Holds("last words"));
}

namespace {

/// The kernel has ended the role's agent, which had that much memory, and has counted as many ends in its group.
void dies_of_memory(RunnerWorld& world, const TaskId& id, Role role, const GroupUse& use) {
    const auto run = *world.record(id).run_of(role);
    ExitRecord record;
    record.run = run.run;
    record.exit_status = 137;
    record.signal = 9;
    record.use = use;
    write_file(agents::Launcher::exit_file(world.house().control().run_folder(world.record(id)), run.run),
               exit_record_text(record));
    world.outside.processes.alive.erase(run.pid);
    notice(world, id, role);
}

std::string text_of(RunnerWorld& world, const TaskId& id, NoticeKind kind) {
    const auto* found = engine::find_notice(world.record(id), kind);
    return found ? found->text : std::string();
}

}  // namespace

TEST_CASE("an agent that the kernel ended for its memory is one crash, told as that, and not started again") {
    RunnerWorld world;
    const auto id = under_review(world);
    GroupUse use;
    use.oom_kills = 1;
    use.memory_peak = std::int64_t{12} << 30;
    SECTION("by its limit") {
        use.memory_limit = std::int64_t{12} << 30;
        use.at_limit = 1;
        dies_of_memory(world, id, Role::reviewer, use);
        CHECK_THAT(text_of(world, id, NoticeKind::agent_crashed), Tells("12.0") && Tells("limits.memory"));
    }
    SECTION("because the machine had none left") {
        dies_of_memory(world, id, Role::reviewer, use);
        CHECK_THAT(text_of(world, id, NoticeKind::agent_crashed), Tells("12.0") && !Holds("limits.memory"));
    }
    CHECK(world.record(id).task.crash_count() == 1);
    CHECK_FALSE(world.record(id).run_of(Role::reviewer));
    CHECK(world.events(id, "agent.respawned").empty());
    CHECK(std::get<bool>(world.events(id, "agent.crashed").back().fields.at("out_of_memory")));
    REQUIRE(respawn(world, id));
    CHECK(world.house().control().alive(world.record(id), Role::reviewer));
}

TEST_CASE("an agent whose whole scope was killed is told as that, and not started again") {
    RunnerWorld world;
    const auto id = under_review(world);
    const auto run = *world.record(id).run_of(Role::reviewer);
    const auto file = agents::Launcher::spec_file(world.house().control().run_folder(world.record(id)), run.run);
    auto spec = read_spec(file).value();
    spec.scope = {"systemd-run"};
    write_file(file, spec_text(spec));
    world.outside.processes.alive.erase(run.pid);
    notice(world, id, Role::reviewer);
    CHECK_THAT(text_of(world, id, NoticeKind::agent_crashed), Tells("systemd-oomd") && Holds(run.run.value));
    CHECK(world.record(id).task.crash_count() == 1);
    CHECK_FALSE(world.record(id).run_of(Role::reviewer));
    REQUIRE(respawn(world, id));
}

TEST_CASE("an agent that is killed after the kernel had ended its compiler did not die of memory") {
    RunnerWorld world;
    const auto id = under_review(world);
    set(world, id, [](TaskRecord& record) { record.run_of(Role::reviewer)->oom_kills = 1; });
    GroupUse use;
    use.oom_kills = 1;
    dies_of_memory(world, id, Role::reviewer, use);
    CHECK(world.record(id).task.crash_count() == 1);
    CHECK(world.house().control().alive(world.record(id), Role::reviewer));
}

TEST_CASE("a compiler that the kernel ended is a note, once, and no crash") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto run = *world.record(id).run_of(Role::worker);
    const auto group = world.git.dir / "groups" / process::scope_of_run(run.run.value);
    world.house().world().launcher.look_for_groups_in(world.git.dir / "groups");
    const auto kills = [&](int count) {
        write_file(group / "memory.events", "oom_kill " + std::to_string(count) + "\n");
    };
    const auto look = [&] { world.house().go(world.house().runner().memory.update(id)); };
    write_file(group / "cgroup.events", "populated 1\n");
    kills(0);
    look();
    look();
    CHECK(text_of(world, id, NoticeKind::out_of_memory).empty());
    kills(2);
    look();  // it may be the agent itself, whose end is not known yet
    CHECK(text_of(world, id, NoticeKind::out_of_memory).empty());
    look();
    CHECK_FALSE(text_of(world, id, NoticeKind::out_of_memory).empty());
    CHECK(world.record(id).run_of(Role::worker)->oom_kills == 2);
    CHECK(world.record(id).task.crash_count() == 0);
    look();
    look();
    CHECK(world.events(id, "agent.out_of_memory").size() == 1);
}

TEST_CASE("an agent whose processes are as many as they may be is told once, and lives on") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto group =
        world.git.dir / "groups" / process::scope_of_run(world.record(id).run_of(Role::worker)->run.value);
    world.house().world().launcher.look_for_groups_in(world.git.dir / "groups");
    write_file(group / "cgroup.events", "populated 1\n");
    const auto look = [&] { world.house().go(world.house().runner().memory.update(id)); };
    write_file(group / "pids.events", "max 0\n");
    look();
    CHECK(text_of(world, id, NoticeKind::out_of_processes).empty());
    for (const auto* refused : {"max 3\n", "max 90000\n"}) {
        write_file(group / "pids.events", refused);
        look();
    }
    CHECK_FALSE(text_of(world, id, NoticeKind::out_of_processes).empty());
    CHECK(world.events(id, "agent.out_of_processes").size() == 1);
    CHECK(world.record(id).task.crash_count() == 0);
}

TEST_CASE("of an agent that died of memory itself nothing is remembered") {
    RunnerWorld world;
    const auto groups = world.git.dir / "groups";
    for (int n = 0; n < 3; ++n) {
        const auto id = planning(world, "task " + std::to_string(n), 3);
        world.house().world().launcher.look_for_groups_in(groups);
        const auto group = groups / process::scope_of_run(world.record(id).run_of(Role::worker)->run.value);
        write_file(group / "cgroup.events", "populated 1\n");
        write_file(group / "memory.events", "oom_kill 1\n");
        auto& memory = world.house().runner().memory;
        world.house().go(memory.update(id));
        CHECK(memory.awaited() == 1);
        set(world, id, [](TaskRecord& record) { record.runs.clear(); });
    }
}

TEST_CASE("a tmux server that took the agents along is told as that, and is no crash of the task") {
    RunnerWorld world;
    const auto id = planning(world);
    another_server(world);
    notice(world, id, Role::worker);
    CHECK(world.record(id).task.crash_count() == 0);
    CHECK_THAT(attention(world, id), Tells("orange task respawn " + id.value));
    CHECK(world.events(id, "session.lost").size() == 1);
    CHECK(world.events(id, "agent.exited").empty());
    CHECK_FALSE(world.record(id).task.tmux_session);
    REQUIRE(respawn(world, id));
    CHECK(attention(world, id) == "none");
}

TEST_CASE("a tmux server that is ending is waited for, whatever is seen of it first") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto run = *world.record(id).run_of(Role::worker);
    auto& outside = world.outside;
    server_lives(world, id);
    int looks = 0;
    SECTION("its agent is gone and its socket closed before its process is gone") {
        outside.tmux.state = {};
        outside.tmux.state.server_pid = outside.tmux.state.server_start = 0;
    }
    SECTION("it refuses whoever comes") {
        outside.tmux.list_fails = Error(ErrorCode::external_failed, "server exited unexpectedly");
    }
    SECTION("another one has its place already") {
        outside.tmux.state = {};
        outside.tmux.state.server_pid = 4711;
    }
    outside.tmux.looked = [&] {
        if (++looks == 3) outside.processes.alive.erase(run.server_pid);
    };
    dies(world, id, Role::worker, 129);
    CHECK(world.events(id, "session.lost").size() == 1);
    CHECK(world.events(id, "agent.exited").empty());
    CHECK(world.record(id).task.crash_count() == 0);
    CHECK(looks >= 3);
}

TEST_CASE("an agent that ends in a server that still answers afterwards has crashed, though the server ends next") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto run = *world.record(id).run_of(Role::worker);
    server_lives(world, id);
    world.outside.tmux.looked = [&] { world.outside.processes.alive.erase(run.server_pid); };
    dies(world, id, Role::worker, 129);
    CHECK(world.events(id, "session.lost").empty());
    CHECK(world.record(id).task.crash_count() == 1);
}

TEST_CASE("a death in a tmux server that runs, and that another one hides, is no lost session") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto run = *world.record(id).run_of(Role::worker);
    server_lives(world, id);
    world.outside.tmux.state.panes.clear();
    world.outside.tmux.state.server_pid = 4711;
    const std::chrono::milliseconds patience{20};
    world.house().world().launcher.set_patience(patience);
    dies(world, id, Role::worker, 4);
    CHECK(world.events(id, "session.lost").empty());
    CHECK(world.record(id).task.crash_count() == 1);
}

TEST_CASE("an agent that died is dead in every state, until one is started again or its workspace is given back") {
    RunnerWorld world;
    const auto worker_is_dead = [&](const TaskId& id) {
        return world.house().runner().respawns.is_dead(world.record(id), Role::worker);
    };
    SECTION("while a human looks") {
        const auto id = under_review(world);
        world.append_body(id, "\n## Review\nVerdict: PASS\n");
        world.move(id, "reviewing").value();
        CHECK_FALSE(worker_is_dead(id));
        dies(world, id, Role::worker, 0);
        CHECK(worker_is_dead(id));
        world.boot();
        CHECK(worker_is_dead(id));
        SECTION("started again") {
            REQUIRE(respawn(world, id));
        }
        SECTION("released") {
            world.move(id, "cancelled").value();
        }
        CHECK(world.record(id).died.empty());
        CHECK_FALSE(worker_is_dead(id));
    }
    SECTION("while its reviewer works") {
        const auto id = under_review(world);
        SECTION("killed") {
            dies(world, id, Role::worker, 137);
            CHECK(worker_is_dead(id));
            world.append_body(id, "\n## Review\nVerdict: FAIL\n");
            world.move(id, "working").value();
            CHECK(world.house().control().alive(world.record(id), Role::worker));
        }
        SECTION("it had done its part, and left") {
            dies(world, id, Role::worker, 0);
        }
        CHECK_FALSE(worker_is_dead(id));
    }
    SECTION("with its tmux server") {
        const auto id = under_review(world);
        world.append_body(id, "\n## Review\nVerdict: PASS\n");
        world.move(id, "reviewing").value();
        another_server(world);
        notice(world, id, Role::worker);
        CHECK(worker_is_dead(id));
    }
}

TEST_CASE("what Orange itself ends is never dead") {
    RunnerWorld world;
    const auto id = planning(world);
    set(world, id, [](TaskRecord& record) { record.runs.front().ending = true; });
    world.kill_agent(id, Role::worker, 129);
    CHECK_FALSE(world.house().runner().respawns.is_dead(world.record(id), Role::worker));
}

TEST_CASE("on a workflow whose states name no agent a dead one is dead too") {
    RunnerWorld world;
    std::filesystem::create_directories(world.home() / "workflows");
    std::filesystem::copy_file(std::filesystem::path(ORANGE_SOURCE_DIR) / "tests/data/workflows/default_003.yml",
                               world.home() / "workflows/default.yml");
    world.boot();
    const auto id = world.make_task();
    world.move(id, "working").value();
    dies(world, id, Role::worker);
    CHECK(world.record(id).task.crash_count() == 1);
    CHECK(world.house().runner().respawns.is_dead(world.record(id), Role::worker));
    REQUIRE(respawn(world, id));
    CHECK_FALSE(world.house().runner().respawns.is_dead(world.record(id), Role::worker));
    dies(world, id, Role::worker);
    CHECK(world.record(id).task.status == "stuck");
    CHECK(world.house().runner().respawns.is_dead(world.record(id), Role::worker));
    REQUIRE(respawn(world, id));
    CHECK_FALSE(world.house().runner().respawns.is_dead(world.record(id), Role::worker));
}

TEST_CASE("a workflow without exit rules tells its human that an agent has ended") {
    RunnerWorld world;
    const std::string agent = GENERATE("agent: worker, ", "");
    write_file(world.home() / "workflows/bare.yml",
               "name: bare\nversion: 1\nstates:\n  pending: {}\n  working: {" + agent +
                   "respawn_prompt: go}\n  done: {terminal: true}\n"
                   "transitions:\n  - from: pending\n    to: working\n    hooks:\n      - action: acquire_workspace\n"
                   "      - {action: spawn_agent, prompt: go, harness: task, permissions: full}\n"
                   "  - {from: working, to: done, by: [system, human], force: true}\nprompts: {go: Work.}\n");
    const auto id = world.make_task("do it", 1, "bare");
    world.move(id, "working").value();
    dies(world, id, Role::worker, GENERATE(0, 1));
    const auto record = world.record(id);
    REQUIRE(engine::find_notice(record, NoticeKind::agent_ended));
    const auto needs = needs_of(world.house().runner(), record);
    CHECK(needs.kind == Need::help);
    CHECK(needs.command == task_command("respawn", id.value));
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

TEST_CASE("a worker that has left its artifact moves the task on, and an advance that fails is told") {
    RunnerWorld world;
    const auto id = planning(world);
    world.append_body(id, "\n## Plan\nAPPROACH: straight on\nTOUCHING: all\n");
    SECTION("it moves on") {
        dies(world, id, Role::worker, 0);
        CHECK(world.record(id).task.status == "working");
        REQUIRE(world.events(id, "auto.advanced").size() == 1);
        CHECK_THAT(std::get<std::string>(world.events(id, "auto.advanced")[0].fields.at("reason")), Tells("## Plan"));
        CHECK(world.events(id, "agent.exited").size() == 1);
        CHECK(world.outside.processes.alive.size() == 1);
    }
    SECTION("its workspace was taken away") {
        set(world, id, [](TaskRecord& record) { record.task.workspace.reset(); });
        write_file(world.house().world().tasks.folder(world.record(id)) / "TASK.md",
                   world.task_text(id) + "\n## Plan\nAPPROACH: straight on\nTOUCHING: all\n");
        world.house().world().projects.remove("shop").value();
        dies(world, id, Role::worker, 0);
        CHECK(world.record(id).task.status == "planning");
        CHECK_THAT(attention(world, id), Tells("worker"));
        CHECK_THAT(attention(world, id), Tells("shop"));
    }
}

TEST_CASE("at the second crash the task is stuck, with the crash in its history") {
    RunnerWorld world;
    const auto id = planning(world);
    dies(world, id, Role::worker, 3);
    respawn(world, id).value();
    dies(world, id, Role::worker, 3);
    CHECK(world.record(id).task.status == "stuck");
    const auto crashes = world.events(id, "agent.crashed");
    REQUIRE(crashes.size() == 2);
    CHECK(crashes[1].fields.at("crash_count") == Scalar{std::int64_t{2}});
    CHECK(world.events(id, "agent.exited").size() == 2);
}

TEST_CASE("a verdict whose reviewer died asks for somebody who reads it") {
    RunnerWorld world;
    const auto id = under_review(world);
    world.append_body(id, "\n## Review\nVerdict: PASS\n");
    dies(world, id, Role::reviewer, 0);
    CHECK(world.record(id).task.status == "reviewing");
    CHECK_THAT(attention(world, id), Tells("reviewer"));
    CHECK(engine::find_notice(world.record(id), NoticeKind::unverified_review));
    CHECK(needs_of(world.house().runner(), world.record(id)).kind == Need::review);
    CHECK(world.events(id, "status.changed").back().fields.at("attested") == Scalar{false});
}

TEST_CASE("what is to be said of a review stays when an agent is stopped or started anew") {
    RunnerWorld world;
    const auto id = planning(world);
    auto record = world.record(id);
    engine::raise(record, {NoticeKind::unverified_review, "the review is not verified", "", "", Timestamp{}});
    engine::raise(record, {NoticeKind::merge_failed, "the merge failed", "", "", Timestamp{}});
    world.house().world().tasks.save(record).value();
    dies(world, id, Role::worker, 1);
    const auto stands = [&] {
        const auto& now = world.record(id);
        return engine::find_notice(now, NoticeKind::unverified_review) &&
               engine::find_notice(now, NoticeKind::merge_failed);
    };
    CHECK(engine::find_notice(world.record(id), NoticeKind::agent_crashed));
    CHECK(respawn(world, id));
    CHECK_FALSE(engine::find_notice(world.record(id), NoticeKind::agent_crashed));
    CHECK(stands());
    CHECK(world.house().go(world.house().runner().respawns.stop(id)));
    CHECK(stands());
}

TEST_CASE("who is not waited for may die without a word, and whom a human needs is asked for") {
    RunnerWorld world;
    const auto id = under_review(world);
    dies(world, id, Role::worker, 1);
    CHECK(attention(world, id) == "none");
    CHECK(world.record(id).task.status == "agent-review");
    CHECK(world.events(id, "agent.exited").size() == 1);

    const auto asking = world.make_task("", 2);
    auto project = *world.house().world().projects.find("shop");
    project.pool_size = 2;
    world.house().world().projects.put(project).value();
    world.move(asking, "clarification").value();
    dies(world, asking, Role::worker, 5);
    CHECK_THAT(attention(world, asking), Tells("worker") && Tells("5") && Tells("orange task respawn " + asking.value));
}

TEST_CASE("a reviewer that crashes is started again, and one that cannot be is asked for") {
    RunnerWorld world;
    const auto id = under_review(world);
    SECTION("it is started") {
        dies(world, id, Role::reviewer, 1);
        CHECK(world.house().control().alive(world.record(id), Role::reviewer));
        CHECK(attention(world, id) == "none");
        CHECK(world.events(id, "agent.respawned").size() == 1);
    }
    SECTION("tmux has no place for it") {
        world.kill_agent(id, Role::reviewer, 1);
        world.outside.tmux.open_fails = Error(ErrorCode::unavailable, "no place");
        notice(world, id, Role::reviewer);
        CHECK_THAT(attention(world, id), Tells("reviewer"));
        CHECK_THAT(attention(world, id), Holds("no place"));
        CHECK_FALSE(world.record(id).run_of(Role::reviewer));
    }
}

TEST_CASE("agents that die at once are each one crash, and each is started again, as if it had died alone") {
    RunnerWorld world;
    constexpr int k_tasks = 10;  // more than are dealt with at a time
    std::vector<TaskId> ids;
    for (int n = 0; n < k_tasks; ++n) ids.push_back(under_review(world, "task " + std::to_string(n), k_tasks));
    for (const auto& id : ids) world.kill_agent(id, Role::reviewer, 1);
    notice_at_once(world, ids, Role::reviewer);
    for (const auto& id : ids) {
        CHECK(world.house().control().alive(world.record(id), Role::reviewer));
        CHECK(world.record(id).task.crash_count() == 1);
        CHECK(world.events(id, "agent.crashed").size() == 1);
        CHECK(world.events(id, "agent.respawned").size() == 1);
        CHECK(attention(world, id) == "none");
    }
}

TEST_CASE("however many agents die at once, no window is listed, and all processes are looked at once or twice") {
    RunnerWorld world;
    constexpr int k_tasks = 20;
    std::vector<TaskId> ids;
    for (int n = 0; n < k_tasks; ++n) ids.push_back(planning(world, "task " + std::to_string(n), k_tasks));
    for (const auto& id : ids) world.kill_agent(id, Role::worker, 1);
    const auto& tmux = world.outside.tmux;
    const auto& launcher = world.house().world().launcher;
    const auto lists = tmux.asked_for_panes;
    const auto looks = launcher.looks_at_processes();
    notice_at_once(world, ids, Role::worker);
    CHECK(tmux.asked_for_panes == lists);
    CHECK(launcher.looks_at_processes() - looks <= 2);  // the first begins before the second asks
    for (const auto& id : ids) CHECK(world.events(id, "agent.crashed").size() == 1);
}

TEST_CASE("a crash looks at as many processes whether few agents run or many") {
    RunnerWorld world;
    const auto looks_for_crash = [&](int tasks) {
        TaskId last;
        for (int n = 0; n < tasks; ++n) last = under_review(world, "task " + random_id(6), 12);
        world.kill_agent(last, Role::reviewer, 1);
        const auto before = world.outside.exits.looks;
        notice(world, last, Role::reviewer);
        CHECK(world.events(last, "agent.crashed").size() == 1);
        return world.outside.exits.looks - before;
    };
    const auto among_few = looks_for_crash(3);
    CHECK(looks_for_crash(9) == among_few);
}

TEST_CASE("an agent is not started twice, nor for a state that has none") {
    RunnerWorld world;
    const auto id = world.make_task();
    const auto early = respawn(world, id);
    REQUIRE_FALSE(early);
    CHECK_THAT(early.error().message, Tells("orange task spawn"));
    world.move(id, "planning").value();
    const auto twice = respawn(world, id);
    REQUIRE_FALSE(twice);
    CHECK(twice.error().code == ErrorCode::conflict);
    CHECK_THAT(twice.error().message, Tells("orange task attach " + id.value));
    const auto spawned = world.house().go(world.house().runner().queue.spawn(id, Caller{}));
    REQUIRE_FALSE(spawned);
    CHECK(spawned.error().code == ErrorCode::illegal_transition);
    CHECK_THAT(spawned.error().message, Tells("planning") && Tells("orange task respawn"));
    CHECK(world.outside.processes.alive.size() == 1);
}

TEST_CASE("a respawn that comes after the daemon's own is no error") {
    RunnerWorld world;
    const auto id = under_review(world);
    world.kill_agent(id, Role::reviewer, 1);
    const auto run = world.record(id).run_of(Role::reviewer)->run;
    std::optional<Result<Outcome>> asked;
    std::optional<bool> noticed;
    auto& house = world.house();
    const auto notice_it = [&]() -> Awaitable<bool> {
        co_await house.runner().exits.agent_exited(id, run);
        co_return true;
    };
    house.begin(notice_it(), noticed);
    house.begin(house.runner().respawns.respawn(id, Caller{}), asked);
    house.go([&]() -> Awaitable<void> {
        while (!asked) co_await async::sleep(std::chrono::milliseconds(5));
    }());
    REQUIRE(*asked);
    CHECK(world.record(id).run_of(Role::reviewer));
    CHECK(world.events(id, "agent.respawned").size() == 1);
    const auto later = respawn(world, id);
    REQUIRE_FALSE(later);
    CHECK(later.error().code == ErrorCode::conflict);
}

TEST_CASE("a task without a workspace is respawned in one that it takes, if one is free") {
    RunnerWorld world;
    auto record = world.draft();
    record.task.status = "working";  // as one that was imported
    record.task.workspace.reset();
    record.imported = true;
    const auto id = record.task.id;
    world.house().world().tasks.create(record, "## Plan\nAPPROACH: straight on\n").value();
    SECTION("one is free") {
        REQUIRE(respawn(world, id));
        CHECK(world.record(id).task.workspace == "shop--1");
        CHECK(world.house().control().alive(world.record(id), Role::worker));
        CHECK(world.events(id, "workspace.acquired").size() == 1);
        CHECK_THAT(read_file(world.house().world().pool.path_of("shop--1") / "TASK.md"),
                   Holds("APPROACH: straight on"));
    }
    SECTION("none is free") {
        const auto other = planning(world, "other", 1);
        const auto full = respawn(world, id);
        REQUIRE_FALSE(full);
        CHECK(full.error().code == ErrorCode::pool_exhausted);
        CHECK_THAT(full.error().message, Tells("--pool-size"));
        CHECK_FALSE(world.record(id).task.workspace);
    }
}

TEST_CASE("the crash that makes a task stuck says how its agent ended") {
    RunnerWorld world;
    const auto id = planning(world);
    dies(world, id, Role::worker, 3);
    REQUIRE(respawn(world, id));
    dies(world, id, Role::worker, 4);
    CHECK(world.record(id).task.status == "stuck");
    const auto crashes = world.events(id, "agent.crashed");
    REQUIRE(crashes.size() == 2);
    CHECK(crashes[0].fields.at("exit_status") == Scalar{std::int64_t{3}});
    CHECK(crashes[1].fields.at("exit_status") == Scalar{std::int64_t{4}});
}

TEST_CASE("a dead window that no run has the ids of goes when its task ends") {
    RunnerWorld world;
    const auto id = planning(world);
    dies(world, id, Role::worker);
    auto& tmux = world.outside.tmux.state;
    WindowSpec spec;
    spec.session = "shop/left";
    spec.window = "worker";
    const auto left = [&](const std::string& file) {
        spec.argv = {"/bin/orange-agent", file};
        const auto pane = world.house().go(world.outside.tmux.open(spec)).value();
        world.outside.processes.alive.erase(pane.pid);
        spec.session += "x";
        return pane.window_id;
    };
    const auto own = left("/home/tasks/shop/" + id.value + "/run/forgotten.json");
    const auto other = left("/home/tasks/shop/another/run/forgotten.json");
    world.move(id, "cancelled").value();
    REQUIRE(tmux.panes.size() == 1);
    CHECK(tmux.panes.front().ref.window_id == other);
    CHECK(std::find(tmux.killed.begin(), tmux.killed.end(), own) != tmux.killed.end());
}

TEST_CASE("an agent that cannot be started is refused with what is missing, and nobody is in the record") {
    RunnerWorld world;
    write_file(
        world.home() / "harnesses/ghost.yml",
        "name: ghost\nprogram: no-such-program\nargv:\n  full: [--, \"{prompt}\"]\ninstall_hint: call somebody\n");
    write_file(world.home() / "harnesses/mute.yml",
               "name: mute\nprogram: no-such-program\nargv:\n  full: [--, \"{prompt}\"]\n");
    write_file(world.home() / "harnesses/careful.yml",
               "name: careful\nprogram: true\nargv:\n  full: [--, \"{prompt}\"]\nroot_needs: NOT_SET_ANYWHERE\n");
    const auto id = planning(world);
    dies(world, id, Role::worker);
    const auto tree = world.house().world().pool.path_of("shop--1");
    const auto refused = [&](const std::string& fact, const std::string& hint = "") {
        const auto result = respawn(world, id);
        REQUIRE_FALSE(result);
        INFO(result.error().message);
        CHECK_THAT(result.error().message, Tells(fact) && Holds(hint));
        CHECK(world.record(id).runs.empty());
        CHECK(world.outside.processes.alive.empty());
    };
    SECTION("not installed") {
        set(world, id, [](TaskRecord& record) { record.task.harness = "ghost"; });
        refused("ghost", "call somebody");
        set(world, id, [](TaskRecord& record) { record.task.harness = "mute"; });
        const auto result = respawn(world, id);
        REQUIRE_FALSE(result);
        CHECK_THAT(result.error().message, Tells("mute"));
    }
    SECTION("unknown") {
        set(world, id, [](TaskRecord& record) { record.task.harness = "nobody"; });
        refused("nobody");
    }
    SECTION("an effort that it does not have") {
        set(world, id, [](TaskRecord& record) { record.task.effort = "high"; });
        refused("bot");
    }
    SECTION("a workspace that is gone, and cannot be made anew") {
        std::filesystem::remove_all(tree);
        world.git.plain(world.repo(), {"checkout", "-q", "--ignore-other-worktrees", world.record(id).task.branch});
        refused(world.repo());
    }
    SECTION("another folder in its place") {
        std::filesystem::rename(tree, tree.string() + ".away");
        std::filesystem::create_directory(tree);
        refused("orange workspace gc");
        CHECK(std::filesystem::is_empty(tree));
    }
    SECTION("a worktree that git does not know any more") {
        std::filesystem::remove_all(Path(world.repo()) / ".git/worktrees/shop--1");
        refused("orange workspace gc");
    }
    SECTION("no project") {
        world.house().world().projects.remove("shop").value();
        refused("shop");
    }
    SECTION("a repository without its default branch") {
        auto project = *world.house().world().projects.find("shop");
        project.default_branch = "gone";
        project.path = (world.programs() / "gone").string();
        world.house().world().projects.put(project).value();
        refused(project.path);
    }
    if (::geteuid() == 0) {
        SECTION("root, and nobody has said that this is a sandbox") {
            set(world, id, [](TaskRecord& record) { record.task.harness = "careful"; });
            refused("NOT_SET_ANYWHERE");
        }
    }
}

TEST_CASE("a task whose worktree was deleted gets it again with its agent") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto tree = world.house().world().pool.path_of("shop--1");
    const auto work = world.git.commit(tree, "work", "done\n");
    dies(world, id, Role::worker);
    std::filesystem::remove_all(tree);
    const auto again = respawn(world, id);
    INFO((again ? std::string() : again.error().message));
    REQUIRE(again);
    CHECK_THAT(again->notes.front(), Tells("shop--1"));
    CHECK(world.git.ref(tree.string(), "HEAD") == work);
    CHECK(std::filesystem::exists(tree / "TASK.md"));
    CHECK(world.record(id).run_of(Role::worker));
    CHECK_FALSE(world.record(id).task.attention);
}

TEST_CASE("a prompt that is too long for an argument travels as a file") {
    RunnerWorld world;
    const auto id = world.make_task("do it");
    set(world, id, [](TaskRecord& record) { record.task.summary = std::string(130'000, 'x'); });
    world.move(id, "planning").value();
    const auto folder = world.house().control().run_folder(world.record(id));
    std::string file;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().filename().string().starts_with("prompt-")) file = entry.path().string();
    }
    REQUIRE_FALSE(file.empty());
    CHECK_THAT(read_file(file), Holds(std::string(130'000, 'x')));
    const auto run = world.record(id).run_of(Role::worker)->run;
    const auto spec = read_file(folder / (run.value + ".json"));
    CHECK_THAT(spec, Tells(file));
    CHECK(spec.size() < 100'000);
}

TEST_CASE("a workflow that names no permissions gives workers all of them and reviewers fewer") {
    RunnerWorld world;
    write_file(
        world.home() / "harnesses/two.yml",
        "name: two\nprogram: true\nargv:\n  full: [all, --, \"{prompt}\"]\n  reduced: [few, --, \"{prompt}\"]\n");
    write_file(world.home() / "workflows/plain.yml", R"(name: plain
version: 1
states:
  pending: {}
  working: {agent: worker, respawn_prompt: work}
  checking: {agent: reviewer, respawn_prompt: check}
  done: {terminal: true}
prompts: {work: Work., check: Check.}
transitions:
  - {from: pending, to: working, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: work}]}
  - {from: working, to: checking, hooks: [{action: spawn_reviewer, prompt: check}]}
  - {from: checking, to: done}
)");
    const auto id = world.make_task("do it", 1, "plain");
    set(world, id, [](TaskRecord& record) { record.task.harness = record.task.review_harness = "two"; });
    world.move(id, "working").value();
    CHECK(first_argument(world, id, Role::worker) == "all");
    world.move(id, "checking").value();
    CHECK(first_argument(world, id, Role::reviewer) == "few");
}

TEST_CASE("an agent that was to be ended, and was not, is ended before another of its role is started") {
    RunnerWorld world;
    const auto id = planning(world);
    world.outside.tmux.kill_fails = Error(ErrorCode::timeout, "tmux does not answer");
    world.outside.tmux.kill_ends_processes = false;
    const auto old = *world.record(id).run_of(Role::worker);
    const auto cancelled = world.move(id, "cancelled");
    REQUIRE(cancelled);
    CHECK_THAT(attention(world, id), Holds("tmux does not answer"));
    REQUIRE(world.record(id).run_of(Role::worker));
    CHECK(world.record(id).run_of(Role::worker)->ending);
    world.outside.tmux.kill_fails.reset();
    world.outside.tmux.kill_ends_processes = true;
    const auto project = *world.house().world().projects.find("shop");
    const auto freed = world.house().go(world.house().runner().workspaces.collect(project));
    REQUIRE(freed);
    REQUIRE(freed->size() == 1);
    CHECK_THAT(freed->front(), Tells("shop--1") && Tells(id.value));
    CHECK(world.outside.processes.alive.empty());
    CHECK(world.record(id).runs.empty());
    CHECK(attention(world, id) == "none");
}

TEST_CASE("a start of which nobody knows whether it happened is not repeated until tmux says") {
    RunnerWorld world;
    const auto id = planning(world);
    set(world, id, [](TaskRecord& record) { record.run_of(Role::worker)->pid = 0; });
    world.outside.tmux.list_fails = Error(ErrorCode::timeout, "tmux does not answer");
    const auto unsure = respawn(world, id);
    REQUIRE_FALSE(unsure);
    CHECK(unsure.error().code == ErrorCode::unavailable);
    CHECK_THAT(unsure.error().message, Tells("worker"));
    CHECK(world.record(id).runs.size() == 1);
    world.outside.tmux.list_fails.reset();
    world.house().go(world.house().runner().recovery.resume(id));
    CHECK(world.house().control().alive(world.record(id), Role::worker));
    CHECK(world.outside.processes.alive.size() == 1);
}

TEST_CASE("an agent that is being ended is ended for good before another of its role is started") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto old = world.record(id).run_of(Role::worker)->pid;
    set(world, id, [](TaskRecord& record) { record.run_of(Role::worker)->ending = true; });
    SECTION("it is") {
        REQUIRE(respawn(world, id));
        CHECK_FALSE(world.outside.processes.alive.contains(old));
        CHECK(world.outside.processes.alive.size() == 1);
    }
    SECTION("it cannot be") {
        world.outside.tmux.kill_fails = Error(ErrorCode::timeout, "tmux does not answer");
        CHECK(respawn(world, id).error().code == ErrorCode::timeout);
        CHECK(world.outside.processes.alive.size() == 1);
        CHECK(world.record(id).runs.size() == 1);
    }
}

TEST_CASE("what Orange had to say to an agent ends with it, and a human's words wait for the next one") {
    RunnerWorld world;
    const auto id = planning(world);
    auto record = world.record(id);
    auto& control = world.house().control();
    for (const Role from : {Role::system, Role::human}) {
        REQUIRE(queue_message(world.house().world(), world.house().runner().turns, record, Role::worker, from,
                              "to the worker"));
        REQUIRE(queue_message(world.house().world(), world.house().runner().turns, record, Role::reviewer, from,
                              "to the reviewer"));
    }
    REQUIRE(world.house().go(control.end(record, Role::worker)));
    std::string left;
    for (const auto& message : world.record(id).outbox) left += message.text + "\n";
    CHECK_THAT(left, !Holds("[orange] to the worker."));
    CHECK_THAT(left, Holds("[orange] The human says: to the worker."));
    CHECK_THAT(left, Holds("[orange] to the reviewer."));
    auto again = world.record(id);
    REQUIRE(queue_message(world.house().world(), world.house().runner().turns, again, Role::worker, Role::system,
                          "to the next worker"));
    REQUIRE(respawn(world, id));  // its prompt says what there is to say
    for (const auto& message : world.record(id).outbox) CHECK_THAT(message.text, !Holds("to the next worker"));
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

TEST_CASE("a tmux that does not answer, or a run without a server, makes no death a lost session") {
    RunnerWorld world;
    const auto id = planning(world);
    SECTION("no answer") {
        world.outside.tmux.list_fails = Error(ErrorCode::timeout, "tmux does not answer");
        server_lives(world, id);
        const std::chrono::milliseconds patience{20};
        world.house().world().launcher.set_patience(patience);
        dies(world, id, Role::worker, 4);
    }
    SECTION("no server") {
        set(world, id, [](TaskRecord& record) { record.run_of(Role::worker)->server_pid = 0; });
        dies(world, id, Role::worker, 4);
    }
    CHECK(world.record(id).task.crash_count() == 1);
    CHECK(world.events(id, "session.lost").empty());
}

TEST_CASE("why a program could not even be started is in the history") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto run = *world.record(id).run_of(Role::worker);
    world.kill_agent(id, Role::worker, 127);
    write_file(agents::Launcher::exit_file(world.house().control().run_folder(world.record(id)), run.run),
               "{\"run\": \"" + run.run.value + "\", \"exit_status\": 127, \"error\": \"no such file\"}\n");
    notice(world, id, Role::worker);
    CHECK(world.events(id, "agent.exited").at(0).fields.at("error") == Scalar{std::string("no such file")});
}

TEST_CASE("a death in a state that needs nobody, or that was told of already, asks for nothing more") {
    RunnerWorld world;
    const auto id = under_review(world);
    world.append_body(id, "\n## Review\nVerdict: PASS\n");
    world.move(id, "reviewing").value();
    dies(world, id, Role::worker, 1);
    CHECK(attention(world, id) == "none");
    const auto asking = world.make_task("", 2);
    auto project = *world.house().world().projects.find("shop");
    project.pool_size = 2;
    world.house().world().projects.put(project).value();
    world.move(asking, "clarification").value();
    set(world, asking, [](TaskRecord& record) { look_at(record, "look here first"); });
    dies(world, asking, Role::worker, 1);
    CHECK(engine::find_notice(world.record(asking), NoticeKind::hook_failed));
    CHECK(world.record(asking).runs.empty());
}

TEST_CASE("a start that failed is forgotten when a respawn brings the agent, however long its reason was") {
    RunnerWorld world;
    const auto id = planning(world);
    world.append_body(id, "\n## Plan\nAPPROACH: straight on\n");
    world.move(id, "working").value();
    world.append_body(id, "\n## Handoff\nDONE: all of it\n");
    write_file(world.home() / "harnesses/late.yml",
               "name: late\nprogram: /nonexistent/late\ninstall: npm install -g late\nargv:\n"
               "  full: [--, \"{prompt}\"]\n");
    set(world, id, [](TaskRecord& record) { record.task.review_harness = "late"; });
    CHECK_FALSE(world.move(id, "agent-review").value().spawn_error.empty());
    const auto* failed = engine::find_notice(world.record(id), NoticeKind::start_failed);
    REQUIRE(failed);
    CHECK_THAT(failed->text, Holds("npm install -g late"));
    CHECK(failed->command == "orange task respawn " + id.value);
    set(world, id, [](TaskRecord& record) { record.task.review_harness = "bot"; });
    respawn(world, id).value();
    CHECK(world.house().control().alive(world.record(id), Role::reviewer));
    CHECK(world.record(id).notices.empty());
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

TEST_CASE("a respawn first finishes the transition that was interrupted") {
    RunnerWorld world;
    const auto id = planning(world);
    set(world, id, [](TaskRecord& record) {
        Intent intent;
        intent.id = "interrupted";
        intent.from = "pending";
        intent.to = "planning";
        record.intent = intent;
    });
    world.kill_agent(id, Role::worker, 1);
    const auto told = world.events(id, "status.changed").size();
    REQUIRE(respawn(world, id));
    CHECK_FALSE(world.record(id).intent);
    CHECK(world.events(id, "status.changed").size() == told + 1);
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

TEST_CASE("instructions for an agent that lives need its project, and what cannot be told is said") {
    RunnerWorld world;
    const auto id = planning(world);
    world.append_body(id, "\n## Plan\nAPPROACH: straight on\n");
    world.house().world().projects.remove("shop").value();
    CHECK(
        world.house().control().environment(world.record(id), {}, Role::worker, RunId{"run"}).contains("ORANGE_TASK"));
    const auto definition = world.house().runner().turns.definition_of(world.record(id).task).value();
    auto record = world.record(id);
    SpawnOrder order;
    order.prompt = "planning";
    order.intent = "tx";
    const auto told = world.house().go(world.house().control().spawn(record, *definition, order));
    REQUIRE_FALSE(told);
    CHECK(told.error().code == ErrorCode::not_found);
}

namespace {

RunPlace in_box() {
    RunPlace place;
    place.executor = "box";
    return place;
}

/// A worker in an executor, which has not begun yet as far as is known.
struct PlacedWorld : RunnerWorld {
    PlacedWorld() : id(planning(*this)) {
        change([](AgentRun& run) { run.place = in_box(); });
    }
    void change(const std::function<void(AgentRun&)>& what) {
        set(*this, id, [&](TaskRecord& record) { what(record.runs.at(0)); });
    }
    /// Its shim is killed: there is no exit record.
    void is_killed() {
        outside.processes.alive.erase(record(id).run_of(Role::worker)->pid);
        notice(*this, id, Role::worker);
    }
    const Notice* find(NoticeKind kind) { return engine::find_notice(record(id), kind); }

    const TaskId id;
};

}  // namespace

TEST_CASE("a start that its executor does not finish is undone with its conversation") {
    PlacedWorld world;
    set(world, world.id, [](TaskRecord& record) { record.sessions = {{Role::worker, "demo", "abc", "/w"}}; });
    SECTION("it was to begin a conversation") {
        world.is_killed();
        CHECK(world.record(world.id).sessions.empty());
    }
    SECTION("it was to continue one") {
        world.change([](AgentRun& run) { run.resumed = true; });
        world.is_killed();
        CHECK(world.record(world.id).sessions.size() == 1);
    }
    CHECK(world.find(NoticeKind::start_failed));
    CHECK(world.record(world.id).task.crash_count() == 0);
}

TEST_CASE("an agent that has begun is no failed start, whatever is left of its folder") {
    PlacedWorld world;
    world.change([&](AgentRun& run) { run.place->started_at = run.spawned_at; });
    world.is_killed();
    CHECK_FALSE(world.find(NoticeKind::start_failed));
    CHECK(world.record(world.id).task.crash_count() == 1);
}

TEST_CASE("the age of an agent counts from its begin, also if only the far side has noted it") {
    PlacedWorld world;
    world.outside.clock.pass(std::chrono::hours(2));
    const auto run = *world.record(world.id).run_of(Role::worker);
    const auto folder = world.house().control().run_folder(world.record(world.id));
    const auto began = to_rfc3339(world.outside.clock.now());
    write_file(agents::Launcher::inner_folder(folder, run.run) / k_inner_started,
               R"({"run": ")" + run.run.value + R"(", "started_at": ")" + began + "\"}\n");
    dies(world, world.id, Role::worker, 1);
    CHECK_THAT(attention(world, world.id), Tells("orange task log " + world.id.value));
}

TEST_CASE("an executor is stopped in the environment of the project") {
    PlacedWorld world;
    world.change([](AgentRun& run) { run.place->stop = {"sh", "-c", "test \"$CLUSTER\" = yes"}; });
    SECTION("which names its cluster") {
        auto project = *world.house().world().projects.find("shop");
        project.env["CLUSTER"] = "yes";
        world.house().world().projects.put(project).value();
        world.is_killed();
        CHECK(world.record(world.id).left.empty());
    }
    SECTION("which does not") {
        world.is_killed();
        CHECK(world.record(world.id).left.size() == 1);
    }
}

TEST_CASE("a start that the executor refuses leaves no file of its prompt") {
    RunnerWorld world;
    const auto id = world.make_task("do it");
    write_file(world.home() / "executors/box.yml", "name: box\nrun: [no-such-program, \"{inner}\"]\n");
    auto& executors = world.house().world().executors;
    const auto hash = executors.pin(executors.find("box").value()).value();
    set(world, id, [&](TaskRecord& record) {
        record.task.summary = std::string(130'000, 'x');
        record.task.executor = "box";
        record.task.executor_hash = hash;
    });
    (void)world.move(id, "planning");
    CHECK(world.record(id).runs.empty());
    const auto files = world.house().world().files.list(world.house().control().run_folder(world.record(id)));
    CHECK(files.value().empty());
}
