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
#include "daemon/agents/versions.hpp"
#include "daemon/runner/agents/run_processes.hpp"
#include "daemon/runner/agents/silence.hpp"
#include "daemon/runner/agents/usage_holds.hpp"
#include "daemon/runner/attention/permits.hpp"
#include "daemon/runner/transitions/turns.hpp"

namespace orange {

/// Tracks what each living agent does (busy, idle, at a dialog, at a limit) and since when. The harness names the
/// sources: events of the agent's program, a state file, and the title and the screen of its window. monitor/terminals
/// calls update() when an agent writes, and the poll calls it for all agents. Each change becomes an event
/// `agent.activity`. The notices about dialogs, limits and hung agents are raised and cleared here. All state is in
/// memory: the next daemon reads the sources again.
class Activities : Owner {
  public:
    using Owner::Owner;

    /// Registers the function that is called after each change of a task's activities.
    void on_change(std::function<void(const TaskId&)> observer) { changed_ = std::move(observer); }

    /// Reads the sources of the task's living agents. Takes the task's lock only if a notice has to change.
    Awaitable<void> update(TaskId id);

    /// Removes the run of that role from the record, after its last events were read: what they tell of its human's
    /// answers to its program is written into the history.
    void close(TaskRecord& record, Role role);

    /// Called when its human has answered what the role's program asked: the program works again, as far as is known.
    void request_answered(const TaskRecord& record, Role role);

    /// Sets every remembered time that is later than `now` to `now`: the clock was wrong then.
    void end_times_at(Timestamp now);

    /// Does the same as update() for a caller that holds the task's lock, and saves the record if a notice changes.
    Awaitable<void> update_in_turn(TaskRecord& record);

    /// Returns what the role's agent does at this moment.
    Awaitable<agents::Reading> read(const TaskRecord& record, Role role);

    /// An agent's activity, its screen, and the decision whether text may be typed into its window now.
    struct Window {
        agents::Reading reading;
        std::string styled = {};  ///< PaneView::styled
        agents::Typing typing = agents::Typing::later;
        bool keys_lately = false;  ///< RunFacts::keys_lately
    };
    Awaitable<Window> look_before_typing(const TaskRecord& record, Role role);

    /// True if the run's program said that it has taken that message.
    bool has_taken(const TaskRecord& record, const AgentRun& run, const std::string& message) const;

    /// True if the run was seen to begin to work after `time`.
    bool began_since(const TaskRecord& record, const AgentRun& run, Timestamp time) const;

    /// True if the run was seen busy after `time` and has shown no dialog since then.
    bool worked_since(const TaskRecord& record, const AgentRun& run, Timestamp time) const;

    /// Returns the roles whose limits and hangs matter: the agent of the task's state. A worker that waits for its
    /// review rests, and must not be told to continue. If the workflow cannot be read, the result is the worker.
    std::vector<Role> awaited(const TaskRecord& record) const;

    /// True if an agent has to be looked at now although it has written nothing: its window contradicts the events of
    /// its program, or shows nothing that Orange recognises.
    bool is_due(const TaskRecord& record) const;

    /// True if an agent has to be looked at again soon: its window contradicts the events of its program, and the
    /// events still count, or it shows a dialog of which nobody was told yet.
    bool is_in_doubt(const TaskRecord& record) const;

    /// Returns the number of tasks whose agents this object remembers.
    std::size_t remembered() const { return known_.size(); }

    /// Returns the activity that was seen last; nullopt if the role has no living agent.
    std::optional<AgentActivity> of(const TaskRecord& record, Role role) const;

  private:
    struct WatchedRun;
    struct WindowFacts {
        agents::Reading reading;
        std::optional<std::string> screen;  ///< nullopt: the window cannot be read
        std::string styled = {};
        std::optional<std::size_t> cursor = {};
        std::optional<Timestamp> touched_at = {};
        std::string text = {};  ///< the screen as it is
    };
    const WatchedRun* known(const TaskRecord& record, const AgentRun& run) const;
    /// Returns the memory of this run. Resets it first if it belongs to an earlier run of the role.
    WatchedRun& known_of(const TaskRecord& record, const AgentRun& run);
    Awaitable<WindowFacts> see(const TaskRecord& record, Role role);
    /// Returns the last event of the run's program. Returns an empty statement if the other sources contradict that
    /// event, and the program has had the time to draw what it has reported.
    agents::Statement told_by(const agents::Harness& harness, WatchedRun& known, const agents::Reading& shown) const;
    /// False while typed text may be lost: from the start of the run, or from its last dialog, until the run was seen
    /// busy. True ten seconds after the run has drawn its window, and for a program that does not show that it is busy.
    bool reads_input(const agents::Harness& harness, const AgentRun& run, const WatchedRun& known) const;
    /// Leaves a mark for the next daemon when a run without other signs changes from busy to idle: its window is known.
    void note_rest(const TaskRecord& record, const AgentRun& run, const WatchedRun& known,
                   const WindowFacts& sight) const;

