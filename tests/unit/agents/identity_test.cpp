#include "daemon/agents/identity.hpp"

#include <map>
#include <utility>

#include "tests/catch.hpp"

using namespace orange;
using namespace orange::agents;

namespace {

const std::string k_asked = "aaaaaaaaaaaaaaaaaaaaa";
const std::string k_other = "bbbbbbbbbbbbbbbbbbbbb";

struct FakeProcess {
    ProcessEntry entry;
    Claim claim;
    std::string directory = "/home/me";
    Program program = {};
    std::string ssh_client = {};
    std::string ssh_agent = {};
};

class FakeProcessTable final : public ProcessTable {
  public:
    std::map<std::int64_t, FakeProcess> processes;
    std::int64_t gone_after_looks = -1;  ///< the peer's start time changes after so many looks at it
    std::int64_t peer = 0;
    int looks = 0;

    std::optional<ProcessEntry> entry(std::int64_t pid) override {
        ++looks;
        const auto found = processes.find(pid);
        if (found == processes.end()) return std::nullopt;
        auto entry = found->second.entry;
        if (pid == peer && gone_after_looks >= 0 && gone_after_looks-- == 0) entry.start_time += 1;
        return entry;
    }
    Claim claim(std::int64_t pid) override { return processes[pid].claim; }
    std::string ssh_client(std::int64_t pid) override { return processes[pid].ssh_client; }
    std::string ssh_agent(std::int64_t pid) override { return processes[pid].ssh_agent; }
    std::string working_directory(std::int64_t pid) override { return processes[pid].directory; }
    Program program(std::int64_t pid) override { return processes[pid].program; }
};

class FakeRegistry final : public Registry {
  public:
    std::map<std::int64_t, KnownRun> runs;
    std::map<std::string, std::string> starting;  ///< run → task
    std::int64_t tmux_server = 10;

    std::optional<KnownRun> run_of_shim(const ProcessId& shim) const override {
        const auto run = run_of_session(shim.pid);
        return run && run->shim == shim ? run : std::nullopt;
    }
    std::optional<KnownRun> run_of_session(std::int64_t pid) const override {
        const auto found = runs.find(pid);
        return found == runs.end() ? std::nullopt : std::optional(found->second);
    }
    std::optional<KnownRun> run_of_worker(const TaskId& task) const override {
        for (const auto& [pid, run] : runs) {
            if (run.task == task && run.role == Role::worker) return run;
        }
        return std::nullopt;
    }
    std::optional<KnownRun> run_of(const TaskId& task, const RunId& run) const override {
        for (const auto& [pid, known] : runs) {
            if (known.task == task && known.run == run) return known;
        }
        const auto found = starting.find(run.value);
        if (found == starting.end() || found->second != task.value) return std::nullopt;
        return KnownRun{task, Role::reviewer, run, {}};
    }
    bool is_tmux_server(const ProcessId& process) const override { return process.pid == tmux_server; }
    bool is_daemon(std::int64_t pid) const override { return pid == 60; }
    std::optional<TaskId> task_at(const std::string& directory) const override {
        const bool inside = directory == "/ws/a--1" || directory.starts_with("/ws/a--1/");
        return inside ? std::optional(TaskId{k_asked}) : std::nullopt;
    }
};

/// init(1) ← keeper(11) ← tmux server(10) ← worker's shim(20) ← agent(21), ← reviewer's shim(30) ← agent(31); a
/// person's terminal(40); shims that nobody started, below tmux(50) and elsewhere(51); the daemon(60).
class ProcessTree {
  public:
    ProcessTree() {
        add(1, 0, 1, 0);
        add(11, 1, 11, 0).entry.keeper = true;
        add(10, 11, 10, 0);
        add(20, 10, 20, 1020).entry.shim = true;
        add(21, 20, 20, 1020).claim = {k_asked, "worker", "runworker000"};
        add(30, 10, 30, 1030).entry.shim = true;
        add(31, 30, 30, 1030).claim = {k_asked, "reviewer", "runreviewer0"};
        add(40, 1, 40, 1040);
        add(50, 10, 50, 1050).entry.shim = true;
        add(51, 1, 51, 0).entry.shim = true;
        add(52, 1, 52, 0).entry.inner = true;
        add(60, 1, 60, 0);
        know(Role::worker, "runworker000", 20);
        know(Role::reviewer, "runreviewer0", 30);
    }
    FakeProcess& add(std::int64_t pid, std::int64_t parent, std::int64_t session, std::int64_t tty) {
        auto& process = table.processes[pid];
        process.entry = {parent, session, pid * 7, tty};
        return process;
    }
    void know(Role role, const std::string& id, std::int64_t pid) {
        registry.runs[pid] = {TaskId{k_asked}, role, RunId{id}, {pid, pid * 7}};
    }
    /// `socket`: the run whose socket it uses; empty: the daemon's.
    Caller caller(std::int64_t pid, const std::string& socket = {}) {
        auto evidence = collect_evidence(table, pid, 0, true);
        if (!socket.empty()) evidence.socket_task = TaskId{k_asked};
        evidence.socket_run = RunId{socket};
        return identify(evidence, registry);
    }

