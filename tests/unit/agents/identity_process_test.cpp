// The identity of callers, by real processes (identity_test has processes of the test's own).
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "daemon/agents/identity.hpp"
#include "tests/catch.hpp"

using namespace orange;
using namespace orange::agents;

namespace {

const std::string k_home = "/nowhere/orange-identity-test";
const std::string k_real_task = "aaaaaaaaaaaaaaaaaaaaa";
char k_home_variable[] = "ORANGE_HOME=/nowhere/orange-identity-test";
char k_task_variable[] = "ORANGE_TASK=aaaaaaaaaaaaaaaaaaaaa";
char k_role_variable[] = "ORANGE_ROLE=worker";
char k_run_variable[] = "ORANGE_RUN=runworker000";

/// A shim's stand-in, and a process that left it by setsid and a double fork. Both end with the fixture.
class Escape {
  public:
    Escape() = default;
    /// Apart from the constructor, so that a failing check in it still ends the processes.
    void start(bool subreaper, bool with_environment, const char* directory) {
        // What leaves the shim's stand-in comes to this process, to be reaped; not every first process does that.
        ::prctl(PR_SET_CHILD_SUBREAPER, 1);
        int ends[2];
        REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
        shim = ::fork();
        if (shim == 0) run_shim(ends[1], subreaper, with_environment, directory);
        ::close(ends[1]);
        // The end of the pipe: the caller has become another program, and its parent has gone.
        REQUIRE(::read(ends[0], pids_, sizeof pids_) == static_cast<ssize_t>(sizeof pids_));
        char rest = 0;
        CHECK(::read(ends[0], &rest, 1) == 0);
        ::close(ends[0]);
        wait_for_new_parent();
    }
    ~Escape() {
        if (caller() > 0) ::kill(caller(), SIGKILL);
        if (shim > 0) ::kill(shim, SIGKILL);
        if (shim > 0) ::waitpid(shim, nullptr, 0);
        if (caller() > 0) ::waitpid(caller(), nullptr, 0);
        ::prctl(PR_SET_CHILD_SUBREAPER, 0);
    }
    Escape(const Escape&) = delete;

    pid_t caller() const { return pids_[1]; }

    pid_t shim = 0;

  private:
    [[noreturn]] static void run_shim(int out, bool subreaper, bool with_environment, const char* directory) {
        ::setsid();
        if (subreaper) ::prctl(PR_SET_CHILD_SUBREAPER, 1);
        if (const auto between = ::fork(); between == 0) {
            ::setsid();
            const auto parent = ::getpid();
            if (::fork() == 0) become_caller(out, parent, with_environment, directory);
            ::_exit(0);
        }
        ::close(out);
        for (;;) ::pause();
    }
    [[noreturn]] static void become_caller(int out, pid_t parent, bool with_environment, const char* directory) {
        const pid_t pids[2] = {parent, ::getpid()};
        char name[] = "sleep";
        char time[] = "120";
        char* argv[] = {name, time, nullptr};
        char* full[] = {k_home_variable, k_task_variable, k_role_variable, k_run_variable, nullptr};
        char* empty[] = {nullptr};
        if (::chdir(directory) == 0 && ::write(out, pids, sizeof pids) == static_cast<ssize_t>(sizeof pids)) {
            ::execve("/bin/sleep", argv, with_environment ? full : empty);
        }
        ::_exit(127);
    }
    void wait_for_new_parent() {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        ProcProcessTable table(k_home);
        for (;;) {
            const auto entry = table.entry(caller());
            REQUIRE(entry);
            if (entry->parent != pids_[0]) return;
            REQUIRE(std::chrono::steady_clock::now() < deadline);
            std::this_thread::yield();
        }
    }

    pid_t pids_[2] = {0, 0};
};

/// One run, and one worktree.
class OneRun final : public Registry {
  public:
    KnownRun run;
    std::string worktree;

    std::optional<KnownRun> run_of_shim(const ProcessId& shim) const override {
        return shim == run.shim ? std::optional(run) : std::nullopt;
    }
    std::optional<KnownRun> run_of_session(std::int64_t pid) const override {
        return pid == run.shim.pid ? std::optional(run) : std::nullopt;
    }
    std::optional<KnownRun> run_of_worker(const TaskId& task) const override {
        return task == run.task && run.role == Role::worker ? std::optional(run) : std::nullopt;
    }
    std::optional<KnownRun> run_of(const TaskId& task, const RunId& id) const override {
        return task == run.task && id == run.run ? std::optional(run) : std::nullopt;
    }
    bool is_tmux_server(const ProcessId&) const override { return false; }
    bool is_daemon(std::int64_t) const override { return false; }
    std::optional<TaskId> task_at(const std::string& directory) const override {
        return directory.starts_with(worktree + "/") ? std::optional(run.task) : std::nullopt;
    }
};

Caller identified(const Escape& escape, const std::string& worktree, Role role = Role::worker) {
    ProcProcessTable table(k_home);
    OneRun registry;
    registry.run = {
        TaskId{k_real_task}, role, RunId{"runworker000"}, {escape.shim, table.entry(escape.shim)->start_time}};
    registry.worktree = worktree;
    return identify(collect_evidence(table, escape.caller(), 0, true), registry);
}

}  // namespace

TEST_CASE("a real process that left by setsid and a double fork is found below its subreaper") {
    Escape escape;
    escape.start(true, false, "/");
    const auto caller = identified(escape, "/ws", Role::reviewer);
    CHECK(caller.role == Role::reviewer);
    CHECK(caller.run.value == "runworker000");
    CHECK_THAT(caller.evidence, Holds("ancestor orange-agent"));
}

TEST_CASE("a real process that left its ancestors is found by its environment") {
    Escape escape;
    escape.start(false, true, "/");
    const auto caller = identified(escape, "/ws");
    CHECK(caller.role == Role::worker);
    CHECK(caller.evidence == "environment ORANGE_RUN");
}

TEST_CASE("a real process without ancestors and environment is found by its directory") {
    Escape escape;
    escape.start(false, false, "/usr/bin");
    CHECK(identified(escape, "/usr").evidence == "directory /usr/bin, without a terminal");
    CHECK(identified(escape, "/var").role == Role::human);
}

TEST_CASE("an agent of another ORANGE_HOME is nobody's here") {
    Escape escape;
    escape.start(false, true, "/");
    ProcProcessTable table("/another/home");
    CHECK(table.claim(escape.caller()).task.empty());
    CHECK(ProcProcessTable(k_home).claim(escape.caller()).task == k_real_task);
}
