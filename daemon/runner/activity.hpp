#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "common/model/activity.hpp"
#include "common/model/record.hpp"
#include "daemon/agents/events.hpp"
#include "daemon/agents/typing.hpp"
#include "daemon/runner/agent_control.hpp"
#include "daemon/runner/run_processes.hpp"
#include "daemon/runner/silence.hpp"
#include "daemon/runner/turns.hpp"
#include "daemon/runner/usage_holds.hpp"
#include "daemon/runner/world.hpp"

namespace orange {

/// The one place that knows what each living agent does, and since when. It reads the sources that the harness names
/// when it is asked to: monitor/terminals asks when an agent writes, and the poll asks for all agents. It writes an
/// event `agent.activity` for each change, and keeps the notices about dialogs and limits. All of it is kept in memory,
/// and the next daemon finds it out again.
class Activities {
  public:
    Activities(World& world, AgentControl& agents, Turns& turns, UsageHolds& usage)
        : world_(world), agents_(agents), turns_(turns), usage_(usage) {}

    /// Called after each change.
    void on_change(std::function<void(const TaskId&)> observer) { changed_ = std::move(observer); }

    /// Finds out what the task's living agents do. Takes the task's lock only if a notice has to change.
    Awaitable<void> update(TaskId id);

    /// The same for a caller that holds the task's lock.
    Awaitable<void> update_in_turn(TaskRecord& record);

    /// Returns what the role's agent does at this moment.
    Awaitable<agents::Reading> read(const TaskRecord& record, Role role);

    /// The same, and whether text may be typed into its window now.
    struct Window {
        agents::Reading reading;
        agents::Typing typing = agents::Typing::later;
    };
    Awaitable<Window> look_before_typing(const TaskRecord& record, Role role);

    /// Whether the run was seen busy after that time, and has shown no dialog since it was.
    bool worked_since(const TaskRecord& record, const AgentRun& run, Timestamp time) const;

    /// Whose limits and hangs matter: the agent of the task's state. A worker that waits for its review is at rest, and
    /// must not be told to go on. Without a readable workflow, the worker.
    std::vector<Role> awaited(const TaskRecord& record) const;

    /// True if an agent whose window says nothing is to be looked at now, although it has written nothing.
    bool is_due(const TaskRecord& record) const;

    /// True if an agent's window contradicts what its program has said, and not for long enough yet.
    bool is_in_doubt(const TaskRecord& record) const;

    /// Returns the number of tasks of whose agents it remembers something.
    std::size_t remembered() const { return known_.size(); }

    /// As it was seen last; nothing for a role without a living agent.
    std::optional<AgentActivity> of(const TaskRecord& record, Role role) const;

  private:
    struct Known;
    struct Sight {
        agents::Reading reading;
        std::optional<std::string> screen;  ///< nothing: the window cannot be looked at
    };
    const Known* known(const TaskRecord& record, const AgentRun& run) const;
    /// Returns what is known of this run, and forgets what was known of the one before it.
    Known& known_of(const TaskRecord& record, const AgentRun& run);
    Awaitable<Sight> see(const TaskRecord& record, Role role);
    /// Returns what the run's program has said, as long as the other sources do not contradict it for a while.
    agents::Statement told_by(const agents::Harness& harness, Known& known, const agents::Reading& shown) const;
    /// False until the run was seen busy since it was started, or since it last showed a dialog: what is typed before
    /// may be lost. True ten seconds after it has drawn its window, and for a program that does not show that it is
    /// busy.
    bool reads_input(const agents::Harness& harness, const AgentRun& run, const Known& known) const;
    /// Notes the screen of a run that came to rest, and keeps it in a file of the run for the next daemon.
    void note_rest(const TaskRecord& record, const AgentRun& run, Known& known, const Sight& sight) const;

