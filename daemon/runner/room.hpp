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
#include "daemon/runner/queue_order.hpp"
#include "daemon/runner/turns.hpp"
#include "daemon/runner/usage_holds.hpp"
#include "daemon/runner/world.hpp"

namespace orange {

/// How many agents may run, and which tasks wait for their start: the limits of projects and harnesses, the workspaces,
/// harnesses at their usage limit, and memory that is short. Everything follows from the records and settings of this
/// moment, so that the next daemon finds the same. An agent counts while its task's state is one that it works in: a
/// worker whose task waits for its review takes nobody's place. Costs as much as agents run and, where a limit is in
/// force, tasks wait.
class Room {
  public:
    Room(World& world, Turns& turns, const UsageHolds& usage) : world_(world), turns_(turns), usage_(usage) {}

    /// Whether the role's agent of this task may be started now.
    bool may_start(const TaskRecord& record, Role role) const;

    /// Returns true if an agent of that harness has just been started, and may refresh the login that all of them
    /// share.
    bool is_logging_in(const std::string& harness) const;

    /// Why an agent of the task is not started yet. Nothing if none waits, or if all that it waits for is a workspace.
    std::optional<StartWait> wait_of(const TaskRecord& record) const;

    /// Returns all that waits for its start, and what is left of each resource. The agents of tasks that have begun
    /// come before the tasks that have not.
    queue::Snapshot snapshot() const;
    /// Returns a pending task as it would wait if it were in the queue.
    queue::Candidate pending(const TaskRecord& record) const;

    /// Returns true if an agent of the task was held at a usage limit that is over, and does not go on yet, or not by
    /// itself.
    bool is_paused(const TaskRecord& record) const;

    /// Some agent waits because of a limit, or may have to.
    bool is_limited() const;

    /// Tasks whose start is under way: what they need is taken. Queue fills it.
    std::set<TaskId>& starting() { return starting_; }
    const std::set<TaskId>& starting() const { return starting_; }

    /// Agents that may start and are not in their task's record yet: their place is taken. AgentControl fills it.
    std::set<std::pair<TaskId, Role>>& promised() { return promised_; }

    /// Sets the file in which the kernel tells how much of the time programs wait for memory.
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
    /// Returns the usage limit that holds the role's agent, which waits since then; nothing if none does.
    std::optional<UsagePause> pause_of(const TaskRecord& record, Role role, Timestamp since) const;
    /// True if that limit is over.
    bool is_paused(const TaskRecord& record, Role role, Timestamp since) const;
    Resources running_of(const TaskRecord& record) const;
    std::map<queue::Resource, int> running() const;
    void explain(StartWait& wait, const queue::Resource& full, int running,
                 const std::optional<UsagePause>& pause) const;
    std::int64_t held_place(const TaskRecord& record, const Resources& for_one_of) const;
    std::optional<UsageHold> hold_of(const queue::Resource& resource) const;
    std::optional<int> left_of(const queue::Resource& resource, int running) const;
    int limit_of(const queue::Resource& resource) const;
    std::optional<Role> about_to_start(const TaskRecord& record) const;
    std::optional<Role> role_of(const TaskRecord& record) const;

    World& world_;
    Turns& turns_;
    const UsageHolds& usage_;
    /// How long the next agent of that harness waits for this one's login; 0: not at all.
    std::chrono::milliseconds login_time(const std::string& harness) const;
    /// The percentage, if it is so high that no agent starts; 0 otherwise, and if the kernel does not tell it.
    int high_pressure() const;

    std::set<TaskId> starting_;
    std::set<std::pair<TaskId, Role>> promised_;
    Path pressure_file_ = "/proc/pressure/memory";
    mutable int pressure_ = 0;
    mutable std::optional<async::Moment> pressure_at_;  ///< when it was read
};

/// Why it waits, when that is over, and the command that lets one more run.
std::string waits_sentence(const StartWait& wait, const std::string& project);

/// "orange project update shop --set limits.reviewer=3", or how to raise the harness' limit; empty if no limit is the
/// reason.
std::string command_for_more(const StartWait& wait, const std::string& project);

}  // namespace orange
