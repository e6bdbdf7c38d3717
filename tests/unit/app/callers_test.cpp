#include "daemon/app/callers.hpp"

#include <unistd.h>

#include <map>

#include "daemon/async/async.hpp"
#include "tests/catch.hpp"
#include "tests/unit/runner/house.hpp"

/// What the daemon knows of callers, looked up in what it has written down. What follows from it is
/// unit/agents/identity_test.cpp's, real processes are integration/identity_test.cpp's.
using namespace orange;
using namespace orange::test;
using agents::ProcessId;

namespace {

/// A peer (20) below an orange-agent (10), and a person in a terminal (30).
class BelowShim final : public agents::ProcessTable {
  public:
    agents::Claim says;
    std::optional<agents::ProcessEntry> entry(std::int64_t pid) override {
        if (pid == 1) return agents::ProcessEntry{0, 1, 5, 0, false};
        if (pid == 10) return agents::ProcessEntry{1, 10, 77, 0, true};
        if (pid == 30) return agents::ProcessEntry{1, 30, 99, 3, false};
        if (pid == 20) return agents::ProcessEntry{10, 10, 88, 0, false};
        return std::nullopt;
    }
    agents::Claim claim(std::int64_t pid) override { return pid == 20 ? says : agents::Claim{}; }
    std::string ssh_client(std::int64_t) override { return {}; }
    std::string ssh_agent(std::int64_t) override { return "/tmp/agent"; }
    std::string working_directory(std::int64_t) override { return "/"; }
    agents::Program program(std::int64_t) override { return {}; }
};

struct CallersWorld : RunnerWorld {
    CallersWorld() { id = make_task("do it", 2); }

    AgentRun run_with(Role role, std::int64_t pid, std::int64_t start_time) {
        AgentRun run;
        run.run = RunId{role == Role::worker ? "runworker000" : "runreviewer0"};
        run.role = role;
        run.pid = pid;
        run.start_time = start_time;
        run.server_pid = 4;
        run.server_start = 44;
        return run;
    }
    void save(std::vector<AgentRun> runs) {
        auto record = this->record(id);
        record.runs = std::move(runs);
        house().world().tasks.save(record).value();
    }
    Callers& callers() {
        auto& world = house().world();
        return made.emplace(table, world.tasks, world.pool, world.task_locks, [this] { return tmux_server; });
    }
    Caller identified() {
        rpc::Peer peer;
        peer.pid = 20;
        peer.start_time = 88;
        return house().go(callers().identify(peer));
    }

    TaskId id;
    BelowShim table;
    ProcessId tmux_server;
    std::optional<Callers> made;
};

/// What happens to the task while its agent already calls.
Awaitable<void> registers(CallersWorld& world, std::vector<AgentRun> runs) {
    const auto lock = co_await world.house().world().task_locks.acquire(world.id.value);
    const std::chrono::milliseconds moment{120};
    co_await async::sleep(moment);
    world.save(std::move(runs));
}

}  // namespace

TEST_CASE("a run is known by its shim's pid and start time, and by its session's number alone") {
    CallersWorld world;
    world.save({world.run_with(Role::worker, 10, 77), world.run_with(Role::reviewer, 11, 78)});
    auto& callers = world.callers();
    REQUIRE(callers.run_of_shim(ProcessId{10, 77}));
    CHECK(callers.run_of_shim(ProcessId{10, 77})->role == Role::worker);
    CHECK(callers.run_of_shim(ProcessId{11, 78})->role == Role::reviewer);
    CHECK(callers.run_of_shim(ProcessId{11, 78})->task == world.id);
    CHECK_FALSE(callers.run_of_shim(ProcessId{10, 99}));  // the pid was given to somebody else
    CHECK_FALSE(callers.run_of_shim(ProcessId{12, 77}));
    CHECK(callers.run_of_session(11)->run.value == "runreviewer0");
    CHECK_FALSE(callers.run_of_session(12));
    CHECK(callers.run_of_worker(world.id)->shim == ProcessId{10, 77});
    CHECK_FALSE(callers.run_of_worker(TaskId{"aaaaaaaaaaaaaaaaaaaaa"}));
    world.save({world.run_with(Role::reviewer, 11, 78)});
    CHECK_FALSE(callers.run_of_worker(world.id));
}