    /// When a busy agent last got on. Its processor time is asked for only once its window stands still.
    struct Progress {
        std::string shown;
        Timestamp at{};
        std::int64_t cpu_ms = 0;
        async::Moment measured{};  ///< when that was its processor time
    };
    /// Since when a busy agent's program has been refused and has tried again.
    struct Retrying {
        Timestamp since{};
        Timestamp last{};
        std::string text;
    };
    /// The process that had the state file. Its pid may be another one's later.
    struct Stating {
        std::int64_t pid = 0;
        std::int64_t start_time = 0;
    };
    struct Known {
        RunId run;
        bool has_begun = true;
        std::optional<Stating> stating;
        std::optional<AgentActivity> seen;  ///< nothing: not noted yet
        agents::EventReader events;
        bool said = false;        ///< its program has said something
        bool recognised = false;  ///< its program said, or showed, something that its definition names
        std::optional<Timestamp> contradicted_since;
        std::optional<std::string> rest;  ///< its screen when it went from busy to idle; nothing while it is not idle
        bool usage_limit = false;
        std::string resets;  ///< of a usage limit, when it ends, in the program's words
        bool limit_counted = false;
        std::optional<Timestamp> limited_at;  ///< when it was last seen at a usage limit
        Progress progress;
        Silence silence;
        Timestamp queued_at{};  ///< when its executor last made it wait for resources
        Retrying retrying;
        std::optional<Timestamp> worked_at;  ///< when it was last seen busy; nothing until then after the time below
        Timestamp waited_until{};  ///< when it last showed a dialog or had drawn nothing; else the beginning of the run
    };

    agents::Activity told_by_file(const TaskRecord& record, const AgentRun& run, const agents::Harness& harness);
    Awaitable<void> look_at_agents(TaskRecord record);
    void note(const TaskRecord& record, const AgentRun& run, Sight sight);
    /// Whether it has tried again for so long that its human should know. It may succeed in between.
    bool is_refused(Retrying& retrying, const agents::Reading& reading) const;
    void note_progress(Progress& progress, const AgentRun& run, const agents::Reading& reading,
                       std::chrono::seconds patience);
    /// For a run that was seen just now.
    Awaitable<void> note_silence(const TaskRecord& record, AgentRun run, std::optional<std::string> screen);
    /// True if the task waits for nothing but this run's agent.
    bool is_expected(const TaskRecord& record, const AgentRun& run) const;
    std::chrono::seconds patience_with(const TaskRecord& record) const;
    /// Whether the notices of the record are as the agents that were seen say; puts them so.
    bool mark(TaskRecord& record);
    bool mark_usage_limit(TaskRecord& record, Role role, bool is_awaited);
    /// Keeps the notice of a held start that its human has to let go on after a limit; true if there is one.
    bool mark_held_start(TaskRecord& record, const HeldStart& start) const;
    void raise_limit(TaskRecord& record, Role role, const UsagePause& pause, std::string text,
                     std::string command) const;
    std::optional<UsagePause> pause_of(const TaskRecord& record, Role role, Timestamp since) const;
    /// True if its notice says that a limit is over and that an agent waits for its human.
    bool asks_to_resume(const TaskRecord& record) const;
    void mark_and_save(TaskRecord& record);
    void lift(const AgentRun& run, const Known& seen);
    void mark_hung(TaskRecord& record) const;
    /// Returns what is said of the role's agent if it hangs; empty if it does not.
    std::string hang_of(const TaskRecord& record, Role role) const;
    void mark_as(TaskRecord& record, const std::vector<Role>& roles, NoticeKind kind, Activity activity,
                 const std::string& what) const;

    World& world_;
    AgentControl& agents_;
    Turns& turns_;
    UsageHolds& usage_;
    std::function<void(const TaskId&)> changed_ = [](const TaskId&) {};
    std::map<TaskId, std::map<Role, Known>> known_;  ///< of tasks that have a run
    RunProcesses processes_;
};

}  // namespace orange
