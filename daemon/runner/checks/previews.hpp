#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/async/async.hpp"
#include "daemon/process/process_runner.hpp"
#include "daemon/runner/transitions/turns.hpp"

/// A human tries the work of a task before its merge (`orange try`): the project's command `dev` runs in the task's
/// worktree, as its setup does, on the workspace's own port. It runs until it ends by itself, until its human ends it,
/// until the task ends or gives its workspace back, or until the daemon ends. Orange opens no port itself.
namespace orange {

/// The state of such a command.
struct Preview {
    std::string state = "starting";  ///< "starting", "running" (something listens at `url`) or "ended"
    std::string command;             ///< as a shell reads it
    int port = 0;                    ///< its ORANGE_PORT; 0: none
    std::string url;                 ///< empty: nothing listens yet
    Timestamp since{};               ///< since when it is in this state
    std::optional<int> exit_status;  ///< if it has ended by itself
    std::string why;                 ///< how it ended, as a clause
};

class Previews : Owner {
  public:
    explicit Previews(Runner& runner);
    ~Previews();

    /// Starts the command, and returns sentences about that for the human. If it runs already, only says so. conflict
    /// if there is no command, no workspace or no consent, or if another program listens on the port.
    Awaitable<Result<std::vector<std::string>>> start(TaskId id);

    /// Ends the command with all that it has started, and waits for that; one that start() prepares does not begin.
    /// Returns false if there is none.
    Awaitable<bool> end(TaskId id);
    /// Tells all commands to end, because the daemon ends. None starts after that.
    void stop_all();
    bool any_running() const;

    /// Returns what is known of the task's last command; null if it has none. The pointer is valid until the next
    /// co_await.
    const Preview* of(const TaskId& id) const;
    /// Returns the URL at which it runs; empty if it does not.
    std::string url_of(const TaskId& id) const;

    /// A piece of the output, without escape sequences and safe for a terminal.
    struct Output {
        std::string text;
        std::int64_t printed = 0;  ///< how many bytes the command had printed at its end, for `after`
    };
    /// Returns the last lines, or with `after` the whole lines behind so many bytes.
    Output output_of(const TaskId& id, std::size_t lines, std::optional<std::int64_t> after) const;

    /// A client that waits. The call that it has made sets `is_gone`, and wakes it, if the client is there no more.
    struct Waiter {
        explicit Waiter(const async::Executor& executor) : woken(executor) {}
        async::Wakeup woken;
        bool is_gone = false;
    };
    /// Waits until the command does not start any more; with `after`, until output_of() has more or it has ended. In
    /// any case only until the waiter is gone.
    Awaitable<void> wait(TaskId id, std::optional<std::int64_t> after, std::shared_ptr<Waiter> waiter);

  private:
    struct Running;
    using RunningPtr = std::shared_ptr<Running>;

    RunningPtr running_of(const TaskId& id) const;
    Awaitable<Result<Command>> command_for(TaskRecord record, RunningPtr running);
    Awaitable<void> run(TaskId id, RunningPtr running, Command command);
    Awaitable<void> look_for_listener(TaskId id, RunningPtr running);
    Awaitable<void> next_change(RunningPtr running);
    void change_state(Running& running, const char* state);
    void publish(const TaskId& id, const Running& running, const char* type, std::map<std::string, Scalar> fields);
    void saved(const TaskId& id);

    std::map<TaskId, RunningPtr> all_;
    std::map<TaskId, std::shared_ptr<Stop>> prepared_;  ///< by start(), and not in all_ yet
    bool ended_ = false;
    int observer_ = 0;
};

}  // namespace orange
