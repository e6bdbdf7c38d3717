#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/edit.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/definition.hpp"

/// Who may do what: all of it, from the outside in. A method is checked by rpc/dispatcher, fields by
/// rpc/methods/task_methods, the task by runner/requests, its workflow by runner/edits, the transition by decide().
/// Who the caller is was found out before, in agents/identity. Every refusal is `forbidden`.
namespace orange::engine {

/// Who may call a method at all.
enum class Access {
    read,   ///< anyone: looking is free
    agent,  ///< a human, or an agent about its own task
    human,  ///< a human or a human's script
};

/// The evidence for a caller that is known by nothing but the socket of its run, which ORANGE_SOCKET names.
inline constexpr std::string_view k_socket_evidence = "the run's socket, below no orange-agent";

/// "the worker of task 4f2a… (ancestor orange-agent 4711)": what a refused caller is told.
std::string describe(const Caller& caller);

Result<void> may_call(const std::string& method, Access access, const Caller& by);

/// An agent sets the summary and the branch of its task, and no other field.
Result<void> may_set(const Edit& edit, const Caller& by);

/// An agent moves and edits its own task only, in its own run, and without force.
Result<void> may_change(const TaskRecord& record, const Caller& by, bool force);

/// The worker of `parent`, in its own run, creates a sub-task. `delegation` is the project's setting; `chosen` names
/// the options of the call that only a human may choose.
Result<void> may_create_subtask(const TaskRecord& parent, const Caller& by, std::string_view delegation,
                                const std::vector<std::string>& chosen);
/// The refusal of a sub-task that would wait for a task that is not one of its parent's others.
Error may_not_wait_for(const TaskId& other, const Caller& by);

Result<void> may_change_workflow(const Caller& by);

/// Who may ask for a transition, `by` absent resolved: anyone, but no worker where the gate wants a verdict, and only a
/// human or the system where force is needed. Never Role::unknown.
std::vector<Role> askers(const Transition& transition);
bool may_ask(const Transition& transition, Role role);
/// Orange may take it whenever it likes: nothing has to be confirmed, written or counted first.
bool is_free(const Transition& transition);

}  // namespace orange::engine