TEST_CASE("a run is starting as long as it has no process, for its own task and under its own name") {
    CallersWorld world;
    const RunId worker{"runworker000"};
    world.save({world.run_with(Role::worker, 0, 0)});
    auto& callers = world.callers();
    REQUIRE(callers.run_of(world.id, worker));
    CHECK(callers.run_of(world.id, worker)->shim == ProcessId{});
    CHECK_FALSE(callers.run_of(world.id, RunId{"another"}));
    CHECK_FALSE(callers.run_of(world.id, RunId{}));
    CHECK_FALSE(callers.run_of(TaskId{"aaaaaaaaaaaaaaaaaaaaa"}, worker));
    world.save({world.run_with(Role::worker, 10, 77)});
    CHECK(callers.run_of(world.id, worker)->shim == ProcessId{10, 77});
}

TEST_CASE("the ssh-agent of a person who calls is noted, and that of an agent is not") {
    CallersWorld world;
    world.save({world.run_with(Role::worker, 10, 77)});
    auto& callers = world.callers();
    std::vector<std::string> noted;
    callers.on_ssh_agent([&](const std::string& socket) { noted.push_back(socket); });
    rpc::Peer agent, person;
    agent.pid = 20, agent.start_time = 88;
    person.pid = 30, person.start_time = 99;
    CHECK(world.house().go(callers.identify(agent)).role == Role::worker);
    CHECK(noted.empty());
    CHECK(world.house().go(callers.identify(person)).role == Role::human);
    CHECK(noted == std::vector<std::string>{"/tmp/agent"});
}

TEST_CASE("Orange's tmux servers are the one that runs and those that its agents were started in") {
    CallersWorld world;
    auto& callers = world.callers();
    CHECK_FALSE(callers.is_tmux_server(ProcessId{0, 0}));
    CHECK_FALSE(callers.is_tmux_server(ProcessId{4, 44}));
    world.save({world.run_with(Role::worker, 10, 77)});
    CHECK(callers.is_tmux_server(ProcessId{4, 44}));
    CHECK_FALSE(callers.is_tmux_server(ProcessId{4, 45}));  // a later process with that pid
    world.tmux_server = {5, 55};
    CHECK(callers.is_tmux_server(ProcessId{5, 55}));
    CHECK_FALSE(callers.is_tmux_server(ProcessId{5, 56}));
    CHECK_FALSE(callers.is_tmux_server(ProcessId{6, 66}));
    CHECK(callers.is_daemon(::getpid()));
    CHECK_FALSE(callers.is_daemon(::getppid()));
}

TEST_CASE("a directory is a task's where it is in the worktree that the task has") {
    CallersWorld world;
    world.move(world.id, "planning").value();
    auto& callers = world.callers();
    const auto tree = world.house().world().pool.path_of("shop--1").string();
    CHECK(callers.task_at(tree) == world.id);
    CHECK(callers.task_at(tree + "/below/it") == world.id);
    CHECK_FALSE(callers.task_at(tree + "2"));
    CHECK_FALSE(callers.task_at(""));
    CHECK_FALSE(callers.task_at("/"));
    world.move(world.id, "cancelled").value();
    CHECK_FALSE(callers.task_at(tree));
}

TEST_CASE("an agent that calls while it is being started is known as soon as it is registered") {
    CallersWorld world;
    world.table.says = {world.id.value, "worker", "runworker000"};
    world.save({world.run_with(Role::worker, 0, 0)});
    async::spawn(world.house().io.get_executor(), "start", registers(world, {world.run_with(Role::worker, 10, 77)}));
    const auto caller = world.identified();
    CHECK(caller.role == Role::worker);
    CHECK(caller.task == world.id);
    CHECK(caller.run.value == "runworker000");
}

TEST_CASE("an agent whose start came to nothing is nobody, and nobody waits for it") {
    CallersWorld world;
    world.table.says = {world.id.value, "worker", "runworker000"};
    world.save({world.run_with(Role::worker, 0, 0)});
    async::spawn(world.house().io.get_executor(), "start", registers(world, {}));
    CHECK(world.identified().role == Role::unknown);
    const auto at_once = world.identified();
    CHECK(at_once.role == Role::unknown);
    CHECK_THAT(at_once.evidence, Holds("whose run is over, or never was"));
}
