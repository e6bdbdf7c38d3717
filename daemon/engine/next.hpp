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

/// Decides what Orange does for a task by itself, and when. next() is pure: it gets all that is known of one task at
/// one moment (View) and returns the most urgent step that is due, or how long no step is due. The reconciler
/// (runner/loop/reconciler.hpp) performs the step in the task's turn and calls next() again. No other code remembers
/// what is left to do, so a daemon that starts finds the same steps as the one that was killed.
namespace orange::engine {

/// The steps, most urgent first: the order of the variant is the order of k_rules, which gives the reasons.
namespace step {

/// Blockers have ended. They are written into the record, because a deleted one can no longer say that it was done.
struct NoteBlockers {
    std::vector<TaskId> done;   ///< not in `blockers_done` yet
    std::vector<Blocker> gone;  ///< all that will never be done
};

/// Sub-tasks are done, and the record does not say so yet.
struct NoteChildren {
    std::vector<TaskId> done;
};

/// The task, or one above it, is an attempt, and its human has picked another one.
struct EndUnpicked {};

/// Attempts of the task are not created yet.
struct MakeAttempts {};

/// The notices about the sub-tasks are no longer true, or not complete.
struct TellOfChildren {
    std::vector<TaskId> unapproved;  ///< sub-tasks that wait for an approval
    std::optional<Trouble> trouble;  ///< why the task cannot continue
};

/// The task has got another sub-task since it was queued or failed to continue: it waits again.
struct WaitForChildren {
    bool leaves_queue = false;
};

/// All sub-tasks are done, and the workflow says what follows.
struct GoOnAfterChildren {};

/// The task has used so much more than its budget that its agents are stopped.
struct StopSpent {};

/// Executors may still have processes of runs that have ended.
struct StopLeft {};

/// The task that this one is built on has moved, was merged, was sent back or will never be done.
struct FollowBelow {
    Below below;
};

/// An agent that waited for room may start.
struct StartAgents {};

/// A message waits in the outbox.
struct Deliver {
    std::string message;       ///< its id
    bool without_own = false;  ///< messages of Orange itself wait
};

/// A typed message waits for a sign that the agent took it.
struct Acknowledge {};

/// The agent that was idle works again.
struct ClearIdle {};

/// The agent of the state has been idle for long and has not called Orange.
struct Remind {
    Role role = Role::worker;
    bool unread = false;                   ///< its window cannot be read: nothing is typed, the human gets a notice
    std::chrono::milliseconds patience{};  ///< how long it was idle, or nothing has changed
};

/// The task needs its human, who was not notified yet.
struct Notify {
    Needs needs;
};

}  // namespace step

using Step =
    std::variant<step::NoteBlockers, step::NoteChildren, step::EndUnpicked, step::MakeAttempts, step::TellOfChildren,
                 step::WaitForChildren, step::GoOnAfterChildren, step::StopSpent, step::StopLeft, step::FollowBelow,
                 step::StartAgents, step::Deliver, step::Acknowledge, step::ClearIdle, step::Remind, step::Notify>;
inline constexpr std::size_t k_step_count = std::variant_size_v<Step>;

/// A step that was tried and is not tried again yet.
struct Hold {
    std::optional<std::chrono::milliseconds> left = {};  ///< nullopt: only a change of the task ends it
    std::string why = {};                                ///< what failed, or what the step waits for
    bool ends_with_change = true;                        ///< any change of the task ends it, too
    bool counts = true;                                  ///< false: the time of the wait begins now
};

/// One task at one moment.
struct View {
    const TaskRecord& record;
    const Definition* definition = nullptr;  ///< null: its workflow cannot be read
    bool ended = false;                      ///< its state is terminal
    std::vector<Blocker> blockers = {};      ///< the blockers that it still waits for
    Children children = {};
    std::optional<Below> below = {};          ///< the task that it is built on
    bool unpicked = false;                    ///< it belongs to an attempt, and another one is picked
    bool has_room = false;                    ///< its agents that wait for room may start
    bool is_merging = false;                  ///< a merge has begun and not ended
    bool is_checking = false;                 ///< the project's checks run
    std::optional<AgentActivity> agent = {};  ///< activity of the state's agent; nullopt: none lives
    std::set<Role> idle = {};                 ///< roles whose agents have finished their turn
    IdleTimes idle_times = {};
    Timestamp unchanged_since{};  ///< since when TASK.md and the task are unchanged, as far as the daemon knows
    Needs needs = {};
    Need needed_before = Need::nothing;  ///< what the task needed when it was last looked at
    std::int64_t permit_before = 0;      ///< Needs::permit then
    bool has_untold_text = false;        ///< the record has a text for the human that the notifier does not have yet
    Timestamp now{};
    /// True if the daemon types into windows and notifies the human. If false, only steps that follow from the records
    /// alone are due.
    bool is_on_duty = false;
    bool stops_spent = false;   ///< an agent lives and has to be stopped because of a budget
    bool budget_spent = false;  ///< no step is due that would make an agent use tokens, but for the human's messages
    std::array<std::optional<Hold>, k_step_count> holds = {};  ///< by the step's index
};

/// A step that Orange takes for the task by itself, as people read it.
struct Upcoming {
    std::string what;                ///< an infinitive: "remind the agent"
    std::chrono::milliseconds in{};  ///< how long until it is due
    std::string why;                 ///< why earlier tries failed; empty: it was not tried
};

/// The time during which no step is due.
struct Until {
    std::optional<std::chrono::milliseconds> in = {};  ///< when a step will be due; nullopt: not before a change
    std::optional<Upcoming> upcoming = {};             ///< the first of the steps that matter to people
};

/// Returns the most urgent step that is due, or until when no step is. A task whose transition is not finished has no
/// step: the end of the transition wakes its loop again.
std::variant<Step, Until> next(const View& view);

/// Returns true if the agent of the state is idle for long enough to be reminded.
bool is_reminder_due(const View& view);

/// Returns the step in words, as an infinitive: "go on after its sub-tasks". Empty for a step that people need not
/// know.
std::string_view name_of(const Step& step);

}  // namespace orange::engine
