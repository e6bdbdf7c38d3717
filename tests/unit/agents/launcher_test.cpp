#include "daemon/agents/launcher.hpp"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/process/proc_info.hpp"
#include "daemon/shim/spec.hpp"
#include "tests/catch.hpp"
#include "tests/fakes/fake_tmux.hpp"
#include "tests/fakes/memory_file_system.hpp"
#include "tests/support/os_fixture.hpp"

extern char** environ;

using namespace orange;
using namespace orange::agents;
using namespace std::chrono_literals;

namespace {

/// Fake processes, and real ones for what is done with signals.
class RealExits final : public ExitWatcher {
  public:
    Awaitable<Result<void>> wait(std::int64_t, std::int64_t) override { co_return Result<void>{}; }
    Result<std::int64_t> start_time(std::int64_t pid) override { return process::look_up_start_time(pid); }
};

struct LauncherWorld {
    fakes::MemoryFileSystem files;
    fakes::FakeProcesses processes;
    fakes::FakeTmux tmux{processes};
    fakes::FakeExitWatcher exits{processes};
    SystemClock clock;
    Launcher launcher{
        files, tmux, exits, clock, "/bin/orange-agent", [this](std::int64_t pid) { return processes.argv_of(pid); }};
    asio::io_context io;
    const Path folder = "/tasks/run";
    const Path spec = folder / "RUN123456789.json";

    StartRequest request() {
        StartRequest request;
        request.run.run = RunId{"RUN123456789"};
        request.run.window_name = "worker";
        request.task = TaskId{"task"};
        request.project = "shop";
        request.argv = {"/usr/bin/bot", "--", "do it"};
        request.env = {{"KEY", "value"}};
        request.worktree = "/work/shop--1";
        request.session = "shop/fix";
        return request;
    }
    template <class T>
    T go(Awaitable<T> coroutine) {
        return test::run(io, std::move(coroutine));
    }
    AgentRun started() { return go(launcher.start(request(), folder)).value().run; }
    Result<bool> end(const AgentRun& run) { return go(launcher.end(run, "/tasks/logs/worker.log")); }
};

}  // namespace

TEST_CASE("a start writes the whole spec before tmux is asked for a window") {
    LauncherWorld world;
    std::string seen;
    world.tmux.before = [&] { seen = world.files.files[world.spec]; };
    const auto run = world.started();
    const auto spec = spec_from_text(seen).value();
    CHECK(spec.argv == std::vector<std::string>{"/usr/bin/bot", "--", "do it"});
    CHECK(spec.env.at("KEY") == "value");
    CHECK(spec.cwd == "/work/shop--1");
    REQUIRE(world.tmux.state.opened.size() == 1);
    CHECK(world.tmux.state.opened[0].argv == std::vector<std::string>{"/bin/orange-agent", world.spec.string()});
    CHECK(run.server_pid == world.tmux.state.server_pid);
    CHECK(run.server_start == world.tmux.state.server_start);
    CHECK(run.start_time == world.exits.start_time(run.pid).value());
    CHECK(world.launcher.liveness(run) == Liveness::alive);
}

TEST_CASE("a session whose name is taken gets the next number") {
    LauncherWorld world;
    const auto first = world.started();
    const auto second = world.started();
    CHECK(first.session_id != second.session_id);
    const auto state = world.go(world.tmux.list()).value();
    REQUIRE(state.panes.size() == 2);
    CHECK(state.panes[1].session_name == "shop/fix-2");
}

TEST_CASE("a window that cannot be opened leaves no spec behind") {
    LauncherWorld world;
    world.tmux.open_fails = Error(ErrorCode::unavailable, "no server");
    const auto started = world.go(world.launcher.start(world.request(), world.folder));
    REQUIRE_FALSE(started);
    CHECK(started.error().code == ErrorCode::unavailable);
    CHECK(world.files.files.empty());
}

TEST_CASE("a spec that cannot be written opens no window") {
    LauncherWorld world;
    world.files.failures[world.spec] = Error(ErrorCode::io, "full");
    CHECK_FALSE(world.go(world.launcher.start(world.request(), world.folder)));
    CHECK(world.tmux.state.opened.empty());
}

