#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/async/async.hpp"
#include "daemon/engine/next.hpp"
#include "daemon/runner/agents/outbox.hpp"
#include "daemon/runner/transitions/turns.hpp"

namespace orange {

/// Runs the loop of each task: looks at the task (engine::next), performs the most urgent step that is due in the
/// task's turn, and looks again until no step is due. wake() says that something about the task may have changed. Tasks
/// run side by side; one task has one loop at a time. The reconciler remembers only why a step is not tried again yet.
/// All steps follow from the records, so the next daemon finds the same ones.
///
/// The reconciler observes the store: a save wakes the task, its parent and the tasks that wait for it.
class Reconciler : Owner {
  public:
    explicit Reconciler(Runner& runner);
    ~Reconciler();

    /// Calls the function after that time, unless the result is destroyed before.
    using SetAlarm = std::function<async::Stopper(std::chrono::milliseconds, std::function<void()>)>;
    /// Puts the daemon on duty: from now on it types into windows and notifies the human, and an alarm wakes each task
    /// when a step becomes due. Before that, only steps that follow from the records alone are performed.
    void start();
    void start(SetAlarm set_alarm) { set_alarm_ = std::move(set_alarm); }
    void stop();

    /// The observer gets each need that the human is to be notified of, and the text of the workflow's `notify` action
    /// if one has asked for it.
    using Notified = std::function<void(const TaskRecord&, const Needs&, std::optional<std::string>)>;
    void on_need(Notified observer) { notified_ = std::move(observer); }

    void wake(const TaskId& id);
    /// Wakes every active task and every ended one that has sub-tasks, and ends the delays of their steps. Called at
    /// the start and by the poll. Other coroutines run between the tasks.
    Awaitable<void> wake_all();

    /// Lets all agents that wait for room be tried at once: limits have changed, or the cause that kept agents from
    /// starting may be over.
    void room_changed();

    /// Performs all steps that are due for the task now, on duty or not, without their delays. Returns when no step is
    /// due.
    Awaitable<void> settle(TaskId id);
    /// Ends the delays of the task's steps and counts their time from now on, because the human has looked.
    void start_over(const TaskId& id);

    /// Writes the end of a task that is to be deleted into its parent and into the tasks that wait for it, since a
    /// deleted task cannot say that it was done. An error names the task that could not be written.
    Awaitable<Result<void>> pass_on_end(TaskId id);

    /// Returns what Orange will do for the task by itself, and when, as far as is known now.
    std::optional<engine::Upcoming> upcoming(const TaskRecord& record) const;
    /// Returns true if the agent of the task's state is idle for long enough to be reminded, as far as is known now.
    bool is_reminder_due(const TaskRecord& record) const;

  private:
    /// A step that failed or could not be performed yet.
    struct Attempt {
        Tries tries;
        std::optional<async::Moment> not_before;  ///< nullopt: only a change of the task ends the delay
        bool ends_with_change = false;
        std::string why;
        std::string message;  ///< the message, if the step is Deliver
    };
    struct Task {
        bool is_awake = false;                    ///< its loop runs
        bool again = false;                       ///< something changed since it looked
        bool is_stepping = false;                 ///< a step is performed, and saves the task
        std::map<std::size_t, Attempt> attempts;  ///< by the step's index
        std::optional<async::Stopper> alarm;
        std::optional<Need> needed;              ///< what the task needed when it was last looked at
        std::int64_t permit = 0;                 ///< Needs::permit then
        std::optional<std::string> handed_over;  ///< the record's text for the human, once the notifier has it
        std::string body;  ///< hash of TASK.md as this daemon saw it last; the same since body_since
        std::optional<Timestamp> body_since;
    };
    /// A view of a task, with the definition to which it refers.
    struct Snapshot {
        workflow::Library::DefinitionPtr definition;
        engine::View view;
    };
    struct Performer;

    void saved(const TaskId& id);
    void wake_attempts(const TaskId& parent);
    /// Begins the task's loop if it does not run. Does not end the waits for a change.
    void begin(const TaskId& id);
    static void end_waits_for_change(Task& task);
    void end_delays(const TaskId& id);
    Awaitable<void> loop(TaskId id);
    /// Performs the most urgent step that is due, and returns nullopt. If no step is due, returns until when.
    Awaitable<std::optional<engine::Until>> step(TaskId id, bool on_duty);
    /// Notes what the task needs, unless a transition or a merge is under way.
    engine::Until rest(const TaskId& id, const engine::View& view, engine::Until until);
    void note(const TaskId& id, const engine::Step& step, const Result<std::optional<engine::Hold>>& done,
              bool changed);
    /// `record` must outlive the result.
    Snapshot look_at(const TaskRecord& record, bool on_duty) const;
    void look_at_agents(engine::View& view) const;
    void look_at_holds(engine::View& view) const;
    void sleep(const TaskId& id, const engine::Until& until);

    int observer_ = world_.tasks.observe([this](const TaskId& id) { saved(id); });
    SetAlarm set_alarm_;  ///< empty: not on duty
    Notified notified_;
    bool stopped_ = false;
    std::map<TaskId, Task> tasks_;
};

/// Resumes tasks that were left in the middle of a step by a daemon that ended, or by a tmux that did not answer.
class Recovery : Owner {
  public:
    using Owner::Owner;

    /// Called for each task when the daemon starts: finishes an interrupted transition or merge, continues a transition
    /// that waits for checks, and adopts agents that were being started.
    Awaitable<void> resume(TaskId id);

    /// Adopts or forgets agents that were being started when tmux did not answer.
    Awaitable<void> settle_starting(TaskId id);
};

}  // namespace orange
