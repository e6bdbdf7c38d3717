#pragma once

#include <map>
#include <memory>
#include <string>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/async/keyed_mutex.hpp"
#include "daemon/process/process_runner.hpp"
#include "daemon/runner/agent_control.hpp"
#include "daemon/runner/check_report.hpp"
#include "daemon/runner/turns.hpp"
#include "daemon/runner/world.hpp"

/// The checks of a project (its setting `checks`): commands that must succeed on the tip of a task's branch before it
/// is merged. They are the project's own words, but they run what the branch has.
namespace orange {

class Checks {
  public:
    Checks(World& world, AgentControl& agents, Turns& turns)
        : world_(world), agents_(agents), turns_(turns), beginning_(world.executor) {}

    /// Why this commit cannot be merged without them, as a merge that does it all the same repeats it; empty if there
    /// are none, or they passed on it.
    std::string missing(const TaskRecord& record, const Project& project, const std::string& commit) const;

    /// Runs them on a commit (empty: the tip of the branch), and remembers how they went. Nobody's lock is held
    /// meanwhile: they may take half an hour. In the task's worktree if that is clean, on the commit, and no agent's at
    /// the moment; else in a checkout of their own. conflict if they run already, or the task has changed under them.
    /// `merge`: the command that waits for them, and whose failure is a notice; empty: none does.
    Awaitable<Result<CheckReport>> run(TaskId id, std::string commit, std::string merge);

    /// The same for a merge: an Error with `why: checks_failed` if they fail, which says what to do.
    Awaitable<Result<void>> pass(TaskId id, std::string commit, std::string merge);

    /// Ends those that run for a task, or for any: it is being cancelled, or the daemon ends.
    void stop(const TaskId& id);
    void stop_all();

    /// "its checks run: make test"; empty if none do.
    std::string under_way(const TaskId& id) const;
    bool any_under_way() const { return !running_.empty(); }

    /// What checks of killed daemons left: processes in the workspaces of any project, and this one's checkouts. Before
    /// those of this daemon begin.
    Awaitable<void> remove_left(Project project);

  private:
    struct Running {
        std::shared_ptr<Stop> stop = std::make_shared<Stop>();
        std::string command;
    };
    struct Job;
    class AtWork;

    Awaitable<Result<Job>> prepare(TaskId id, std::string commit);
    Awaitable<bool> is_in_worktree(TaskRecord record, Job& job);
    Awaitable<Result<std::vector<std::string>>> make_checkout(const Job& job, std::shared_ptr<Stop> stop);
    Awaitable<Result<void>> remove_checkout(std::string repo, std::string path);
    Awaitable<Result<CheckReport>> run_all(const Job& job, Running& running);
    Awaitable<Result<Completed>> run_one(const Job& job, std::vector<std::string> argv,
                                         std::chrono::milliseconds deadline, Running& running);
    Awaitable<Result<void>> remember(const Job& job, const CheckReport& report, std::string merge);
    void write_log(const Job& job, const std::string& command, const checked::CommandEnd& end);
    void tell(const Job& job, const char* type, std::map<std::string, Scalar> fields);
    Error refusal(const TaskRecord& record, const CheckReport& report, const std::string& merge) const;
    /// Of what they start. Not the daemon's own, so that what is left of a command is found like what a killed daemon
    /// has left.
    std::string mark() const;

    World& world_;
    AgentControl& agents_;
    Turns& turns_;
    async::KeyedMutex beginning_;  ///< held while those of killed daemons are ended
    std::map<TaskId, std::shared_ptr<Running>> running_;
};

}  // namespace orange