TEST_CASE("an end saves what the window shows and kills that window alone") {
    LauncherWorld world;
    const auto run = world.started();
    const auto other = world.started();
    world.tmux.screens[run.pane_id] = "last words\n";
    REQUIRE(world.end(run));
    CHECK(world.files.files["/tasks/logs/worker.log"] == "last words\n");
    CHECK(world.tmux.state.killed == std::vector<std::string>{run.window_id});
    CHECK(world.launcher.liveness(run) == Liveness::dead);
    CHECK(world.launcher.liveness(other) == Liveness::alive);
    CHECK(world.end(run));
}

TEST_CASE("a window of another tmux server is not touched") {
    LauncherWorld world;
    auto run = world.started();
    world.processes.alive.erase(run.pid);
    world.tmux.state.server_pid += 1;
    REQUIRE(world.end(run));
    world.go(world.launcher.reap(run, world.folder, "/tasks/logs/worker.log", {}));
    CHECK(world.tmux.state.killed.empty());
    CHECK_FALSE(world.files.files.contains("/tasks/logs/worker.log"));
}

TEST_CASE("a server that was given the old one's pid, as after a reboot, is another server") {
    LauncherWorld world;
    auto run = world.started();
    world.processes.alive.erase(run.pid);
    world.tmux.state.server_start += 1;
    REQUIRE(world.end(run));
    world.go(world.launcher.reap(run, world.folder, "/tasks/logs/worker.log", {}));
    CHECK(world.tmux.state.killed.empty());
    run.server_start = 0;  // of a record that does not have it: the pid alone counts
    REQUIRE(world.end(run));
    CHECK(world.tmux.state.killed == std::vector<std::string>{run.window_id});
}

TEST_CASE("a run's server is told from a later process by its start time, or by its child, the shim") {
    LauncherWorld world;
    auto run = world.started();
    CHECK_FALSE(world.launcher.server_start(run));  // no process has that number
    world.processes.alive[run.server_pid].start_time = run.server_start;
    CHECK(world.launcher.server_start(run) == run.server_start);
    world.processes.alive[run.server_pid].start_time += 1;
    CHECK_FALSE(world.launcher.server_start(run));
    run.server_start = 0;
    CHECK_FALSE(world.launcher.server_start(run));  // nothing says that this is the one

    RealExits real;
    const Launcher launcher(world.files, world.tmux, real, world.clock, "/bin/orange-agent");
    run.server_pid = ::getppid();  // this test is the shim
    run.pid = ::getpid();
    run.start_time = process::start_time(run.pid).value();
    CHECK(launcher.server_start(run) == process::start_time(run.server_pid));
    run.start_time += 1;
    CHECK_FALSE(launcher.server_start(run));
}

TEST_CASE("a kill that tmux refuses is told, and the agent not taken for ended") {
    LauncherWorld world;
    const auto run = world.started();
    world.tmux.kill_fails = Error(ErrorCode::timeout, "tmux does not answer");
    const auto ended = world.end(run);
    REQUIRE_FALSE(ended);
    CHECK(ended.error().code == ErrorCode::timeout);
}

TEST_CASE("an end says whether the window is closed, and the reap closes one that is not") {
    LauncherWorld world;
    auto run = world.started();
    world.tmux.list_fails = Error(ErrorCode::timeout, "tmux does not answer");
    world.processes.alive.erase(run.pid);
    CHECK_FALSE(world.end(run).value());
    CHECK(world.tmux.state.killed.empty());
    world.tmux.list_fails.reset();
    world.go(world.launcher.reap(run, world.folder, "/tasks/logs/worker.log", {}));
    CHECK(world.tmux.state.killed == std::vector<std::string>{run.window_id});
    CHECK(world.end(world.started()).value());
}

TEST_CASE("a process that outlives its window is waited for, then killed") {
    LauncherWorld world;
    RealExits real;
    Launcher launcher(world.files, world.tmux, real, world.clock, "/bin/orange-agent");
    launcher.set_patience(100ms);
    std::string program = "sleep", time = "600";
    char* argv[] = {program.data(), time.data(), nullptr};
    pid_t pid = 0;
    REQUIRE(::posix_spawnp(&pid, "sleep", nullptr, nullptr, argv, environ) == 0);
    AgentRun run = world.started();
    run.pid = pid;
    run.start_time = process::start_time(pid).value();
    REQUIRE(world.go(launcher.end(run, "/tasks/logs/worker.log")));
    int status = 0;
    REQUIRE(::waitpid(pid, &status, 0) == pid);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGKILL);
}