    FakeProcessTable table;
    FakeRegistry registry;
};

}  // namespace

TEST_CASE("a caller on another machine is the run that it has proved, without the reviewer's verdict, or nobody") {
    ProcessTree world;
    const auto from = [&](const std::string& run) {
        Evidence evidence;
        evidence.from = "10.0.0.7";
        evidence.socket_task = TaskId{k_asked};
        evidence.socket_run = RunId{run};
        return identify(evidence, world.registry);
    };
    const auto worker = from("runworker000");
    CHECK(worker.role == Role::worker);
    CHECK(worker.run.value == "runworker000");
    CHECK_THAT(worker.evidence, Tells("10.0.0.7"));
    CHECK(worker.through.empty());
    const auto reviewer = from("runreviewer0");
    CHECK(reviewer.role == Role::reviewer);
    CHECK_FALSE(reviewer.through.empty());
    CHECK(from("runendedlong").role == Role::unknown);
}

TEST_CASE("each way of calling is told apart") {
    ProcessTree world;
    const Claim worker = {k_asked, "worker", "runworker000"};
    const Claim none;
    struct Row {
        const char* how;
        std::int64_t parent, session, tty;
        Claim claim;
        const char* directory;
        Role role;
        const char* run;
        const char* evidence;
    };
    const Row rows[] = {
        {"worker, directly", 21, 20, 1020, worker, "/ws/a--1", Role::worker, "runworker000",
         "ancestor orange-agent 20"},
        {"worker, env -i setsid", 21, 99, 0, none, "/", Role::worker, "runworker000", "ancestor orange-agent 20"},
        {"worker, double fork under the subreaper", 20, 99, 0, none, "/", Role::worker, "runworker000", "ancestor"},
        {"worker that says it is a reviewer",
         21,
         20,
         1020,
         {k_asked, "reviewer", "runreviewer0"},
         "/",
         Role::worker,
         "runworker000",
         "ancestor"},
        {"worker that says it is human",
         21,
         20,
         1020,
         {k_asked, "human", ""},
         "/",
         Role::worker,
         "runworker000",
         "ancestor"},
        {"reviewer, directly", 31, 30, 1030, none, "/", Role::reviewer, "runreviewer0", "ancestor orange-agent 30"},
        {"orphan in the worker's session", 1, 20, 0, none, "/", Role::worker, "runworker000", "session 20"},
        {"orphan in the reviewer's session", 1, 30, 0, none, "/", Role::reviewer, "runreviewer0", "session 30"},
        {"orphan with only its environment", 1, 99, 0, worker, "/", Role::worker, "runworker000",
         "environment ORANGE_RUN"},
        {"orphan with the environment of its task's reviewer",
         1,
         99,
         0,
         {k_asked, "reviewer", "runreviewer0"},
         "/",
         Role::unknown,
         "",
         "not below the reviewer's"},
        {"claim of a reviewer without its run",
         1,
         99,
         0,
         {k_asked, "reviewer", ""},
         "/",
         Role::unknown,
         "",
         "not below the reviewer's"},
        {"claim of the task alone",
         1,
         99,
         0,
         {k_asked, "", ""},
         "/",
         Role::worker,
         "runworker000",
         "environment ORANGE_TASK"},
        {"claim to be human, with the task set",
         1,
         99,
         0,
         {k_asked, "human", ""},
         "/",
         Role::worker,
         "runworker000",
         "environment ORANGE_TASK"},
        {"survivor of an ended run",
         1,
         99,
         0,
         {k_other, "worker", "runold000000"},
         "/",
         Role::worker,
         "",
         "environment"},
        {"ORANGE_TASK with nonsense", 1, 99, 0, {"../x", "worker", ""}, "/", Role::unknown, "", "names no task"},
        {"tmux run-shell", 10, 99, 0, none, "/", Role::unknown, "", "Orange's tmux server"},
        {"tmux run-shell with the environment of a worker", 10, 99, 0, worker, "/", Role::unknown, "",
         "Orange's tmux server"},
        {"tmux run-shell with the environment of the reviewer",
         10,
         99,
         0,
         {k_asked, "reviewer", "runreviewer0"},
         "/",
         Role::unknown,
         "",
         "Orange's tmux server"},
        {"tmux run-shell in the worktree", 10, 99, 0, none, "/ws/a--1", Role::unknown, "", "Orange's tmux server"},
        {"below tmux, in the session of the reviewer", 10, 30, 1030, none, "/", Role::unknown, "",
         "Orange's tmux server"},
        {"an orange-agent of its own making, with the environment of the reviewer",
         50,
         50,
         1050,
         {k_asked, "reviewer", "runreviewer0"},
         "/",
         Role::unknown,
         "",
         "below an orange-agent"},
        {"the same, outside tmux, with the environment of a worker", 51, 51, 0, worker, "/", Role::unknown, "",
         "below an orange-agent"},
        {"the far side of an executor", 52, 52, 0, worker, "/", Role::unknown, "", "orange-agent --inner"},
        {"a new window of Orange's tmux", 10, 99, 1099, none, "/ws/a--1", Role::unknown, "", "Orange's tmux server"},
        {"an orphan of the tmux server", 11, 99, 0, none, "/", Role::unknown, "", "orphan of Orange's tmux server"},
        {"the same with the environment of a worker", 11, 99, 0, worker, "/", Role::unknown, "", "orphan of"},
        {"the same with a terminal, in the worktree", 11, 99, 1099, none, "/ws/a--1", Role::unknown, "", "orphan of"},
        {"an orphan in the worker's session, whose shim was killed", 11, 20, 0, none, "/", Role::worker, "runworker000",
         "session 20"},
        {"the same, where the daemon has started the tmux server", 60, 20, 0, none, "/", Role::worker, "runworker000",
         "session 20"},
        {"a script without terminal in a worktree", 1, 99, 0, none, "/ws/a--1/src", Role::worker, "",
         "directory /ws/a--1/src"},
        {"a filter that the daemon's git runs", 60, 99, 0, worker, "/ws/a--1", Role::unknown, "", "the daemon itself"},
        {"a script beside the worktree", 1, 99, 0, none, "/ws/a--10", Role::human, "", "no agent"},
        {"a person looking around in a worktree", 40, 40, 1040, none, "/ws/a--1", Role::human, "", "terminal"},
        {"a person", 40, 40, 1040, none, "/home/me", Role::human, "", "terminal"},
        {"cron", 1, 99, 0, none, "/", Role::human, "", "no agent among its ancestors"},
    };
    for (const auto& row : rows) {
        INFO(row.how);
        auto& process = world.add(500, row.parent, row.session, row.tty);
        process.claim = row.claim;
        process.directory = row.directory;
        const auto caller = world.caller(500);
        CHECK(name_of(caller.role) == name_of(row.role));
        CHECK(caller.run.value == row.run);
        CHECK_THAT(caller.evidence, Holds(row.evidence));
        CHECK(caller.pid == 500);
        CHECK(caller.task.empty() == (row.role == Role::human || row.role == Role::unknown));
    }
}

