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
#include "daemon/runner/outbox.hpp"
#include "daemon/runner/turns.hpp"

namespace orange {

struct Runner;

/// The loop of each task. wake() says that something about the task may have changed. The task is then looked at
/// (engine::next), the most urgent step that is due is performed in the task's turn, and it is looked at again until
/// nothing is due. Tasks run side by side; one task has one loop at a time. The reconciler remembers only why a step
/// is not tried again yet. What is to be done follows from the records, so the next daemon finds the same.
///
/// It observes the store: a save wakes the task, its parent and the tasks that wait for it.
class Reconciler {
  public:
    explicit Reconciler(Runner& runner);
    ~Reconciler();
    Reconciler(const Reconciler&) = delete;
    Reconciler& operator=(const Reconciler&) = delete;

    /// Calls the function after that time, unless the result is destroyed before.
    using SetAlarm = std::function<async::Stopper(std::chrono::milliseconds, std::function<void()>)>;
    /// The daemon is on duty from now on: it types into windows and notifies the human, and an alarm wakes each task
    /// when a step becomes due. Before, what follows from the records alone is done.
    void start();
    void start(SetAlarm set_alarm) { set_alarm_ = std::move(set_alarm); }
    void stop();

    /// `observer` gets each need that the human is to be notified of, and the text of the workflow's `notify` action,
    /// if one has asked for it.
    using Notified = std::function<void(const TaskRecord&, const Needs&, std::optional<std::string>)>;
    void on_need(Notified observer) { notified_ = std::move(observer); }

    void wake(const TaskId& id);
    /// Wakes every active task and every ended one that has sub-tasks, whatever delays their steps have. A daemon that
    /// starts and the poll call it. Between tasks, other coroutines run.
    Awaitable<void> wake_all();

    /// Limits have changed, or what kept agents from starting may be over: those that wait for room are tried at once.
    void room_changed();

    /// Performs all that is due for the task now, on duty or not and whatever delays its steps have, and returns when
    /// nothing more is.
    Awaitable<void> settle(TaskId id);
    /// Ends the delays of the task's steps and begins to count their time again: its human has looked.
    void start_over(const TaskId& id);

    /// Writes the end of a task that is to be deleted into its parent and into the tasks that wait for it: a deleted
    /// task no longer says that it was done. An error names the task that could not be written.
    Awaitable<Result<void>> pass_on_end(TaskId id);

    /// Returns what Orange will do for the task by itself, and when, as far as is known now.
    std::optional<engine::Upcoming> upcoming(const TaskRecord& record) const;
    /// Returns true if the agent of the task's state is idle for long enough to be reminded, as far as is known now.
    bool is_reminder_due(const TaskRecord& record) const;

  private:
    /// A step that was tried in vain.
    struct Attempt {
        Tries tries;
        std::optional<async::Moment> not_before;  ///< nothing: only a change of the task ends the delay
        bool ends_with_change = false;
        std::string why;
        std::string message;  ///< of Deliver: which message it was
    };
    struct Task {
        bool is_awake = false;                    ///< its loop runs
        bool again = false;                       ///< something changed since it looked
        bool is_stepping = false;                 ///< a step is performed, and saves the task
        std::map<std::size_t, Attempt> attempts;  ///< by the step's index
        std::optional<async::Stopper> alarm;
        std::optional<Need> needed;              ///< what the task needed when it was last looked at
        std::optional<std::string> handed_over;  ///< the record's text for the human, once the notifier has it
        std::string body;  ///< hash of TASK.md as this daemon saw it last, and since when it is so
        std::optional<Timestamp> body_since;
    };
    /// All that the view refers to.
    struct Sight {
        workflow::Library::DefinitionPtr definition;
        engine::View view;
    };
    struct Performer;

    void saved(const TaskId& id);
    /// Begins the task's loop, if it does not run, without ending the waits for a change.
    void begin(const TaskId& id);
    static void end_waits_for_change(Task& task);
    void end_delays(const TaskId& id);
    Awaitable<void> loop(TaskId id);
    /// Performs the most urgent step that is due. Returns until when nothing is; nothing if a step was performed.
    Awaitable<std::optional<engine::Until>> step(TaskId id, bool on_duty);
    /// Notes what the task needs, if nobody is at it: then it is between two steps.
    engine::Until rest(const TaskId& id, const engine::View& view, engine::Until until);
    void note(const TaskId& id, const engine::Step& step, const Result<std::optional<engine::Hold>>& done,
              bool changed);
    /// `record` outlives the result.
    Sight look_at(const TaskRecord& record, bool on_duty) const;
    void look_at_agents(engine::View& view) const;
    void look_at_holds(engine::View& view) const;
    void sleep(const TaskId& id, const engine::Until& until);

    Runner& runner_;
    World& world_;
    int observer_;
    SetAlarm set_alarm_;  ///< empty: not on duty
    Notified notified_;
    bool stopped_ = false;
    std::map<TaskId, Task> tasks_;
};

}  // namespace orange
