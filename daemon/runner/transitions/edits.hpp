#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/edit.hpp"
#include "common/model/record.hpp"
#include "daemon/runner/transitions/turns.hpp"

namespace orange {

/// Checks that a summary is one line of at most 500 bytes of UTF-8.
Result<void> check_summary(const std::string& summary);

/// Sets the budget that was chosen, if one was; an empty one removes it. invalid_argument if it is no number of tokens.
Result<void> choose_budget(Task& task, const Choices& choices);

/// Sets where programs ask that cannot ask in two places, if that was chosen; an empty text removes it.
/// invalid_argument if it is neither window nor inbox.
Result<void> choose_permits(Task& task, const Choices& choices);

/// A record with an edit applied, before it is saved.
struct Edited {
    TaskRecord record;
    bool moved_branch = false;  ///< git has renamed or switched the branch
};

/// Edits the fields of a task other than its status. Everything is checked before anything is changed. Git may refuse a
/// change of the branch, so that comes before the write of the record: a refusal leaves all fields as they were. Every
/// function is called in the task's turn.
class Edits : Owner {
  public:
    using Owner::Owner;

    /// Sets the chosen harnesses, models and efforts in `record`. Each harness must exist, offer what the task asks of
    /// it and, if it `must_be_installed`, be found on this machine.
    Result<void> choose_agents(TaskRecord& record, const Choices& choices, bool must_be_installed);

    /// Checks the harnesses that the workflow names beside the task's own, as choose_agents() does.
    Result<void> check_named_agents(TaskRecord& record, const engine::Definition& definition,
                                    bool must_be_installed) const;

    /// Sets in `record` where its agents run. Pins the executor's definition, which the task keeps.
    Result<void> choose_executor(TaskRecord& record, const Choices& choices);

    /// Applies all fields of an edit to the record. Only an existing branch is also changed in git; undo() reverts
    /// that.
    Awaitable<Result<Edited>> apply(TaskRecord record, const Edit& edit, Caller by);
    /// Reverts what apply() did to the branch in git. The saved record must still have the former branch.
    Awaitable<void> undo(Edited edited);

    /// Commits the edit: saves the record, and writes each difference from the saved record to the history, except the
    /// status. Returns notes for the caller.
    Awaitable<Result<std::vector<std::string>>> commit(TaskRecord& changed, Caller by);

    /// Returns the definition that the task would use in this workflow. Fails if the caller may not change the
    /// workflow, or if it does not have the task's status.
    Result<workflow::Library::DefinitionPtr> workflow_for(const TaskRecord& record, const std::string& name,
                                                          const Caller& by);
    /// Moves a task with an interrupted transition to the edit's workflow at once if its definition is lost: without
    /// one the transition cannot be finished.
    Result<void> leave_lost_workflow(TaskRecord& record, const Edit& edit, const Caller& by);

  private:
    Result<void> change_workflow(TaskRecord& record, const std::string& name, const Caller& by);
    void tell_workflow(const TaskRecord& record, const std::string& from);
    Awaitable<Result<bool>> change_branch(TaskRecord& record, std::string branch);
    Awaitable<Result<void>> take_over_branch(TaskRecord& record);
    Awaitable<void> rename_session(TaskRecord& record);
    /// Adds a note for the caller if a role's model has changed.
    void note_model(const std::optional<std::string>& before, const std::optional<std::string>& now,
                    const std::string& role, const std::string& harness, std::vector<std::string>& notes) const;
};

}  // namespace orange