TEST_CASE("a run's socket grants no more than its run, and whoever is known to be another is refused there") {
    ProcessTree world;
    const Claim none;
    const Claim reviewer = {k_asked, "reviewer", "runreviewer0"};
    const std::string to_worker = "runworker000", to_reviewer = "runreviewer0", over = "runold000000";
    const std::string alone = "the run's socket, below no orange-agent";
    const std::string of_reviewer = "the socket of the reviewer of task " + k_asked;
    struct Row {
        const char* how;
        std::int64_t parent, session, tty;
        Claim claim;
        const char* directory;
        std::string socket;
        Role role;
        std::string run;
        std::string evidence;
        bool attested = true;
    };
    const Row rows[] = {
        {"worker, its own", 21, 20, 1020, none, "/", to_worker, Role::worker, to_worker, "ancestor orange-agent 20"},
        {"reviewer, its own", 31, 30, 1030, none, "/", to_reviewer, Role::reviewer, to_reviewer,
         "ancestor orange-agent 30"},
        {"worker, its reviewer's", 21, 20, 1020, reviewer, "/", to_reviewer, Role::unknown, "",
         of_reviewer + ", but is the worker of task " + k_asked + " (ancestor orange-agent 20)"},
        {"reviewer, its worker's", 31, 30, 1030, none, "/", to_worker, Role::unknown, "", "but is the reviewer"},
        {"orphan in the worker's session", 1, 20, 0, none, "/", to_worker, Role::worker, to_worker, "session 20"},
        {"orphan in the worker's session, the reviewer's", 1, 20, 0, none, "/", to_reviewer, Role::unknown, "",
         "but is the worker"},
        {"orphan in the reviewer's session", 1, 30, 0, none, "/", to_reviewer, Role::reviewer, to_reviewer,
         "session 30", false},
        {"tmux run-shell", 10, 99, 0, reviewer, "/", to_reviewer, Role::unknown, "", "Orange's tmux server"},
        {"an orphan of the tmux server", 11, 99, 0, reviewer, "/", to_reviewer, Role::unknown, "", "an orphan of"},
        {"below an orange-agent of its own making", 51, 51, 0, reviewer, "/", to_reviewer, Role::unknown, "",
         "below an orange-agent"},
        {"a filter that the daemon's git runs", 60, 99, 0, none, "/", to_worker, Role::unknown, "",
         "the daemon itself"},
        {"no trace, the worker's", 1, 99, 0, none, "/", to_worker, Role::worker, to_worker, alone},
        {"the far side of an executor, the worker's", 52, 52, 0, none, "/", to_worker, Role::worker, to_worker, alone},
        {"the far side of an executor, the reviewer's", 52, 52, 0, none, "/", to_reviewer, Role::reviewer, to_reviewer,
         alone, false},
        {"no trace, the reviewer's", 1, 99, 0, reviewer, "/", to_reviewer, Role::reviewer, to_reviewer, alone, false},
        {"no trace, the worker's, says reviewer", 1, 99, 0, reviewer, "/", to_worker, Role::worker, to_worker, alone},
        {"a script in the worktree, the worker's", 1, 99, 0, none, "/ws/a--1", to_worker, Role::worker, to_worker,
         alone},
        {"a person at a terminal, the worker's", 40, 40, 1040, none, "/home/me", to_worker, Role::worker, to_worker,
         alone},
        {"a person, of a run that has ended", 40, 40, 1040, none, "/home/me", over, Role::unknown, "",
         "a run that has ended"},
        {"worker, of a run that has ended", 21, 20, 1020, none, "/", over, Role::unknown, "", "a run that has ended"},
        {"its ancestry broken off", 404, 99, 0, reviewer, "/", to_reviewer, Role::unknown, "", "gone"},
    };
    for (const auto& row : rows) {
        INFO(row.how);
        auto& process = world.add(500, row.parent, row.session, row.tty);
        process.claim = row.claim;
        process.directory = row.directory;
        const auto caller = world.caller(500, row.socket);
        CHECK(name_of(caller.role) == name_of(row.role));
        CHECK(caller.run.value == row.run);
        CHECK_THAT(caller.evidence, Holds(row.evidence));
        CHECK(caller.through.empty() == row.attested);
        CHECK(caller.task.empty() == (row.role == Role::unknown));
    }
}

