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

/// Turns the outside world into events for the runner: an agent's process that ends, a TASK.md that somebody saves, a
/// message that waits, an edit of projects.json, and every poll interval a look at everything that notifications might
/// have missed. It decides nothing: each of these calls is idempotent, so that a thing seen twice happens once.
namespace orange {

class Monitor {
  public:
    Monitor(Runner& runner, FileWatcher& files);
    ~Monitor();
    Monitor(const Monitor&) = delete;
    Monitor& operator=(const Monitor&) = delete;

    /// Resumes what the last daemon left, watches what there is, and polls from then on.
    Awaitable<void> run();

    /// run() starts the agents again that ended with the machine, before its first poll.
    void resume_agents() { resumes_agents_ = true; }

    /// Looks at every active task once: what the poll does.
    Awaitable<void> poll();

    std::optional<Timestamp> last_poll() const { return last_poll_; }
    void on_poll(std::function<void()> observer) { polled_ = std::move(observer); }
    /// An agent of the task has written to its terminal, or may have; at most four times a second.
    void on_written(std::function<void(const TaskId&)> observer) { terminals_.on_written(std::move(observer)); }
    void stop();

  private:
    struct Watched {
        Path own;
        Path mirror;  ///< empty: none
        FileWatcher::WatchId own_watch = 0;
        FileWatcher::WatchId mirror_watch = 0;
    };

    void watch_projects();
    void projects_touched();
    Awaitable<void> settle_projects();
    void projects_edited();
    void task_changed(const TaskId& id);
    void watch_files(const TaskRecord& record);
    void unwatch_files(const TaskId& id);
    Awaitable<void> go_on_after_login(std::string harness);
    void watch_exit(const TaskId& id, const AgentRun& run);
    void body_touched(const TaskId& id, const Path& file);
    Awaitable<void> wait_for_exit(TaskId id, AgentRun run);
    Awaitable<void> settle_body(TaskId id, Path file);
    Awaitable<void> collect(Project project);
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
    std::string projects_problem_;  ///< that was logged
    std::set<TaskId> settling_;
    std::optional<Timestamp> last_poll_;
    std::function<void()> polled_ = [] {};
    bool stopping_ = false;
    bool resumes_agents_ = false;
};

}  // namespace orange