TEST_CASE("a process that nothing ends is an error, not an end", "[slow]") {
    LauncherWorld world;
    world.launcher.set_patience(20ms);
    const auto run = world.started();
    world.tmux.kill_ends_processes = false;
    const auto ended = world.end(run);
    REQUIRE_FALSE(ended);
    CHECK(ended.error().code == ErrorCode::timeout);
}

TEST_CASE("a run whose start was cut off is found by its spec") {
    LauncherWorld world;
    const auto run = world.started();
    const auto adopted = world.go(world.launcher.adopt(world.request().run, world.folder)).value();
    CHECK(adopted.pid == run.pid);
    CHECK(adopted.window_id == run.window_id);
    CHECK(adopted.server_start == run.server_start);
    CHECK(adopted.start_time == run.start_time);
}

TEST_CASE("a run that never began is not found, and one that ended meanwhile is dead") {
    LauncherWorld world;
    const auto starting = world.request().run;
    CHECK(world.launcher.liveness(starting) == Liveness::starting);
    CHECK(world.go(world.launcher.adopt(starting, world.folder)).error().code == ErrorCode::not_found);
    world.files.files[Launcher::exit_file(world.folder, starting.run)] =
        "{\"run\": \"RUN123456789\", \"exit_status\": 3}";
    const auto ended = world.go(world.launcher.adopt(starting, world.folder)).value();
    CHECK(world.launcher.liveness(ended) == Liveness::dead);
    CHECK(world.go(world.launcher.reap(ended, world.folder, "/tasks/logs/x.log", {})).exit_status == 3);
}

TEST_CASE("a run that ended while nobody looked is found by its dead window, which is closed with it") {
    LauncherWorld world;
    const auto run = world.started();
    const auto other = world.started();
    world.processes.alive.clear();
    world.tmux.state.panes.back().command = "-bin-orange-agent--tasks-run-another.json";
    const auto adopted = world.go(world.launcher.adopt(world.request().run, world.folder)).value();
    CHECK(adopted.window_id == run.window_id);
    CHECK(adopted.server_pid == run.server_pid);
    CHECK(world.launcher.liveness(adopted) == Liveness::dead);
    world.go(world.launcher.reap(adopted, world.folder, "/tasks/logs/worker.log", {}));
    REQUIRE(world.tmux.state.panes.size() == 1);
    CHECK(world.tmux.state.panes.front().ref.window_id == other.window_id);
}

TEST_CASE("while tmux does not answer nothing is concluded about a start") {
    LauncherWorld world;
    world.tmux.list_fails = Error(ErrorCode::timeout, "no answer");
    CHECK(world.go(world.launcher.adopt(world.request().run, world.folder)).error().code == ErrorCode::unavailable);
}

TEST_CASE("a pid that was given to another process is not the agent") {
    LauncherWorld world;
    const auto run = world.started();
    world.processes.alive[run.pid].start_time += 1;
    CHECK(world.launcher.liveness(run) == Liveness::dead);
}

TEST_CASE("a burial removes the spec, which holds the environment") {
    LauncherWorld world;
    const auto run = world.started();
    world.processes.alive.erase(run.pid);
    const auto end = world.go(world.launcher.reap(run, world.folder, "/tasks/logs/worker.log", {}));
    CHECK(end.exit_status == -1);
    CHECK_FALSE(world.files.files.contains(world.spec));
}

namespace {

/// A run that ended, and the folder of its control group as the kernel has it while a process is in it.
struct GroupWorld : LauncherWorld {
    GroupWorld() {
        launcher.look_for_groups_in(groups.path);
        run = started();
        processes.alive.erase(run.pid);
        test::write_file(group / "cgroup.events", "populated 1\n");
        test::write_file(group / "cgroup.kill", "");
        test::write_file(group / "memory.max", "4096\n");
        test::write_file(group / "memory.events", "oom 1\noom_kill 2\n");
    }
    RunEnd reap() { return go(launcher.reap(run, folder, "/tasks/logs/worker.log", {})); }

