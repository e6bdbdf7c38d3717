#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "daemon/async/async.hpp"
#include "daemon/files/file_watcher.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {

/// Decides when to look at an agent that writes to its terminal: once it is quiet, and regularly if it never is. No
/// I/O.
class Pacing {
  public:
    using Time = async::Moment;

    void wrote(Time now) {
        if (!first_) first_ = now;
        last_ = now;
    }
    void looked() { first_.reset(); }
    /// Returns the time of the next look; nullopt until something is written.
    std::optional<Time> due() const;

  private:
    std::optional<Time> first_;  ///< the first write after the last look
    Time last_;
};

/// Watches the terminals of living agents, and the files in which their programs write events. The kernel reports a
/// write, and then the runner looks at what the agent does; without writes nothing runs here. tmux is not queried: a
/// client in control mode can make tmux 3.3a crash, and all agents with it (docs/reliability.md).
class Terminals {
  public:
    Terminals(Runner& runner, FileWatcher& files) : runner_(runner), files_(files) {}

    /// Reads new events of agents on other machines, whose writes the kernel does not report.
    void look_at_events(const TaskId& id);
    /// Watches the terminals of agents that have started, and ends the watches of those that have ended.
    void follow(const TaskId& id);
    void stop() { stopped_ = true; }
    /// Returns true if all agents are watched and the kernel has reported no write since the last look.
    bool is_quiet(const TaskId& id) const;
    /// Registers the function that is called for the first write, and half a second later for possible further writes.
    void on_written(std::function<void(const TaskId&)> observer) { written_ = std::move(observer); }

  private:
    struct Followed {
        std::map<std::int64_t, FileWatcher::WatchId> watches;  ///< by the agent's pid; 0: it wrote, and is not watched
        Pacing pacing;
        bool updating = false;                   ///< update_while_written() runs
        FileWatcher::WatchId run_folder{};       ///< 0: not watched
        std::map<RunId, std::uintmax_t> events;  ///< the size of the files that are looked at, at the last look
        bool told = false;                       ///< an event was written after the last look
        bool listening = false;                  ///< a listen() runs
    };

    void wrote(const TaskId& id, std::int64_t pid);
    /// Watches the terminals that are not watched. Returns false if all were watched already.
    bool watch(const TaskId& id);
    /// Updates the agents' activities at the pace of `Pacing` until their terminals are quiet.
    Awaitable<void> update_while_written(TaskId id);
    void watch_events(const TaskId& id, bool any_run);
    void told(const TaskId& id);
    Awaitable<void> listen(TaskId id);

    Runner& runner_;
    FileWatcher& files_;
    std::map<TaskId, Followed> followed_;
    std::function<void(const TaskId&)> written_ = [](const TaskId&) {};
    bool stopped_ = false;
};

}  // namespace orange
