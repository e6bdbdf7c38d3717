#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "daemon/async/async.hpp"
#include "daemon/files/file_watcher.hpp"
#include "daemon/monitor/branches.hpp"
#include "daemon/monitor/terminals.hpp"
#include "daemon/runner/runner.hpp"

/// Turns events of the outside world into calls of the runner: ends of agents' processes, saved TASK.md files, terminal
/// output, ends of usage limits, and edits of projects.json. Each poll looks again for everything that a notification
/// may have missed. The monitor decides nothing; every call is idempotent, so an event that is seen twice has one
/// effect.
namespace orange {

class Monitor {
  public:
    Monitor(Runner& runner, FileWatcher& files);
    ~Monitor();
    Monitor(const Monitor&) = delete;
    Monitor& operator=(const Monitor&) = delete;

    /// Resumes what the last daemon left, watches everything that exists, then polls until stop().
    Awaitable<void> run();

    /// Makes run() start the agents again that ended with the machine, before its first poll.
    void resume_agents() { resumes_agents_ = true; }

    /// Looks once for everything that notifications may have missed.
    Awaitable<void> poll();

    std::optional<Timestamp> last_poll() const { return last_poll_; }
    void on_poll(std::function<void()> observer) { polled_ = std::move(observer); }
    /// Registers the function that is called when an agent of the task has written to its terminal, or may have; at
    /// most four times a second.
    void on_written(std::function<void(const TaskId&)> observer) { terminals_.on_written(std::move(observer)); }
    void stop();

  private:
    struct Watched {
        Path own;
        Path mirror;  ///< empty: none
        FileWatcher::WatchId own_watch = 0;
        FileWatcher::WatchId mirror_watch = 0;
        /// The time by which the last look was put off, and when it was due.
        struct {
            std::chrono::milliseconds pause{};
            async::Moment due{};
        } pace = {};
    };

    void watch_projects();
    void projects_touched();
    Awaitable<void> settle_projects();
    void projects_edited();
    void end_times_now();
    void task_changed(const TaskId& id);
    void watch_files(const TaskRecord& record);
    void unwatch_files(const TaskId& id);
    Awaitable<void> go_on_after_login(std::string harness);
    void watch_exit(const TaskId& id, const AgentRun& run);
    void watch_far_side(const TaskId& id, const AgentRun& run);
    void body_touched(const TaskId& id, const Path& file);
    bool has_agent_elsewhere(const TaskId& id) const;
    Awaitable<void> look_elsewhere();
    Awaitable<void> wait_for_exit(TaskId id, AgentRun run);
    std::chrono::milliseconds pause_of(const TaskId& id);
    Awaitable<void> settle_body(TaskId id, Path file);
    Awaitable<void> collect(Project project);
    /// Goes on with tasks whose folders have come back.
    Awaitable<void> take_in_new();
    Awaitable<void> look_at(TaskId id);
    bool shows_nothing_new(const TaskId& id) const;
    Awaitable<void> bring_agents_back();
    void forget_ended_exits();
    void usage_limits_changed();
    Awaitable<void> wait_for_usage_limits();
    void go_on_after_limits();
    std::chrono::milliseconds interval() const;

    Runner& runner_;
    int observer_;
    World& world_;
    FileWatcher& files_;
    Terminals terminals_;
    Branches branches_;
    std::unordered_map<TaskId, Watched> watched_;
    std::map<std::string, async::Stopper> exits_;  ///< by run id
    std::size_t polls_ = 0;
    bool waiting_for_limits_ = false;
    bool projects_settling_ = false;
    std::string projects_problem_;  ///< the problem that was logged last
    std::set<TaskId> settling_;
    std::optional<Timestamp> last_poll_;
    async::Moment polled_at_{};  ///< the same moment of the steady clock
    std::function<void()> polled_ = [] {};
    bool looking_elsewhere_ = false;
    bool stopping_ = false;
    bool resumes_agents_ = false;
};

}  // namespace orange