TEST_CASE("below the reviewer a run's socket hides no program in between") {
    ProcessTree world;
    world.table.processes[31].program = program_of("/usr/bin/claude", {}, "/");
    world.add(500, 31, 30, 1030).program = program_of("/usr/bin/make", {}, "/");
    world.add(501, 500, 30, 1030).program = program_of("/usr/bin/orange", {}, "/");
    const auto caller = world.caller(501, "runreviewer0");
    CHECK(caller.role == Role::reviewer);
    CHECK(caller.programs == "claude > make > orange");
    CHECK(caller.through == "make");
}

TEST_CASE("a run's socket is its run's from the start on") {
    ProcessTree world;
    world.registry.runs.erase(30);
    world.registry.starting["runreviewer0"] = k_asked;
    world.add(500, 1, 99, 0);
    CHECK(world.caller(500, "runreviewer0").role == Role::reviewer);
}

TEST_CASE("a human who came through ssh is told with the address, and an agent is not less an agent for it") {
    ProcessTree world;
    world.add(500, 40, 40, 1040).ssh_client = "192.0.2.7";
    world.add(501, 21, 20, 1020).ssh_client = "192.0.2.7";
    CHECK(world.caller(500).role == Role::human);
    CHECK(world.caller(500).evidence == "ssh from 192.0.2.7");
    CHECK(world.caller(501).role == Role::worker);
    CHECK_THAT(world.caller(501).evidence, Holds("ancestor orange-agent"));
}

