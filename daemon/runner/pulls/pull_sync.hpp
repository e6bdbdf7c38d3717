#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/pull_request.hpp"
#include "common/model/record.hpp"
#include "daemon/async/async.hpp"
#include "daemon/forge/forge.hpp"
#include "daemon/runner/transitions/turns.hpp"

namespace orange {

/// Follows the pull requests of tasks. If one is merged, its task is done; if it is closed, its task is cancelled, and
/// the work is kept. If it is opened again after that, or has requested changes, failing checks or conflicts, the human
/// or the worker is informed, once for each fact. A project is polled as long as one of its tasks has a pull request,
/// with one query for all of them. Its review threads become comments of the task (Comments::adopt()): they are read
/// only after something was said. A fact that cannot be determined changes nothing.
class PullSync : Owner {
  public:
    using Owner::Owner;
    ~PullSync();

    /// Begins to poll by itself, for all tasks and for those that are created later.
    void start();
    void stop();

    /// Queries the pull requests of a project's tasks once, and acts on the answers. Returns how long to wait before
    /// the next query.
    Awaitable<std::chrono::milliseconds> poll(std::string project);
    /// Polls soon for a task whose branch already existed: it may have a pull request.
    void poll_soon(const TaskRecord& record);

    /// Returns the current problems by project, a sentence of the forge for each.
    const std::map<std::string, std::string>& problems() const { return problems_; }

  private:
    void find_followed();
    void follow_or_forget(const TaskId& id);
    void forget_removed_projects();
    bool is_followed(const TaskRecord& record) const;
    void begin(const std::string& project);
    Awaitable<void> follow(std::string project, std::shared_ptr<async::Wakeup> wake);
    std::vector<TaskId> asked_for(const std::string& project, const std::set<TaskId>& soon);
    std::chrono::milliseconds after_failure(const std::string& project, const Error& error);

    /// A reading of a pull request's review threads.
    struct Heard {
        std::int64_t number = 0;
        std::string said;  ///< for PullRequest::said
        std::vector<PullThread> threads;
    };
    /// Reads the threads of the task's open pull request; nullopt if nothing was said since the last reading, or if
    /// they cannot be read.
    Awaitable<std::optional<Heard>> listen(ForgePlace place, TaskId id, std::vector<PullRequest> known);
    Awaitable<void> apply(TaskId id, std::vector<PullRequest> known, std::optional<Heard> heard);
    Result<void> adopt(TaskRecord& record, const Heard& heard);
    Awaitable<Result<void>> follow_up(TaskRecord record, PullRequest pull);
    Result<void> tell_of_end(TaskRecord record, const PullRequest& pull);
    Result<void> reopened(TaskRecord record, const PullRequest& pull);
    Awaitable<Result<void>> cancel(TaskRecord record, PullRequest pull);
    bool is_for_agent(const TaskRecord& record) const;
    /// Gives the problems of an open pull request to the worker, or raises a notice; clears the notice if there are
    /// none.
    Awaitable<Result<void>> report_troubles(TaskRecord record, PullRequest pull);
    Awaitable<Result<bool>> give_to_worker(TaskRecord& record, PullRequest pull, std::string what,
                                           std::set<std::string> told);

    int observer_ = world_.tasks.observe([this](const TaskId& id) { follow_or_forget(id); });
    bool running_ = false;
    bool found_ = false;
    std::map<std::string, std::set<TaskId>> followed_;               ///< by project
    std::map<std::string, std::shared_ptr<async::Wakeup>> looking_;  ///< projects with a loop, and what wakes it
    std::map<std::string, std::set<TaskId>> soon_;                   ///< tasks of poll_soon(), by project
    std::map<std::string, int> failures_;                            ///< failed polls in a row, by project
    std::map<std::string, std::string> problems_;
    std::map<std::string, std::size_t> first_other_;  ///< where the next query for other tasks begins, by project
    std::map<TaskId, async::Moment> not_before_;      ///< next tries to finish tasks that are merged
    std::map<TaskId, async::Moment> deaf_until_;      ///< next tries to read threads
};

}  // namespace orange
