#include "daemon/agents/identity.hpp"

#include <map>

#include "tests/catch.hpp"

using namespace orange;
using namespace orange::agents;

namespace {

const std::string k_task = "aaaaaaaaaaaaaaaaaaaaa";
const std::string k_other = "bbbbbbbbbbbbbbbbbbbbb";

struct FakeProcess {
    ProcessEntry entry;
    Claim claim;
    std::string directory = "/home/me";
};

class FakeProcessTable final : public ProcessTable {
  public:
    std::map<std::int64_t, FakeProcess> processes;
    std::int64_t gone_after_looks = -1;  ///< the peer's start time changes after so many looks at it
    std::int64_t peer = 0;

    std::optional<ProcessEntry> entry(std::int64_t pid) override {
        const auto found = processes.find(pid);
        if (found == processes.end()) return std::nullopt;
        auto entry = found->second.entry;
        if (pid == peer && gone_after_looks >= 0 && gone_after_looks-- == 0) entry.start_time += 1;
        return entry;
    }
    Claim claim(std::int64_t pid) override { return processes[pid].claim; }
    std::string working_directory(std::int64_t pid) override { return processes[pid].directory; }
};

/// init(1) ← tmux server(10) ← worker's shim(20) ← agent(21), ← reviewer's shim(30) ← agent(31); a person's
/// terminal(40).
class World {
  public:
    World() {
        add(1, 0, 1, 0);
        add(10, 1, 10, 0);
        add(20, 10, 20, 1020).entry.shim = true;
        add(21, 20, 20, 1020).claim = {k_task, "worker", "runworker000"};
        add(30, 10, 30, 1030).entry.shim = true;
        add(31, 30, 30, 1030).claim = {k_task, "reviewer", "runreviewer0"};
        add(40, 1, 40, 1040);
        runs = {run(Role::worker, "runworker000", 20), run(Role::reviewer, "runreviewer0", 30)};
    }
    FakeProcess& add(std::int64_t pid, std::int64_t parent, std::int64_t session, std::int64_t tty) {
        auto& process = table.processes[pid];
        process.entry = {parent, session, pid * 7, tty, false};
        return process;
    }
    LivingRun run(Role role, const std::string& id, std::int64_t pid) {
        AgentRun record;
        record.run = RunId{id};
        record.role = role;
        record.pid = pid;
        record.start_time = pid * 7;
        return living_run(table, TaskId{k_task}, record, "/ws/a--1");
    }
    Caller caller(std::int64_t pid) { return identify(collect_evidence(table, pid, 0, true), runs, 10); }

    FakeProcessTable table;
    std::vector<LivingRun> runs;
};

}  // namespace

TEST_CASE("each way of calling is told apart") {
    World world;
    const Claim worker = {k_task, "worker", "runworker000"};
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
         {k_task, "reviewer", "runreviewer0"},
         "/",
         Role::worker,
         "runworker000",
         "ancestor"},
        {"worker that says it is human",
         21,
         20,
         1020,
         {k_task, "human", ""},
         "/",
         Role::worker,
         "runworker000",
         "ancestor"},
        {"reviewer, directly", 31, 30, 1030, none, "/", Role::reviewer, "runreviewer0", "ancestor orange-agent 30"},
        {"orphan in the worker's session", 1, 20, 0, none, "/", Role::worker, "runworker000", "session 20"},
        {"orphan on the reviewer's terminal", 1, 99, 1030, none, "/", Role::reviewer, "runreviewer0", "terminal of"},
        {"orphan with only its environment", 1, 99, 0, worker, "/", Role::worker, "runworker000",
         "environment ORANGE_RUN"},
        {"orphaned reviewer with only its environment",
         1,
         99,
         0,
         {k_task, "reviewer", "runreviewer0"},
         "/",
         Role::reviewer,
         "runreviewer0",
         "environment ORANGE_RUN"},
        {"claim of a reviewer without its run",
         1,
         99,
         0,
         {k_task, "reviewer", ""},
         "/",
         Role::unknown,
         "",
         "no such reviewer"},
        {"claim of a reviewer with the worker's run",
         1,
         99,
         0,
         {k_task, "reviewer", "runworker000"},
         "/",
         Role::unknown,
         "",
         "no such reviewer"},
        {"claim of the task alone",
         1,
         99,
         0,
         {k_task, "", ""},
         "/",
         Role::worker,
         "runworker000",
         "environment ORANGE_TASK"},
        {"claim to be human, with the task set",
         1,
         99,
         0,
         {k_task, "human", ""},
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
        {"tmux run-shell that says it is a reviewer",
         10,
         99,
         0,
         {k_task, "reviewer", ""},
         "/",
         Role::unknown,
         "",
         "reviewer"},
        {"a new window of Orange's tmux", 10, 99, 1099, none, "/ws/a--1", Role::unknown, "", "Orange's tmux server"},
        {"a script without terminal in a worktree", 1, 99, 0, none, "/ws/a--1/src", Role::worker, "",
         "directory /ws/a--1"},
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
        CHECK_THAT(caller.evidence, Catch::Contains(row.evidence));
        CHECK(caller.pid == 500);
        CHECK(caller.task.empty() == (row.role == Role::human || row.role == Role::unknown));
    }
}

TEST_CASE("a claim of an ancestor counts for a process that dropped its own") {
    World world;
    world.add(400, 1, 400, 0).claim = {k_task, "worker", "runworker000"};
    world.add(500, 400, 99, 0);
    CHECK(world.caller(500).role == Role::worker);
}

TEST_CASE("an agent that calls before its run is registered is known by its shim and its environment") {
    World world;
    world.runs.clear();
    world.add(500, 31, 30, 1030).claim = {k_task, "reviewer", "runreviewer0"};
    auto caller = world.caller(500);
    CHECK(caller.role == Role::reviewer);
    CHECK(caller.run.value == "runreviewer0");
    world.table.processes[500].claim = {};
    world.table.processes[31].claim = {};
    CHECK(world.caller(500).role == Role::unknown);
}

TEST_CASE("a shim's pid that was given to somebody else identifies nobody") {
    World world;
    world.table.processes[20].entry.start_time += 1;
    world.table.processes[20].entry.shim = false;
    world.table.processes[20].entry.parent = 1;
    world.table.processes[21].claim = {};
    world.add(500, 21, 77, 0);
    CHECK(world.caller(500).role == Role::human);

    AgentRun stale;
    stale.pid = 20;
    stale.start_time = 20 * 7;
    CHECK(living_run(world.table, TaskId{k_task}, stale, "").session == 0);
}

TEST_CASE("a caller that cannot be looked at is nobody") {
    World world;
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
        CHECK(identify(collect_evidence(world.table, 500, 12345, true), world.runs, 10).role == Role::unknown);
        CHECK(identify(collect_evidence(world.table, 500, 3500, true), world.runs, 10).role == Role::human);
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
        CHECK(identify(collect_evidence(world.table, 500, 0, false), world.runs, 10).role == Role::unknown);
    }
}