    /// The last progress of a busy agent. Its processor time is measured only when its window stands still.
    struct Progress {
        std::string shown;
        Timestamp at{};
        std::int64_t cpu_ms = 0;
        async::Moment measured{};  ///< when cpu_ms was measured
        bool any = false;          ///< there was some since this daemon first saw the agent busy
    };
    /// The period in which a busy agent's program was refused and tried again.
    struct Retrying {
        Timestamp since{};
        Timestamp last{};
        std::string text;
    };
    /// The last sign of a shim on another machine (shim/exit_record.hpp).
    struct Sign {
        std::string text;
        Timestamp at{};                         ///< when this daemon saw it first
        bool any = false;                       ///< this daemon has seen it change
        std::optional<std::string> state = {};  ///< what its executor shows since no other sign came; empty: nothing
    };
    /// The process that has the state file. The start time shows whether another process has its pid by now.
    struct Stating {
        std::int64_t pid = 0;
        std::int64_t start_time = 0;
    };
    /// The traces of a turn: files, commits, TASK.md and the task. A turn that changes none of them made no progress.
    struct Left {
        FileTime changed{};
        std::string body_hash;
        Timestamp updated_at{};
        bool operator==(const Left&) const = default;
    };
    struct WatchedRun {
        RunId run;
        bool has_begun = true;
        std::optional<Stating> stating;
        std::optional<AgentActivity> seen;  ///< nullopt: not read yet
        agents::EventReader events;
        bool said = false;        ///< its program has sent an event
        bool recognised = false;  ///< its program or its window showed something that its definition names
        Timestamp told_at{};      ///< when its last event was read
        Timestamp asked_at{};     ///< when the event of its last request was read, or before this daemon
        std::optional<Timestamp> contradicted_since;
        bool in_doubt = false;  ///< its window contradicts its last event, and may still be drawn
        bool usage_limit = false;
        std::string dialog;  ///< the text of the dialog in its window, in one line
        std::string resets;  ///< the end of a usage limit, in the program's words
        bool limit_counted = false;
        std::optional<Timestamp> limited_at;  ///< when it was last seen at a usage limit
        Progress progress;
        bool is_turn = false;       ///< it was seen busy since `left`
        std::optional<Left> left;   ///< of its last turn; only of a program that is newer than its definition
        std::string unknown_error;  ///< the text of the notice that is to be raised
        Silence silence;
        Sign sign;
        Timestamp queued_at{};  ///< when its executor last made it wait for resources
        Retrying retrying;
        std::optional<Timestamp> worked_at;  ///< when it was last seen busy; nullopt if not since waited_until
        Timestamp waited_until{};  ///< when it last showed a dialog or an empty window; at first the start of the run
    };

    agents::Activity told_by_file(const TaskRecord& record, const AgentRun& run, const agents::Harness& harness);
    Awaitable<void> look_at_agents(TaskRecord record);
    void note(const TaskRecord& record, const AgentRun& run, WindowFacts sight);
    void note_sign(const TaskRecord& record, const AgentRun& run);
    /// Asks the executor, once, about a run that gives no sign any more: one that is suspended cannot.
    Awaitable<void> note_state(const TaskRecord& record, AgentRun run);
    /// True if the program has tried again for so long that the human should know. A try may succeed in between.
    bool is_refused(Retrying& retrying, const agents::Reading& reading) const;
    void note_progress(Progress& progress, const AgentRun& run, const agents::Reading& reading,
                       std::chrono::seconds patience);
    /// Looks for other signs of life of a run whose window was read just now and shows nothing that Orange recognises.
    Awaitable<void> note_silence(const TaskRecord& record, AgentRun run, std::optional<std::string> screen);
    /// Notices that a turn has ended without any progress, and no known error was shown.
    Awaitable<void> note_turn(const TaskRecord& record, AgentRun run, std::string screen);
    Awaitable<FileTime> last_change_of(const TaskRecord& record);
    void mark_unknown_error(TaskRecord& record) const;
    /// True if the task waits for nothing but this run's agent.
    bool is_expected(const TaskRecord& record, const AgentRun& run) const;
    std::chrono::seconds patience_with(const TaskRecord& record) const;
    /// Raises and clears the record's notices to match the agents that were seen. Returns true if nothing changed.
    bool mark(TaskRecord& record);
    bool mark_usage_limit(TaskRecord& record, Role role, bool is_awaited);
    /// Raises the notice of a held start that waits for its human after a limit. Returns true if the start does.
    bool mark_held_start(TaskRecord& record, const DeferredStart& start) const;
    void raise_limit(TaskRecord& record, Role role, const UsagePause& pause, std::string text,
                     std::string command) const;
    std::optional<UsagePause> pause_of(const TaskRecord& record, Role role, Timestamp since) const;
    /// True if the notice says that a limit is over and that an agent waits for its human.
    bool asks_to_resume(const TaskRecord& record) const;
    void mark_and_save(TaskRecord& record);
    /// True if the run's program asks through Orange, or is about to: its dialog needs no notice.
    bool is_asking(const TaskRecord& record, const AgentRun& run) const;
    Permits::EventsOf events_of(const TaskRecord& record) const;
    void lift(const AgentRun& run, const WatchedRun& seen);
    bool may_still_hang(const TaskRecord& record, Role role) const;
    void mark_hung(TaskRecord& record) const;
    /// Returns what is said of the role's agent if it hangs; empty if it does not.
    std::string hang_of(const TaskRecord& record, Role role) const;
    /// Returns true if the shim on another machine has given no sign for longer than its machine could be away.
    bool is_parted(const AgentRun& run, const WatchedRun& known) const;
    void mark_as(TaskRecord& record, const std::vector<Role>& roles, NoticeKind kind, Activity activity,
                 const std::string& what) const;

    Timestamp began_ = world_.clock.now();  ///< notices from before are an earlier daemon's
    std::function<void(const TaskId&)> changed_ = [](const TaskId&) {};
    std::map<TaskId, std::map<Role, WatchedRun>> known_;  ///< only tasks that have a run
    RunProcesses processes_;
};

}  // namespace orange
