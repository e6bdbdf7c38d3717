#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.hpp"
#include "common/base/orange_command.hpp"
#include "daemon/engine/artifacts.hpp"
#include "daemon/engine/definition.hpp"

/// The sub-tasks of a task, as the engine sees them. runner/children.hpp finds them.
namespace orange::engine {

/// The state of a sub-task. Its end counts when it is finished.
enum class ChildState {
    open,
    stuck,
    done,
    ended,       ///< in another way than done
    unreadable,  ///< nobody knows: its files cannot be read
};

struct Child {
    TaskId id;
    std::string short_id = {};
    std::string status = {};
    std::string summary = {};
    ChildState state = ChildState::open;
    bool unapproved = false;  ///< it waits for a human's approval
    bool deleted = false;     ///< its id is all that is left of it, and that it was done
};
/// Oldest first.
using Children = std::vector<Child>;

std::size_t how_many(const Children& children, ChildState state);
/// "3 of 5 sub-tasks are done"
std::string progress_text(const Children& children);
/// "3 sub-tasks wait for your approval"
std::string unapproved_text(std::size_t count);
/// The ids of those in one state, as people type them: "4f2a,7b1c".
std::string names_of(const Children& children, ChildState state);
/// The ids of those that have not ended; empty if all have.
std::string not_ended(const Children& children);

/// Why the gate's `children` is not so, as a sentence that says what to do; nothing where it is, or is not asked for.
std::optional<std::string> children_problem(const Gate& gate, const TaskId& parent, const Artifacts& artifacts,
                                            const Children& children);

/// The cause of a `start_failed` that Orange tries again by itself, when a task could not go on after its sub-tasks.
inline constexpr const char* k_tried_again = "sub-tasks";

/// The task waits for its sub-tasks in this state, and all of them are done.
bool have_come_back(const Definition& definition, const Task& task, const Children& children);
/// The reason why the sub-tasks do not come back.
struct Trouble {
    std::vector<TaskId> with;  ///< those that are stuck, or have ended without being done
    std::string text;          ///< a sentence for the task's human, with the ways out
    OrangeCommand command;     ///< the first of these
};
/// Returns nothing if there is no trouble, or if the task does not wait for sub-tasks.
std::optional<Trouble> trouble_of(const Definition& definition, const Task& task, const Children& children);

}  // namespace orange::engine
