#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/model/record.hpp"
#include "common/model/start_wait.hpp"
#include "daemon/async/async.hpp"
#include "daemon/runner/agents/usage_holds.hpp"
#include "daemon/runner/queue/queue_order.hpp"
#include "daemon/runner/transitions/turns.hpp"

namespace orange {

/// Decides how many agents may run, and which tasks wait for their start: by the limits of projects and harnesses, the
/// workspaces, harnesses at their usage limit, and memory that is short. Everything follows from the records and
/// settings of this moment, so that the next daemon finds the same. An agent takes a slot while its task's state is one
/// in which it works: a worker whose task waits for its review takes none, and neither does an agent that waits for its
/// human. The cost grows with the running agents and, if a limit is in force, with the waiting tasks.
class Capacity : Owner {
  public:
    using Owner::Owner;

    /// Returns true if the role's agent of this task may be started now.
    bool may_start(const TaskRecord& record, Role role) const;

    /// Returns true if an agent of that harness has just been started, and may refresh the login that all its agents
    /// share.
    bool is_logging_in(const std::string& harness) const;

    /// Returns why an agent of the task is not started yet. nullopt if no agent waits, or if it waits only for a
    /// workspace.
    std::optional<StartWait> wait_of(const TaskRecord& record) const;

    /// Returns everything that waits for its start, and what is left of each resource. The agents of tasks that have
    /// begun come before the tasks that have not.
    queue::Snapshot snapshot() const;
    /// Returns a pending task as it would wait if it were in the queue.
    queue::Candidate pending(const TaskRecord& record) const;

    /// Returns true if an agent of the task was held at a usage limit that is over, and continues later, or not by
    /// itself.
    bool is_paused(const TaskRecord& record) const;

    /// Returns true if an agent waits because of a limit, or may have to.
    bool is_limited() const;

    /// The tasks whose start is under way: the resources that they need are taken. Queue fills the set.
    std::set<TaskId>& starting() { return starting_; }
    const std::set<TaskId>& starting() const { return starting_; }

    /// The agents that may start and are not in their task's record yet: their slots are taken. AgentControl fills the
    /// set.
    std::set<std::pair<TaskId, Role>>& promised() { return promised_; }

    /// Sets the file in which the kernel reports how much of the time programs wait for memory.
    void read_pressure_from(Path file) {
        pressure_file_ = std::move(file);
        pressure_at_.reset();
    }

  private:
    using Resources = std::vector<queue::Resource>;
    Resources agent_needs(const TaskRecord& record, Role role) const;
    Resources held_needs(const TaskRecord& record) const;
    /// Returns the resources that the agent of a task in the queue needs.
    Resources queued_needs(const TaskRecord& record, Role role) const;
    /// Returns the usage limit that holds the role's agent, which waits since `since`; nullopt if none does.
    std::optional<UsagePause> pause_of(const TaskRecord& record, Role role, Timestamp since) const;
    /// True if that limit is over.
    bool is_paused(const TaskRecord& record, Role role, Timestamp since) const;
    Resources running_of(const TaskRecord& record) const;
    bool takes_place(const TaskRecord& record, Role role) const;
    bool waits_for_human(const TaskRecord& record, const std::string& status) const;
    std::map<queue::Resource, int> running() const;
    void explain(StartWait& wait, const queue::Resource& full, int running,
                 const std::optional<UsagePause>& pause) const;
    std::int64_t held_place(const TaskRecord& record, const Resources& for_one_of) const;
    std::optional<UsageHold> hold_of(const queue::Resource& resource) const;
    std::optional<int> left_of(const queue::Resource& resource, int running) const;
    int limit_of(const queue::Resource& resource) const;
    std::optional<Role> about_to_start(const TaskRecord& record) const;
    std::optional<Role> role_of(const TaskRecord& record) const;
    /// Returns the harness with which the task's next agent of this role starts.
    std::string harness_of(const TaskRecord& record, Role role) const;

    /// Returns how long the next agent of that harness waits for this one's login; 0: it does not wait.
    std::chrono::milliseconds login_time(const std::string& harness) const;
    /// Returns the memory pressure in percent if it is so high that no agent starts; 0 otherwise, and if the kernel
    /// does not report it.
    int high_pressure() const;

    std::set<TaskId> starting_;
    std::set<std::pair<TaskId, Role>> promised_;
    Path pressure_file_ = "/proc/pressure/memory";
    mutable int pressure_ = 0;
    mutable std::optional<async::Moment> pressure_at_;  ///< when it was read
};

/// Returns a sentence: why the agent waits, when that ends, and the command that lets one more run.
std::string waits_sentence(const StartWait& wait, const std::string& project);

/// Returns a command such as "orange project update shop --set limits.reviewer=3"; empty if the reason is no limit of
/// the project.
std::string command_for_more(const StartWait& wait, const std::string& project);

}  // namespace orange
