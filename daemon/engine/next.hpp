#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/model/activity.hpp"
#include "common/model/needs.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/blocking.hpp"
#include "daemon/engine/children.hpp"
#include "daemon/engine/definition.hpp"
#include "daemon/engine/reminder.hpp"

/// The one answer to "what does Orange do for this task by itself, and when". next() is pure: it gets all that is known
/// of one task at one moment (View) and returns the most urgent step that is due, or how long nothing is. The
/// reconciler (runner/reconciler.hpp) performs the step in the task's turn and asks again. Nothing else remembers what
/// is left to do, so a daemon that starts finds the same steps as the one that was killed.
namespace orange::engine {

/// The steps, most urgent first: the order of the variant is the order of k_steps, which says why.
namespace step {

/// Blockers have ended. They are written into the record, because a deleted one no longer says that it was done.
struct NoteBlockers {
    std::vector<TaskId> done;   ///< not in `blockers_done` yet
    std::vector<Blocker> gone;  ///< all that will never be done
};

/// Sub-tasks are done and the record does not say so yet.
struct NoteChildren {
    std::vector<TaskId> done;
};

/// The notices about the sub-tasks are no longer true, or not complete.
struct TellOfChildren {
    std::vector<TaskId> unapproved;  ///< those that wait for an approval
    std::optional<Trouble> trouble;  ///< those that keep the others from coming back
};

/// The task has got another sub-task since it was queued or failed to go on: it waits again.
struct WaitForChildren {
    bool leaves_queue = false;
};

/// All sub-tasks are done, and the workflow says what follows.
struct GoOnAfterChildren {};

/// Executors may still have something of runs that have ended.
struct StopLeft {};

/// An agent that waited for room may start.
struct StartAgents {};

/// A message waits in the outbox.
struct Deliver {
    std::string message;  ///< its id
};

/// It is not known whether an agent took a message that was typed.
struct Acknowledge {};

/// The agent that was idle works again.
struct ClearIdle {};

/// The agent of the state has been idle for long and has not called Orange.
struct Remind {
    Role role = Role::worker;
    bool unread = false;                   ///< its window cannot be read: nothing is typed, the human is told
    std::chrono::milliseconds patience{};  ///< how long it was idle, or nothing has changed
};

/// The task needs its human, who has not been notified of that.
struct Notify {
    Needs needs;
};

}  // namespace step

using Step = std::variant<step::NoteBlockers, step::NoteChildren, step::TellOfChildren, step::WaitForChildren,
                          step::GoOnAfterChildren, step::StopLeft, step::StartAgents, step::Deliver, step::Acknowledge,
                          step::ClearIdle, step::Remind, step::Notify>;
inline constexpr std::size_t k_step_count = std::variant_size_v<Step>;

/// A step was tried and is not tried again yet.
struct Hold {
    std::optional<std::chrono::milliseconds> left = {};  ///< nothing: only a change of the task ends it
    std::string why = {};                                ///< what failed, or what the step waits for
    bool ends_with_change = true;                        ///< any change of the task ends it, too
    bool counts = true;                                  ///< the step has waited in vain; false: its time begins now
};

/// One task at one moment.
struct View {
    const TaskRecord& record;
    const Definition* definition = nullptr;  ///< null: its workflow cannot be read
    bool ended = false;                      ///< its state is terminal
    std::vector<Blocker> blockers = {};      ///< those that it still waits for
    Children children = {};
    bool has_room = false;                    ///< it is the turn of its agents that wait for room
    bool is_merging = false;                  ///< a merge has begun and not ended
    bool is_checking = false;                 ///< the project's checks run
    std::optional<AgentActivity> agent = {};  ///< what the agent of the state does; nothing: none lives
    std::set<Role> idle = {};                 ///< roles whose agents have finished their turn
    IdleTimes idle_times = {};
    Timestamp unchanged_since{};  ///< since when TASK.md and the task are as they are, as far as the daemon knows
    Needs needs = {};
    Need needed_before = Need::nothing;  ///< what the task needed when it was last looked at
    bool has_untold_text = false;        ///< the record has a text for the human that the notifier has not got yet
    Timestamp now{};
    /// The daemon types into windows and notifies the human. False for a look at what follows from the records alone.
    bool is_on_duty = false;
    std::array<std::optional<Hold>, k_step_count> holds = {};  ///< by the step's index
};

/// A step that Orange takes for the task by itself, as people read it.
struct Upcoming {
    std::string what;                ///< an infinitive: "remind the agent"
    std::chrono::milliseconds in{};  ///< how long it is not due yet
    std::string why;                 ///< why it was tried in vain; empty: it was not tried
};

/// No step is due.
struct Until {
    std::optional<std::chrono::milliseconds> in = {};  ///< when a step will be due; nothing: not before a change
    std::optional<Upcoming> upcoming = {};             ///< the first of the steps that matter to people
};

/// Returns the step that is due, or until when none is. A task whose transition is not finished has no step: the end
/// of the transition asks again.
std::variant<Step, Until> next(const View& view);

/// Returns true if the agent of the state is idle for long enough to be reminded.
bool is_reminder_due(const View& view);

/// The step in words, as an infinitive: "go on after its sub-tasks". Empty for one that matters to nobody.
std::string_view name_of(const Step& step);

}  // namespace orange::engine
