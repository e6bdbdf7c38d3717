#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/names.hpp"
#include "common/base/result.hpp"
#include "common/model/edit.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/definition.hpp"

/// Decides what a caller may do. rpc/dispatcher checks the method, rpc/methods/task_methods the fields,
/// runner/transitions/requests the task, runner/transitions/edits its workflow, and decide_request() the transition.
/// agents/identity has identified the caller before. Every refusal is `forbidden`.
namespace orange::engine {

/// The callers to whom a method is open.
enum class Access {
    read,   ///< anyone: looking is free
    agent,  ///< a human, or an agent about its own task
    human,  ///< a human or a human's script
};

/// Says how much of the tasks a method shows to a run behind a wall: one whose executor hides files from it
/// (docs/security.md).
enum class BehindWall {
    nothing,  ///< the method is refused
    own,      ///< its own task: screens and logs
    family,   ///< its own task, its parent and its sub-tasks
    brief,    ///< its family, and of the other tasks of its project ids, branches and states
    all,      ///< the method is not about tasks
};
inline constexpr NameRow<BehindWall> k_behind_wall_names[] = {
    {BehindWall::nothing, "nothing"}, {BehindWall::own, "own"}, {BehindWall::family, "family"},
    {BehindWall::brief, "brief"},     {BehindWall::all, "all"},
};
static_assert(has_row_for_each<k_behind_wall_names>());
constexpr std::string_view name_of(BehindWall shows) {
    return k_behind_wall_names[static_cast<std::size_t>(shows)].name;
}
struct BehindWallRule {
    std::string_view method;
    BehindWall shows;
};
/// The table of all methods that such a run may call. A method without a row is refused to it.
std::span<const BehindWallRule> behind_wall_rules();
BehindWall behind_wall(std::string_view method);
/// Returns the refusal of what a wall hides.
Error hidden_by_wall(const std::string& what);

/// The evidence for a caller that is identified only by the socket of its run, which ORANGE_SOCKET names.
inline constexpr std::string_view k_socket_evidence = "the run's socket, below no orange-agent";

/// Returns "the worker of task 4f2a… (ancestor orange-agent 4711)", for the error of a refused call.
std::string describe(const Caller& caller);

Result<void> may_call(const std::string& method, Access access, const Caller& by);

/// Lets an agent set the summary and the branch of its task, and no other field.
Result<void> may_set(const Edit& edit, const Caller& by);

/// Lets an agent move and edit its own task only, in its own run, and without force.
Result<void> may_change(const TaskRecord& record, const Caller& by, bool force);

/// Lets the worker of `parent`, in its own run, create a sub-task. `delegation` is the project's setting; `chosen`
/// names the options of the call that only a human may choose.
Result<void> may_create_subtask(const TaskRecord& parent, const Caller& by, std::string_view delegation,
                                const std::vector<std::string>& chosen);
/// Returns the refusal of a sub-task that would wait for a task which is not another sub-task of its parent.
Error may_not_wait_for(const TaskId& other, const Caller& by);

Result<void> may_change_workflow(const Caller& by);

/// Returns the roles that may ask for a transition. If `by` is absent, all may; if the gate needs a verdict, all but a
/// worker; if force is needed, only a human and the system. Role::unknown is never among them.
std::vector<Role> askers(const Transition& transition);
bool may_ask(const Transition& transition, Role role);
/// Returns true if Orange may take the transition at any time: it needs no confirmation, no section and no counter.
bool is_free(const Transition& transition);

}  // namespace orange::engine
