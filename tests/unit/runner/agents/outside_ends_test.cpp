#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "daemon/process/proc_info.hpp"
#include "daemon/shim/exit_record.hpp"
#include "daemon/shim/spec.hpp"
#include "tests/catch.hpp"
#include "tests/support/advanced_time.hpp"
#include "tests/unit/runner/dying_agents.hpp"

/// Agents that the kernel, the tmux server or an executor has ended.
using namespace orange;
using namespace orange::test;

namespace {

void server_lives(RunnerWorld& world, const TaskId& id) {
    const auto run = *world.record(id).run_of(Role::worker);
    world.outside.processes.alive[run.server_pid].start_time = run.server_start;
}

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
        CHECK_THAT(text_of(world, id, NoticeKind::agent_crashed), Holds("12 GiB") && Tells("limits.memory"));
    }
    SECTION("because the machine had none left") {
        dies_of_memory(world, id, Role::reviewer, use);
        CHECK_THAT(text_of(world, id, NoticeKind::agent_crashed), Holds("12 GiB") && !Holds("limits.memory"));
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

TEST_CASE("in a box without a control group, an agent's processes and their threads are counted") {
    RunnerWorld world;
    const auto id = planning(world);
    constexpr int k_count = 20;
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    const pid_t shim = ::fork();
    if (shim == 0) {  // the box has another process besides it and its children
        for (int i = 0; i < k_count - 2 && ::fork() != 0; ++i) {
        }
        (void)!::write(ready[1], "x", 1);
        for (;;) ::pause();
    }
    const auto look = [&] { world.house().go(world.house().runner().memory.update(id)); };
    set(world, id, [&](TaskRecord& record) {
        auto& run = record.runs.at(0);
        const auto folder = agents::Launcher::inner_folder(world.house().control().run_folder(record), run.run);
        const std::string spec = folder / k_inner_spec;
        world.outside.processes.alive[shim] = {run.start_time, {"orange-agent", k_inner_option, spec}};
        run.pid = shim;
        run.place = in_box();
        run.place->limits_processes = true;
        run.processes_limit = k_count;
    });
    char each = 0;
    for (int i = 0; i < k_count - 1; ++i) REQUIRE(::read(ready[0], &each, 1) == 1);
    set(world, id, [](TaskRecord& record) { record.runs.at(0).processes_limit = k_count + 3; });
    look();
    CHECK(text_of(world, id, NoticeKind::out_of_processes).empty());
    set(world, id, [](TaskRecord& record) { record.runs.at(0).processes_limit = k_count + 2; });
    look();
    CHECK_FALSE(text_of(world, id, NoticeKind::out_of_processes).empty());
    look();
    CHECK(world.events(id, "agent.out_of_processes").size() == 1);
    const auto children = process::children_of(shim).value();
    for (const auto child : children) ::kill(static_cast<pid_t>(child), SIGKILL);
    ::kill(shim, SIGKILL);
    ::waitpid(shim, nullptr, 0);
    for (const int end : ready) ::close(end);
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

namespace {

using namespace std::chrono_literals;

/// A run that has ended in an executor whose controller is a folder: `runs` is what it shows, once, `down` makes it
/// fail; each try to end a run adds a line to `stops`, and fails with `refuse`.
struct LookedAfter : PlacedWorld {
    LookedAfter() {
        for (const char* name : {"runs", "stops", "failed"}) write_file(folder / name, "");
        const auto in_folder = "cd '" + folder.string() + "' && ";
        run.place->stop = {"sh", "-c", in_folder + "echo >>stops && test ! -e refuse"};
        run.place->probe = {"sh", "-c",
                            in_folder + "{ test ! -e down || { echo >>failed; exit 1; }; cat runs; : >runs; }"};
        run.place->over = {"COMPLETED"};
    }
    void ends(const std::string& name) {
        run.run = RunId{name};
        std::optional<bool> has_left;
        house().begin(leave(), has_left);
        wait_until([&] { return has_left.has_value(); });
        shown += "orange-" + name + " SPECIAL_EXIT n1\n";
    }
    Awaitable<bool> leave() {
        co_await house().runner().placements.leave(draft, run);
        co_return true;
    }
    /// The looks go on for ten minutes, so the daemon is not run to its end. The programs of the executor are real, and
    /// have 15 seconds of this time for each answer.
    void wait_until(const std::function<bool()>& holds) {
        for (int i = 0; i < 6000 && !holds(); ++i) {
            time.advance(100ms);
            house().io.restart();
            house().io.run_for(5ms);
        }
    }
    std::size_t lines_of(const char* name) { return read_file(folder / name).size(); }

    TestTime time;
    const std::filesystem::path folder = home() / "cluster";
    TaskRecord draft = record(id);
    AgentRun run = draft.runs.at(0);
    std::string shown;
};

}  // namespace

TEST_CASE("Runs that were ended are looked for with one question, also after their controller was down for long") {
    LookedAfter world;
    const auto returned = [&] { return world.events(world.id, "executor.returned").size(); };
    world.ends("one");
    world.ends("two");
    CHECK(world.draft.left.empty());
    write_file(world.folder / "down", "");
    world.time.advance(11min);
    world.wait_until([&] { return world.lines_of("failed") > 0; });
    write_file(world.folder / "runs", world.shown);  // the one answer has both
    std::filesystem::remove(world.folder / "down");
    world.wait_until([&] { return returned() == 2; });
    CHECK(returned() == 2);
}

TEST_CASE("A run of a deleted task that is back is told to end until that succeeds") {
    LookedAfter world;
    world.draft.task.id = TaskId{"aaaaaaaaaaaaaaaaaaaaa"};
    world.ends("one");
    write_file(world.folder / "refuse", "");
    for (std::size_t tries = 2; tries <= 3; ++tries) {
        write_file(world.folder / "runs", world.shown);
        world.wait_until([&] { return world.lines_of("stops") >= tries; });
        CHECK(world.lines_of("stops") >= tries);
        std::filesystem::remove(world.folder / "refuse");
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
