#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/async/async.hpp"
#include "daemon/engine/notices.hpp"
#include "daemon/files/posix_file_system.hpp"
#include "daemon/runner/runner.hpp"
#include "tests/fakes/fake_tmux.hpp"
#include "tests/fakes/faulty_process_runner.hpp"
#include "tests/fakes/faulty_tmux.hpp"
#include "tests/fakes/git/fake_git.hpp"
#include "tests/fakes/mortal_file_system.hpp"
#include "tests/unit/git/git_fixture.hpp"

namespace orange::test {

/// Never the same moment twice.
class TickingClock final : public Clock {
  public:
    Timestamp now() const override { return now_ += std::chrono::milliseconds(1); }
    void pass(std::chrono::milliseconds time) { now_ += time; }

  private:
    mutable Timestamp now_ = *from_rfc3339("2026-11-20T10:00:00Z");
};

/// What outlives a daemon: processes, tmux, time, and when the next thing goes wrong.
struct Outside {
    fakes::FakeProcesses processes;
    fakes::FakeTmux tmux{processes};
    fakes::FakeExitWatcher exits{processes};
    TickingClock clock;
    fakes::Fuse fuse;
    fakes::ChildFaults children;
    fakes::TmuxFaults tmux_faults;
    PosixProcessRunner real_processes;
    fakes::FakeGit git{real_processes, tests::tools() + "/git"};  ///< the daemons' and the user's
    Settings settings;                                            ///< of every daemon from now on
    bool unreadable = false;                                      ///< the test has made a task so
};

/// One daemon's life over the files of `home`: everything that the runner needs, with real git and files.
class House {
  public:
    House(Outside& outside, std::filesystem::path home, Environment git_environment);
    ~House();

    asio::io_context io;
    Runner& runner();
    World& world();
    AgentControl& control();

    template <class T>
    T go(Awaitable<T> coroutine) {
        return run(io, std::move(coroutine));
    }
    void go(Awaitable<void> coroutine);
    /// Begun, and gone on with by whatever goes next; what it gives is put into `into`, which outlives it.
    template <class T>
    void begin(Awaitable<T> coroutine, std::optional<T>& into) {
        io.restart();
        async::spawn(io.get_executor(), "begun", put(std::move(coroutine), &into));
    }

  private:
    template <class T>
    static Awaitable<void> put(Awaitable<T> coroutine, std::optional<T>* into) {
        *into = co_await std::move(coroutine);
    }

    struct Parts;
    std::unique_ptr<Parts> parts_;
};

/// A home that was copied, whose folders are others than the daemon has made. They have other inodes; where a file
/// system gives the first of them the same again, this says so all the same.
void now_a_copy(const std::filesystem::path& home);

/// A repository, a home and a task, and daemons that come and go. `keep` and `back` go back in time: files, tmux and
/// processes are what they were. Git is a FakeGit, and the real one after every eighth `back`; always the real one
/// where ORANGE_REAL_GIT is set.
class RunnerWorld {
  public:
    RunnerWorld();

    House& boot();
    House& house() { return *house_; }
    void stop() { house_.reset(); }
    void keep();
    void back();
    /// What a new daemon does first: every task resumed, the dead looked at, the queue.
    void recover();

    /// A record for a task of the project `shop`, which is made where there is none.
    TaskRecord draft(const std::string& summary = "do it", int pool_size = 1);
    Result<Outcome> create(TaskRecord record, std::string context, bool no_spawn);
    /// A task that is not started yet.
    TaskId make_task(const std::string& summary = "do it", int pool_size = 1, const std::string& workflow = "default",
                     const std::string& status = "pending");
    Result<Outcome> move(const TaskId& id, const std::string& to, Role by = Role::human);
    /// Text at the end of the task's TASK.md, in the worktree where it has one.
    void append_body(const TaskId& id, const std::string& text);
    void kill_agent(const TaskId& id, Role role, int exit_status);

    const TaskRecord& record(const TaskId& id);
    std::vector<HistoryEvent> events(const TaskId& id, const std::string& type);
    std::string state_text(const TaskId& id);
    std::string history_text(const TaskId& id);
    /// First on PATH: stand-ins for programs go there.
    std::filesystem::path programs() const { return git.dir / "programs"; }
    std::filesystem::path home() const { return live_ / "home"; }
    std::string task_text(const TaskId& id);
    std::string repo() const { return (live_ / "repo").string(); }

    GitFixture git;
    Outside outside;

  private:
    int times_back_ = 0;
    std::filesystem::path live_;
    std::filesystem::path golden_;
    fakes::FakeProcesses kept_processes_;
    fakes::FakeTmux::State kept_tmux_;
    std::unique_ptr<House> house_;
};

/// A task whose worker plans.
TaskId planning(RunnerWorld& world, const std::string& summary = "do it", int pool_size = 1);
/// What the task asks its human to look at, or "none".
/// The task's most urgent notice and the command for it; "none" if it has none.
std::string attention(RunnerWorld& world, const TaskId& id);
/// As if something else had raised it.
inline void look_at(TaskRecord& record, const std::string& text) {
    engine::raise(record, {NoticeKind::hook_failed, text, "", "", Timestamp{}});
}

}  // namespace orange::test
