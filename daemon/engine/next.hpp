#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/model/record.hpp"
#include "daemon/engine/blocking.hpp"
#include "daemon/engine/children.hpp"
#include "daemon/engine/definition.hpp"

/// The one answer to "what does Orange do for this task by itself, and when". next() is pure: it gets all that is known
/// of one task at one moment (View) and returns the most urgent step that is due, or how long nothing is. The
/// reconciler (runner/reconciler.hpp) performs the step in the task's turn and asks again. Nothing else remembers what
/// is left to do, so a daemon that starts finds the same steps as the one that was killed.
namespace orange::engine {

/// The steps, most urgent first: the order of the variant is the order of k_steps, which says why.
namespace step {

/// Blockers have ended. They are written into the record, because a deleted one no longer says that it was done.
struct NoteBlockers {
    std::vector<TaskId> done;  ///< not in `blockers_done` yet
    std::vector<Blocker> gone;  ///< all that will never be done
};

/// Sub-tasks are done and the record does not say so yet.
struct NoteChildren {
    std::vector<TaskId> done;
};

/// What the human is told of the sub-tasks is no longer true, or not all.
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

}  // namespace step

using Step = std::variant<step::NoteBlockers, step::NoteChildren, step::TellOfChildren, step::WaitForChildren,
                          step::GoOnAfterChildren>;
inline constexpr std::size_t k_step_count = std::variant_size_v<Step>;

/// Why a step was tried and is not tried again yet.
struct Hold {
    std::optional<std::chrono::milliseconds> left;  ///< nothing: until something about the task changes
    std::string why;                                ///< what failed, or what it waits for, as a sentence's end
};

/// One task at one moment.
struct View {
    const TaskRecord& record;
    const Definition* definition = nullptr;  ///< null: its workflow cannot be read
    bool ended = false;                      ///< its state is terminal
    std::vector<Blocker> blockers = {};      ///< those that it still waits for
    Children children = {};
    std::array<std::optional<Hold>, k_step_count> holds = {};  ///< by the step's index
};

/// Nothing is due. `what` and `why` are empty if nothing will be without a change.
struct Until {
    std::optional<std::chrono::milliseconds> in;  ///< when a step will be due; nothing: not before a change
    std::string what;                             ///< that step: "go on after its sub-tasks"
    std::string why;                              ///< why it is not due yet
};

/// Returns the step that is due, or until when none is. A task whose transition is not finished has no step: the end
/// of the transition asks again.
std::variant<Step, Until> next(const View& view);

/// The step in words, as an infinitive: "go on after its sub-tasks".
std::string_view name_of(const Step& step);

}  // namespace orange::engine
