#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/runner/transitions/turns.hpp"

/// The actions that workflows name (docs/workflow.md, "Actions"): their table and functions are in
/// actions.cpp, those for the workspace in workspace.cpp. An action runs under the task's lock,
/// after the transition is committed. It is idempotent: it succeeds if there is nothing to do, and once more after a
/// crash in its middle. An Error is logged and raises a notice; it never stops the actions after it.
namespace orange::actions {

struct Context {
    World& world;
    Runner& runner;
    TaskRecord& record;  ///< the caller saves it after each action
    std::string tx;      ///< the id of the transition; empty if a failed release is repeated outside of one
    const engine::Definition& definition;
    std::vector<std::string> notes = {};  ///< for the caller of the transition
};

using Function = Awaitable<Result<void>> (*)(Context&, const Action&);

/// A row of the table of actions.
struct Entry {
    std::string_view name;
    Function run;
    /// The durability of the mark that says that the action was done. With `atomic`, a loss of power may take the mark
    /// away, and the next daemon runs the action again. `synced` is for actions that must not run again then.
    Durability mark = Durability::atomic;
};
const std::vector<Entry>& entries();
/// Returns the row of a name; nullptr if there is none.
const Entry* find(std::string_view name);

Awaitable<Result<void>> acquire_workspace(Context& context, const Action& action);
Awaitable<Result<void>> release_workspace(Context& context, const Action& action);

/// The runner appends this action to the transition that ends a merge. Workflows cannot name it.
inline constexpr std::string_view k_retire_branch = "retire_branch";

/// Returns the project of the task. not_found if it is not registered.
Result<Project> project_of(const Context& context);

/// Takes and prepares a workspace for the task, and puts its name into the record. Called in the prepare step of a
/// transition. Returns notes for the caller.
Awaitable<Result<std::vector<std::string>>> prepare_workspace(World& world, TaskRecord& record);

}  // namespace orange::actions
