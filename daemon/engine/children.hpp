#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.hpp"
#include "common/base/orange_command.hpp"
#include "daemon/engine/artifacts.hpp"
#include "daemon/engine/definition.hpp"

/// The sub-tasks of a task, as the engine sees them. runner/family/family.hpp finds them.
namespace orange::engine {

/// The state of a sub-task. Its end counts when it is finished.
enum class ChildState {
    open,
    stuck,
    done,
    ended,       ///< without being done
    unreadable,  ///< not known: its files cannot be read
};

struct Child {
    TaskId id;
    std::string short_id = {};
    std::string status = {};
    std::string summary = {};
    ChildState state = ChildState::open;
    bool unapproved = false;  ///< it waits for a human's approval
    bool deleted = false;     ///< only its id is left, and that it was done
    /// Set for an attempt, which is one of several sub-tasks for the same task. Its human picks one of them.
    std::string attempt = {};  ///< its name; empty: it is none
    bool picked = false;
    bool unpicked = false;  ///< another one is picked, and this one has not ended yet
    bool made = true;       ///< false: it will be created
    bool rests = false;     ///< nothing more comes of it without its human
};
/// Sub-tasks, oldest first.
using Children = std::vector<Child>;

std::size_t how_many(const Children& children, ChildState state);
/// Returns a text such as "3 of 5 sub-tasks are done".
std::string progress_text(const Children& children);
/// Returns a text such as "3 sub-tasks wait for your approval".
std::string unapproved_text(std::size_t count);
/// Returns the ids of the sub-tasks in one state, as people type them: "4f2a,7b1c".
std::string names_of(const Children& children, ChildState state);
/// Returns the ids of the sub-tasks that have not ended; empty if all have.
std::string not_ended(const Children& children);

/// True if the sub-tasks are attempts of which none is picked.
bool waits_for_pick(const Children& children);
/// Returns the attempts that can be compared: those that have not ended without being done.
Children comparable(const Children& children);
/// Returns a text such as "2 of 3 attempts are ready to be compared".
std::string attempts_text(const Children& children);

/// Returns why the gate's `children` does not hold, as a sentence that says what to do; nullopt if it holds, or if the
/// gate does not require it.
std::optional<std::string> children_problem(const Gate& gate, const TaskId& parent, const Artifacts& artifacts,
                                            const Children& children);

/// The cause of a `start_failed` that Orange tries again by itself: a task could not continue after its sub-tasks.
inline constexpr const char* k_tried_again = "sub-tasks";

/// True if the task waits for its sub-tasks in this state, and all of them are done.
bool have_come_back(const Definition& definition, const Task& task, const Children& children);
/// The reason why a task cannot continue after its sub-tasks.
struct Trouble {
    std::vector<TaskId> with;  ///< those that are stuck, unreadable, or ended without being done
    std::string text;          ///< a sentence for the task's human, with the ways out
    OrangeCommand command;     ///< the command of a way out
};
/// Returns the trouble; nullopt if there is none, or if the task does not wait for sub-tasks.
std::optional<Trouble> trouble_of(const Definition& definition, const Task& task, const Children& children);

}  // namespace orange::engine
