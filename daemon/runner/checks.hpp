#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/async/async.hpp"
#include "daemon/async/keyed_mutex.hpp"
#include "daemon/engine/facts.hpp"
#include "daemon/process/process_runner.hpp"
#include "daemon/runner/agent_control.hpp"
#include "daemon/runner/check_report.hpp"
#include "daemon/runner/turns.hpp"
#include "daemon/runner/world.hpp"

/// The checks of a project (its setting `checks`) or of a gate: commands that must succeed on a commit of a task's
/// branch before a transition, or on its merge before that is published. They are the project's own words, but they run
/// what the branch has.
namespace orange {

/// A commit that a merge would publish.
struct MergeResult {
    std::string commit;  ///< empty: there is none
    std::string tree;
    std::string merged_with;  ///< "origin/main"; empty: nothing, it is the branch's own commit
};

/// What is to be run, and on what.
struct CheckOrder {
    std::string commit = {};    ///< of the branch; empty: its tip
    MergeResult result = {};    ///< of a merge of `commit`: tested instead of it, in the checks' own place
    engine::Argvs checks = {};  ///< empty: the project's
    std::string merge = {};     ///< the command that waits for them, and whose failure is a notice; empty: none does
    bool for_merge = false;     ///< they count for a merge, and for no gate
    bool has_place = false;     ///< the caller has taken the checks' own place
    bool beside_agent = false;  ///< in the worktree, if it is clean, though an agent works in it
};

class Checks {
  public:
    Checks(World& world, AgentControl& agents, Turns& turns)
        : world_(world), agents_(agents), turns_(turns), beginning_(world.executor) {}

    /// True if those of that hash (engine::hash_of) have passed for a merge with that tree.
    static bool have_passed(const TaskRecord& record, const std::string& hash, const std::string& tree);

    /// Says which of the project's checks a merge of this commit would be without. A forced merge repeats it. Empty if
    /// there are none, or they passed on it: if merges are tested by their result, on whatever result of this commit.
    std::string missing(const TaskRecord& record, const Project& project, const std::string& commit) const;

    /// Runs them, and remembers how they went. Nobody's lock is held meanwhile: they may take half an hour. In the
    /// task's worktree if that is clean, on the commit, and no agent's at the moment; else, and for a `result`, in the
    /// checks' own place (Pool::checks_place). Whoever asks for what runs already waits for it. conflict if others run,
    /// or the task has changed under them.
    Awaitable<Result<CheckReport>> run(TaskId id, CheckOrder order);

    /// The same for a merge: an Error with `why: checks_failed` if they fail, which says what to do.
    Awaitable<Result<void>> pass(TaskId id, CheckOrder order);

    /// Takes the checks' own place of the project, for the merge of this task.
    Awaitable<async::Mutex::Lock> take_place(TaskId id, std::string project);

    /// Ends those that run for a task, or for any: it is being cancelled, or the daemon ends.
    void stop(const TaskId& id);
    void stop_all();

    /// The command that runs, as a person would type it; empty if none does.
    std::string running_for(const TaskId& id) const;
    /// "its checks run: make test"; empty if none do.
    std::string under_way(const TaskId& id) const;
    bool any_under_way() const { return !running_->empty(); }
    /// stop_all() was called.
    bool have_ended() const { return ended_; }

    /// Removes what checks of killed daemons left: processes in the workspaces of any project, and checkouts that
    /// versions before this one made. Before those of this daemon begin.
    Awaitable<void> remove_left(Project project);

  private:
    struct Running {
        std::shared_ptr<Stop> stop = std::make_shared<Stop>();
        std::string commit;
        std::string tested;  ///< the commit, or the tree of its merge
        std::string checks;  ///< hash
        std::string command;
        bool beside_agent = false;
        std::optional<Result<CheckReport>> result;
        std::vector<std::shared_ptr<async::Notifier>> waiting;
    };
    struct Job;
    class AtWork;

    Awaitable<Result<Job>> prepare(TaskId id, CheckOrder order);
    bool is_as_prepared(const Job& job) const;
    Awaitable<Result<CheckReport>> result_of(std::shared_ptr<Running> running);
    Awaitable<Result<CheckReport>> run_and_remember(Job job, Running& running);
    Awaitable<bool> is_in_worktree(TaskRecord record, Job& job);
    Awaitable<Result<std::vector<std::string>>> make_ready(Job& job, std::shared_ptr<Stop> stop);
    Awaitable<Result<CheckReport>> run_all(Job& job, Running& running);
    Awaitable<Result<Completed>> run_one(const Job& job, std::vector<std::string> argv,
                                         std::chrono::milliseconds deadline, Running& running);
    Awaitable<Result<void>> remember(const Job& job, const CheckReport& report);
    void write_log(const Job& job, const std::string& command, const checked::CommandEnd& end);
    void publish(const Job& job, const char* type, std::map<std::string, Scalar> fields);
    Error refusal(const TaskRecord& record, const CheckReport& report, const std::string& merge) const;
    /// Of what they start. Not the daemon's own, so that what is left of a command is found like what a killed daemon
    /// has left.
    std::string mark() const;

    World& world_;
    AgentControl& agents_;
    Turns& turns_;
    async::KeyedMutex beginning_;  ///< held while those of killed daemons are ended
    using AllRunning = std::map<TaskId, std::shared_ptr<Running>>;
    std::shared_ptr<AllRunning> running_ = std::make_shared<AllRunning>();  ///< what is cut off may outlive its owner
    /// For the place of a project's checks.
    std::shared_ptr<std::set<TaskId>> waiting_ = std::make_shared<std::set<TaskId>>();
    bool ended_ = false;
};

}  // namespace orange