    test::TempDir groups;
    const Path group = groups.path / "orange-run-RUN123456789.scope";
    AgentRun run;
};

/// A process that an agent has left, as far as its environment tells.
class LeftOver {
  public:
    LeftOver() {
        char program[] = "sleep", time[] = "604";
        char* argv[] = {program, time, nullptr};
        char variable[] = "ORANGE_RUN=RUN123456789";
        char* env[] = {variable, nullptr};
        REQUIRE(::posix_spawn(&pid_, (tests::tools() + "/sleep").c_str(), nullptr, nullptr, argv, env) == 0);
        REQUIRE(test::eventually([&] { return process::environ_of(pid_, "ORANGE_RUN").has_value(); }));
    }
    ~LeftOver() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    bool lives() const { return process::start_time(pid_).has_value(); }
    std::string shown() const { return "sleep 604 (" + std::to_string(pid_) + ")"; }

  private:
    pid_t pid_ = 0;
};

}  // namespace

TEST_CASE("a burial ends what is left in the run's control group, and a killed shim's at once") {
    GroupWorld world;
    SECTION("its shim has ended in order") {
        world.files.files[Launcher::exit_file(world.folder, world.run.run)] =
            R"({"run": "RUN123456789", "exit_status": 137, "signal": 9, "use": {"oom_kills": 1, "memory_peak": 7}})";
        const auto end = world.reap();
        CHECK(end.signal == 9);
        REQUIRE(end.use);
        CHECK(end.use->memory_peak == 7);
    }
    SECTION("its shim was killed") {
        const auto end = world.reap();
        REQUIRE(end.use);
        CHECK(end.use->oom_kills == 2);
    }
    CHECK(test::read_file(world.group / "cgroup.kill") == "1");
}

TEST_CASE("a burial tells a scope that was killed with its shim from a shim that was killed alone") {
    GroupWorld world;
    auto spec = spec_from_text(world.files.files.at(world.spec)).value();
    SECTION("all of the scope") {
        spec.scope = {"systemd-run"};
        world.files.files[world.spec] = spec_text(spec);
        std::filesystem::remove_all(world.group);
        CHECK(world.reap().scope_killed);
    }
    SECTION("something of the scope still runs") {
        spec.scope = {"systemd-run"};
        world.files.files[world.spec] = spec_text(spec);
        CHECK_FALSE(world.reap().scope_killed);
    }
    SECTION("it had no scope") {
        std::filesystem::remove_all(world.group);
        CHECK_FALSE(world.reap().scope_killed);
    }
    SECTION("its shim has ended in order") {
        spec.scope = {"systemd-run"};
        world.files.files[world.spec] = spec_text(spec);
        std::filesystem::remove_all(world.group);
        world.files.files[Launcher::exit_file(world.folder, world.run.run)] =
            R"({"run": "RUN123456789", "exit_status": 137, "signal": 9})";
        CHECK_FALSE(world.reap().scope_killed);
    }
}

TEST_CASE("a group without processes, and those of other runs, are left alone") {
    GroupWorld world;
    const auto other = world.groups.path / "orange-run-ANOTHER12345.scope";
    std::filesystem::copy(world.group, other);
    test::write_file(world.group / "cgroup.events", "populated 0\n");
    world.files.files[Launcher::exit_file(world.folder, world.run.run)] =
        R"({"run": "RUN123456789", "exit_status": 0})";
    world.reap();
    CHECK(test::read_file(world.group / "cgroup.kill").empty());
    CHECK(test::read_file(other / "cgroup.kill").empty());
}

TEST_CASE("without a control group, what an agent left is named and lives on") {
    LauncherWorld world;
    const auto run = world.started();
    world.processes.alive.erase(run.pid);
    world.files.files[Launcher::exit_file(world.folder, run.run)] = R"({"run": "RUN123456789", "exit_status": 0})";
    const LeftOver process;
    CHECK(world.go(world.launcher.reap(run, world.folder, "/tasks/logs/worker.log", {})).left == process.shown());
    CHECK(process.lives());
}