TEST_CASE("an agent's programs down to the caller are told, and what runs or lies in a worktree among them") {
    ProcessTree world;
    const auto program = [](const std::string& exe) { return program_of(exe, {}, "/"); };
    world.table.processes[31].program = program("/usr/bin/claude");
    world.add(500, 31, 30, 1030).program = program("/usr/bin/make");
    world.add(501, 500, 30, 1030).program = program("/usr/bin/orange");
    CHECK(world.caller(501).programs == "claude > make > orange");
    CHECK(world.caller(501).through == "make");
    world.table.processes[500].program = program("/usr/bin/bash");
    CHECK(world.caller(501).programs == "claude > bash > orange");
    CHECK(world.caller(501).through.empty());
    world.table.processes[500].program = program("/ws/a--1/test");
    CHECK(world.caller(501).through == "test");
    // An orange-agent of its own making hides nothing.
    world.add(502, 501, 30, 1030).entry.shim = true;
    world.add(503, 502, 30, 1030).program = program("/usr/bin/orange");
    CHECK(world.caller(503).through == "test");
    // A human's are nobody's business.
    world.add(600, 40, 40, 1040).program = program("/usr/bin/orange");
    CHECK(world.caller(600).programs.empty());
}

TEST_CASE("a claim of an ancestor counts for a process that dropped its own") {
    ProcessTree world;
    world.add(400, 1, 400, 0).claim = {k_asked, "worker", "runworker000"};
    world.add(500, 400, 99, 0);
    CHECK(world.caller(500).role == Role::worker);
}

TEST_CASE("an agent that calls before its run is registered is waited for, and is nobody until then") {
    ProcessTree world;
    world.registry.runs.erase(30);
    world.registry.starting["runreviewer0"] = k_asked;
    world.add(500, 31, 30, 1030).claim = {k_asked, "reviewer", "runreviewer0"};
    const auto evidence = collect_evidence(world.table, 500, 0, true);
    CHECK(is_early(evidence, world.registry));
    CHECK(identify(evidence, world.registry).role == Role::unknown);
    world.registry.starting.clear();
    world.know(Role::reviewer, "runreviewer0", 30);
    CHECK_FALSE(is_early(evidence, world.registry));
    CHECK(identify(evidence, world.registry).run.value == "runreviewer0");
}

