#pragma once

#include <deque>
#include <filesystem>
#include <map>
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
#include "tests/fakes/mortal_file_system.hpp"
#include "tests/unit/git/git_fixture.hpp"

namespace orange::test {

/// A clock that never gives the same time twice.
class TickingClock final : public Clock {
  public:
    Timestamp now() const override { return now_ += std::chrono::milliseconds(1); }
    void pass(std::chrono::milliseconds time) { now_ += time; }

  private:
    mutable Timestamp now_ = *from_rfc3339("2026-11-20T10:00:00Z");
};

/// Everything that outlives a daemon: processes, tmux, the time, and the failures that the test has ordered.
struct Outside {
    fakes::FakeProcesses processes;
    fakes::FakeTmux tmux{processes};
    fakes::FakeExitWatcher exits{processes};
    TickingClock clock;
    fakes::Fuse fuse;
    fakes::ChildFaults children;
    fakes::TmuxFaults tmux_faults;
    PosixProcessRunner programs;  ///< of the daemons
    Settings settings;            ///< of every daemon that begins from now on
    bool unreadable = false;      ///< the test has made a task unreadable
};

/// One daemon with the files of `home`: everything that the runner needs, with real git and files.
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
    /// Starts the coroutine, which later calls of `go` continue. Its result is put into `into`, which outlives it.
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

/// Tells the next daemon that the home was copied: its folders are not those that a daemon has made, although a file
/// system may give the first of them the same inode again.
void now_a_copy(const std::filesystem::path& home);

/// A repository, a home and a task, and daemons that come and go. `keep` and `back` go back in time: files, tmux and
/// processes are what they were.
class RunnerWorld {
  public:
    RunnerWorld();

    House& boot();
    House& house() { return *house_; }
    void stop() { house_.reset(); }
    void keep();
    void back();
    /// Does what a new daemon does first: it resumes every task, looks for agents that ended, and runs the queue.
    void recover();

    /// Returns a record for a task of the project `shop`, and makes the project if there is none.
    TaskRecord draft(const std::string& summary = "do it", int pool_size = 1);
    Result<Outcome> create(TaskRecord record, std::string context, bool no_spawn);
    /// Makes a task that is not started yet.
    TaskId make_task(const std::string& summary = "do it", int pool_size = 1, const std::string& workflow = "default",
                     const std::string& status = "pending");
    Result<Outcome> move(const TaskId& id, const std::string& to, Role by = Role::human);
    /// Appends text to the task's TASK.md, in the worktree if the task has one.
    void append_body(const TaskId& id, const std::string& text);
    void kill_agent(const TaskId& id, Role role, int exit_status);

    /// Returns the record as it is now. It stays valid for the next thousand calls.
    const TaskRecord& record(const TaskId& id);
    std::vector<HistoryEvent> events(const TaskId& id, const std::string& type);
    std::string state_text(const TaskId& id);
    std::string history_text(const TaskId& id);
    /// The first folder on PATH, for stand-ins.
    std::filesystem::path programs() const { return git.dir / "programs"; }
    std::filesystem::path home() const { return live_ / "home"; }
    std::string task_text(const TaskId& id);
    std::string repo() const { return (live_ / "repo").string(); }

    GitFixture git;
    Outside outside;
    std::map<TaskId, Tries> tries;  ///< of deliver()

  private:
    std::filesystem::path live_;
    std::filesystem::path golden_;
    fakes::FakeProcesses kept_processes_;
    fakes::FakeTmux::State kept_tmux_;
    std::unique_ptr<House> house_;
    std::deque<store::RecordPtr> records_;  ///< what record() has returned last
};

/// Makes a task whose worker plans.
TaskId planning(RunnerWorld& world, const std::string& summary = "do it", int pool_size = 1);
/// The daemon types into windows and notifies its human from now on. No alarm rings: the test says when time passes.
void go_on_duty(RunnerWorld& world);
/// Types what waits in the task's outbox, as the reconciler tries it, until nothing is left (true) or something cannot
/// be typed.
bool deliver(RunnerWorld& world, const TaskId& id);
/// Looks whether agents took what was typed. True if nothing more can be found out for now.
bool acknowledge_typed(RunnerWorld& world, const TaskId& id);
/// Returns the task's most urgent notice and the command for it; "none" if it has none.
std::string attention(RunnerWorld& world, const TaskId& id);
/// Raises a notice of another kind than the test is about.
inline void look_at(TaskRecord& record, const std::string& text) {
    engine::raise(record, {NoticeKind::hook_failed, text, "", "", Timestamp{}});
}

}  // namespace orange::test