TEST_CASE("a run is held to its limit only if the kernel says so") {
    GroupWorld world;
    world.run.memory_limit = 4096;
    CHECK(world.launcher.is_limited(world.run));
    world.run.memory_limit = 8192;
    CHECK_FALSE(world.launcher.is_limited(world.run));
    std::filesystem::remove_all(world.group);
    CHECK_FALSE(world.launcher.is_limited(world.run));
    CHECK_FALSE(world.launcher.use_of(world.run));
}

TEST_CASE("a run is held to its limit of processes by its group, or by an executor that has words for it") {
    GroupWorld world;
    const auto is_held = [&] { return world.launcher.has_processes_limited(world.run, world.folder); };
    test::write_file(world.group / "pids.max", "512\n");
    CHECK_FALSE(is_held());
    world.run.processes_limit = 512;
    CHECK(is_held());
    CHECK(world.run.own_processes_limit() == 512);
    world.run.processes_limit = 513;
    CHECK_FALSE(is_held());
    world.run.place = RunPlace{.executor = "box", .stop = {}, .probe = {}, .queued = {}};
    CHECK_FALSE(is_held());
    world.run.place->limits_processes = true;
    CHECK(is_held());
    CHECK(world.run.own_processes_limit() == 0);
}

TEST_CASE("the shim on the far side is found by its command line alone") {
    LauncherWorld world;
    const auto folder = Launcher::inner_folder(world.folder, RunId{"RUN123456789"});
    const auto spec = (folder / k_inner_spec).string();
    AgentRun run = world.request().run;
    const auto found = [&](std::vector<std::string> argv) {
        run.pid = world.processes.start(std::move(argv));
        return world.launcher.inner_shim_of(run, world.folder) == run.pid;
    };
    CHECK_FALSE(found({"orange-agent", k_inner_option, spec}));  // it has no executor
    run.place = RunPlace{.executor = "box", .stop = {}, .probe = {}, .queued = {}};
    CHECK(found({"orange-agent", k_inner_option, spec}));
    CHECK_FALSE(found({"bwrap", "--", "orange-agent", k_inner_option, spec}));
    CHECK_FALSE(found({"orange-agent", k_inner_option, "/other"}));
}

TEST_CASE("an agent that cannot be looked at is not dead, and what it began is not forgotten", "[slow]") {
    LauncherWorld world;
    const auto run = world.started();
    const auto starting = world.request().run;
    const Error full(ErrorCode::io, "no descriptor is left");
    world.exits.look_fails = full;
    CHECK(world.launcher.liveness(run) == Liveness::unknown);
    CHECK(may_live(Liveness::unknown));
    CHECK(world.go(world.launcher.adopt(starting, world.folder)).error().code == ErrorCode::unavailable);
    CHECK(world.files.files.contains(world.spec));
    world.launcher.set_patience(20ms);
    world.tmux.kill_ends_processes = false;
    CHECK(world.end(run).error().code == ErrorCode::timeout);
    world.exits.look_fails.reset();
    CHECK(world.launcher.liveness(run) == Liveness::alive);
}

TEST_CASE("a window whose process cannot be looked at counts as one that may have opened") {
    LauncherWorld world;
    world.exits.look_fails = Error(ErrorCode::io, "no descriptor is left");
    const auto started = world.go(world.launcher.start(world.request(), world.folder));
    REQUIRE_FALSE(started);
    CHECK(started.error().code == ErrorCode::timeout);
    world.exits.look_fails.reset();
    const auto adopted = world.go(world.launcher.adopt(world.request().run, world.folder)).value();
    CHECK(world.launcher.liveness(adopted) == Liveness::alive);
}

namespace {

/// A run in an executor whose shim in the window was killed.
struct PlacedWorld : LauncherWorld {
    PlacedWorld() {
        auto placed = request();
        placed.run.place = RunPlace{.executor = "box", .stop = {}, .probe = {}, .queued = {}};
        placed.around = {"box", "{inner}"};
        run = go(launcher.start(placed, folder)).value().run;
        processes.alive.erase(run.pid);
    }
    RunEnd reap() { return go(launcher.reap(run, folder, "/tasks/logs/worker.log", {})); }
    bool has_inner_files() {
        return std::ranges::any_of(
            files.files, [&](const auto& file) { return file.first.string().starts_with(inner.string() + "/"); });
    }