TEST_CASE("nobody is waited for on the word of an environment alone, or in another's place") {
    ProcessTree world;
    world.registry.starting["runreviewer0"] = k_asked;
    const Claim claim = {k_asked, "reviewer", "runreviewer0"};
    world.add(500, 1, 99, 0).claim = claim;
    CHECK_FALSE(is_early(collect_evidence(world.table, 500, 0, true), world.registry));
    world.add(501, 21, 20, 1020).claim = claim;  // the worker
    CHECK_FALSE(is_early(collect_evidence(world.table, 501, 0, true), world.registry));
}

TEST_CASE("an agent whose run is over is nobody") {
    ProcessTree world;
    world.registry.runs.erase(30);
    const auto caller = world.caller(31);
    CHECK(caller.role == Role::unknown);
    CHECK_THAT(caller.evidence, Holds("run is over"));
}

TEST_CASE("a session whose leader has gone still tells whose it is") {
    ProcessTree world;
    world.table.processes.erase(20);
    world.add(500, 1, 20, 0);
    CHECK(world.caller(500).evidence == "session 20 of an orange-agent");
    CHECK(world.caller(500).role == Role::worker);
    CHECK(world.caller(500).through.empty());
    // Whoever killed it may be a test that the reviewer runs: nothing is left that tells.
    world.table.processes.erase(30);
    world.add(501, 1, 30, 0);
    CHECK(world.caller(501).role == Role::reviewer);
    CHECK_FALSE(world.caller(501).through.empty());
}

TEST_CASE("a shim's pid that was given to somebody else identifies nobody") {
    ProcessTree world;
    world.table.processes[20].entry.start_time += 1;
    world.table.processes[20].entry.shim = false;
    world.table.processes[20].entry.parent = 1;
    world.table.processes[21].claim = {};
    world.add(500, 21, 77, 0);
    CHECK(world.caller(500).role == Role::human);
    world.add(501, 1, 20, 0);
    CHECK(world.caller(501).role == Role::human);
}

TEST_CASE("who calls costs as many looks at processes as it has ancestors, however many agents run") {
    ProcessTree world;
    world.add(500, 40, 40, 1040);
    world.caller(500);
    const auto few = std::exchange(world.table.looks, 0);
    for (int pid = 1000; pid < 6000; ++pid) {
        world.add(pid, 10, pid, pid).entry.shim = true;
        world.know(Role::worker, "run" + std::to_string(pid), pid);
    }
    world.caller(500);
    CHECK(world.table.looks == few);
    CHECK(few <= 5);
}

TEST_CASE("a caller that cannot be looked at is nobody") {
    ProcessTree world;
    SECTION("gone") {
        CHECK(world.caller(999).role == Role::unknown);
    }
    SECTION("its pid reused while it was looked at") {
        world.add(500, 40, 40, 1040);
        world.table.peer = 500;
        world.table.gone_after_looks = 1;
        CHECK(world.caller(500).role == Role::unknown);
    }
    SECTION("its pid reused since it connected") {
        world.add(500, 40, 40, 1040);
        CHECK(identify(collect_evidence(world.table, 500, 12345, true), world.registry).role == Role::unknown);
        CHECK(identify(collect_evidence(world.table, 500, 3500, true), world.registry).role == Role::human);
    }
    SECTION("gone when it connected") {
        world.add(500, 40, 40, 1040);
        CHECK(identify(collect_evidence(world.table, 500, -1, true), world.registry).role == Role::unknown);
    }
    SECTION("its ancestry broken off, whatever it says") {
        world.add(500, 404, 99, 0).claim = {k_asked, "worker", "runworker000"};
        CHECK(world.caller(500).role == Role::unknown);
    }
    SECTION("its ancestry broken off") {
        world.add(500, 404, 40, 1040);
        CHECK(world.caller(500).role == Role::unknown);
    }
    SECTION("its ancestry a circle") {
        world.add(500, 501, 40, 1040);
        world.add(501, 500, 40, 1040);
        CHECK(world.caller(500).role == Role::unknown);
    }
    SECTION("of another user") {
        world.add(500, 40, 40, 1040);
        CHECK(identify(collect_evidence(world.table, 500, 0, false), world.registry).role == Role::unknown);
    }
}
