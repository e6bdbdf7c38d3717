#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/async/async.hpp"
#include "daemon/engine/next.hpp"
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

    /// From now on time passes, too: each task's alarm wakes it when a step becomes due. Before, only wake() does.
    void start() { runs_ = true; }
    void stop();

    void wake(const TaskId& id);
    /// Wakes every active task and every ended one that has sub-tasks, whatever delays their steps have. A daemon that
    /// starts and the poll call it.
    void wake_all();

    /// Performs all that is due for the task now, whatever delays its steps have, and returns when nothing more is.
    Awaitable<void> settle(TaskId id);

    /// Writes the end of a task that is to be deleted into its parent and into the tasks that wait for it: a deleted
    /// task no longer says that it was done. An error names the task that could not be written.
    Awaitable<Result<void>> pass_on_end(TaskId id);

    /// Returns when Orange will do something for the task by itself, as far as is known now.
    engine::Until upcoming(const TaskRecord& record) const;

  private:
    /// Why a step is not tried again yet.
    struct Attempt {
        int failures = 0;
        std::optional<async::Moment> not_before;  ///< nothing: until something about the task changes
        std::string why;
    };
    struct Task {
        bool is_awake = false;     ///< its loop runs
        bool again = false;        ///< and something changed since it looked
        bool is_stepping = false;  ///< a step is performed, and saves the task
        std::map<std::size_t, Attempt> attempts;  ///< by the step's index
        async::Stopper alarm;
    };

    /// All that the view refers to.
    struct Sight {
        workflow::Library::DefinitionPtr definition;
        engine::View view;
    };

    void saved(const TaskId& id);
    Awaitable<void> loop(TaskId id);
    /// Performs the most urgent step that is due. Returns until when nothing is; nothing if a step was performed.
    Awaitable<std::optional<engine::Until>> step(TaskId id);
    void note(const TaskId& id, std::size_t step, const Result<void>& done, bool changed);
    /// `record` outlives the result.
    Sight look_at(const TaskRecord& record) const;
    void set_alarm(const TaskId& id, std::chrono::milliseconds time);

    Runner& runner_;
    World& world_;
    int observer_;
    bool runs_ = false;
    bool stopped_ = false;
    std::map<TaskId, Task> tasks_;  ///< those whose loop runs or that have an attempt or an alarm
};

}  // namespace orange