    const Path inner = Launcher::inner_folder(folder, RunId{"RUN123456789"});
    AgentRun run;
};

}  // namespace

TEST_CASE("a burial that is repeated tells the same end, although the folder of the far side is gone") {
    PlacedWorld world;
    const std::string begun = R"({"run": "RUN123456789", "started_at": "2026-11-20T10:00:00.000Z"})";
    int status = -1;
    bool not_started = false;
    SECTION("the agent had not begun") {
        not_started = true;
    }
    SECTION("the agent had begun") {
        world.files.files[world.inner / "started"] = begun;
    }
    SECTION("the agent had ended") {
        world.files.files[world.inner / "started"] = begun;
        world.files.files[world.inner / "exit"] = R"({"run": "RUN123456789", "exit_status": 3})";
        status = 3;
    }
    const auto first = world.reap();
    CHECK(first.not_started == not_started);
    CHECK(first.exit_status == status);
    CHECK(first.started_at == (not_started ? std::nullopt : from_rfc3339("2026-11-20T10:00:00.000Z")));
    CHECK_FALSE(world.has_inner_files());
    const auto second = world.reap();
    CHECK(second.not_started == not_started);
    CHECK(second.exit_status == status);
}

TEST_CASE("the folder of the far side stays until its facts are kept") {
    PlacedWorld world;
    world.files.files[world.inner / "started"] = R"({"run": "RUN123456789", "started_at": "2026-11-20T10:00:00.000Z"})";
    const auto kept = Launcher::exit_file(world.folder, world.run.run);
    world.files.failures[kept] = Error(ErrorCode::io, "full");
    CHECK_FALSE(world.reap().not_started);
    world.files.failures.clear();
    CHECK_FALSE(world.reap().not_started);
    CHECK_FALSE(world.has_inner_files());
}

TEST_CASE("the far side tells how its own run ended, and nothing that only this side can know") {
    PlacedWorld world;
    world.files.files[world.inner / "started"] = R"({"run": "other", "started_at": "2026-11-20T10:00:00.000Z"})";
    world.files.files[world.inner / "exit"] = R"({"run": "other", "exit_status": 4})";
    CHECK_FALSE(world.launcher.exit_of(world.folder, world.run));
    CHECK_FALSE(world.launcher.start_of(world.folder, world.run));
    world.files.files[world.inner / "exit"] =
        R"({"run": "RUN123456789", "exit_status": 137, "signal": 9, "use": {"oom_kills": 1}, "not_started": true})";
    const auto end = world.reap();
    CHECK(end.exit_status == 137);
    CHECK_FALSE(end.not_started);
    CHECK_FALSE(end.use);
}

TEST_CASE("the shim on the far side gets the limits, and that of processes only if its executor has no words for it") {
    LauncherWorld world;
    auto request = world.request();
    request.run.processes_limit = 512;
    request.run.disk_limit = 4096;
    request.run.place = RunPlace{.executor = "box", .stop = {}, .probe = {}, .queued = {}};
    request.around = {"box", "{inner}"};
    const auto inner = [&] {
        world.go(world.launcher.start(request, world.folder)).value();
        const auto file = Launcher::inner_folder(world.folder, request.run.run) / k_inner_spec;
        return spec_from_text(world.files.files.at(file)).value();
    };
    const auto own = inner();
    CHECK(own.processes_limit == 512);
    CHECK(own.disk_limit == 4096);
    CHECK(own.user_namespace == process::user_namespace_of(::getpid()));
    request.run.place->limits_processes = true;
    CHECK(inner().processes_limit == 0);
    CHECK(inner().disk_limit == 4096);
}

TEST_CASE("a start in an executor that fails leaves no folder for the far side") {
    LauncherWorld world;
    auto request = world.request();
    request.run.place = RunPlace{.executor = "box", .stop = {}, .probe = {}, .queued = {}};
    request.around = {"box", "{inner}"};
    world.files.failures[world.spec] = Error(ErrorCode::io, "full");
    CHECK_FALSE(world.go(world.launcher.start(request, world.folder)));
    CHECK(world.files.files.empty());
}
