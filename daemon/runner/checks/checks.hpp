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
#include "daemon/runner/checks/check_report.hpp"
#include "daemon/runner/transitions/turns.hpp"

/// The checks of a project (its setting `checks`) or of a gate are commands that must succeed: on a commit of a task's
/// branch before a transition, or on the result of its merge before that is published. Gates, merges and people
/// (`orange task check`) ask for them. The commands are the project's, but they execute files of the branch.
namespace orange {

/// A commit that a merge would publish.
struct MergeResult {
    std::string commit;  ///< empty: no merge is tested
    std::string tree;
    std::string merged_with;  ///< "origin/main"; empty: the commit is the branch's own
};

/// A request to run checks.
struct CheckOrder {
    std::string commit = {};    ///< a commit of the branch; empty: its tip
    MergeResult result = {};    ///< a merge of `commit`, which is tested instead, in the checks' own place
    engine::Argvs checks = {};  ///< empty: the project's
    std::string merge = {};     ///< the command that waits for the checks; their failure is then a notice; may be empty
    bool for_merge = false;     ///< the result counts for a merge, and for no gate
    bool has_place = false;     ///< the caller holds the checks' own place
    bool beside_agent = false;  ///< run in the worktree, if it is clean, even if an agent works in it
};

class Checks : Owner {
  public:
    using Owner::Owner;

    /// True if the checks with this hash (engine::hash_of) have passed for a merge with this tree.
    static bool have_passed(const TaskRecord& record, const std::string& hash, const std::string& tree);

    /// Returns the reason why the project's checks do not cover a merge of this commit, for a forced merge to repeat.
    /// Empty if there are no checks, or if they passed on the commit. If merges are tested by their result, any result
    /// of this commit counts.
    std::string missing(const TaskRecord& record, const Project& project, const std::string& commit) const;

    /// Runs the checks and saves their result in the record. No lock is held meanwhile: checks may take half an hour.
    /// They run in the task's worktree if it is clean, at the commit, and not in use by an agent. Otherwise, and for a
    /// `result`, they run in the checks' own place (Pool::checks_place). A call for checks that already run waits for
    /// their result. conflict if other checks of the task run, or if the task has changed meanwhile.
    Awaitable<Result<CheckReport>> run(TaskId id, CheckOrder order);

    /// Runs the checks for a merge. If they fail, returns an Error with `why: checks_failed` that says what to do.
    Awaitable<Result<void>> pass(TaskId id, CheckOrder order);

    /// Acquires the checks' own place of the project for the merge of this task. Waits while other checks use it.
    Awaitable<async::Mutex::Lock> take_place(TaskId id, std::string project);

    /// Stops the checks of a task that is being cancelled, or all checks when the daemon ends.
    void stop(const TaskId& id);
    void stop_all();

    /// Returns the running command as a person would type it; empty if none runs.
    std::string running_for(const TaskId& id) const;
    /// Returns a clause such as "its checks run: make test"; empty if no checks run. Those of a train (trains.hpp) run
    /// for all its tasks.
    std::string under_way(const TaskId& id) const;
    bool any_under_way() const { return !running_->empty(); }
    /// True after stop_all().
    bool have_ended() const { return ended_; }

    /// Ends the processes that checks of killed daemons left in any workspace. Checks of this daemon do not begin
    /// meanwhile.
    Awaitable<void> end_left();

  private:
    struct Running {
        std::shared_ptr<Stop> stop = std::make_shared<Stop>();
        std::string commit;
        std::string tested;  ///< the commit, or the tree of its merge
        std::string checks;  ///< hash of the commands
        std::string command;
        bool beside_agent = false;
        std::optional<Result<CheckReport>> result;
        std::vector<std::shared_ptr<async::Wakeup>> waiting;
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
    /// Returns the mark of the processes that checks start. It differs from the daemon's own mark, so that leftovers of
    /// a command are found like those of a killed daemon.
    std::string mark() const;

    async::KeyedMutex beginning_{world_.executor};  ///< held while checks begin and while leftovers are removed
    using AllRunning = std::map<TaskId, std::shared_ptr<Running>>;
    std::shared_ptr<AllRunning> running_ = std::make_shared<AllRunning>();  ///< coroutines may outlive this object
    /// The tasks that wait for the place of their project's checks.
    std::shared_ptr<std::set<TaskId>> waiting_ = std::make_shared<std::set<TaskId>>();
    bool ended_ = false;
};

}  // namespace orange
