#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/edit.hpp"
#include "common/model/record.hpp"
#include "daemon/runner/turns.hpp"

namespace orange {

/// One line of at most 500 bytes of UTF-8, whoever gives it to a task and when.
Result<void> check_summary(const std::string& summary);

/// A record to which an edit is applied, and which is not saved yet.
struct Edited {
    TaskRecord record;
    bool moved_branch = false;  ///< git has renamed or switched the branch
};

/// What may be changed of a task beside its status. Everything is checked before anything is done; the branch, whose
/// change git may refuse, goes before the write of the record, so that a refusal leaves all fields alone. Every
/// function is called in a turn of the task's.
class Edits {
  public:
    Edits(World& world, Turns& turns) : world_(world), turns_(turns) {}

    /// The agents that are chosen and their efforts, in `record` alone. Each must exist, have what the task asks of it
    /// and, if it `must_be_installed`, be found on this machine.
    Result<void> choose_agents(TaskRecord& record, const Choices& choices, bool must_be_installed);

    /// Chooses where its agents run, in `record` alone. Pins the executor's definition, which the task keeps.
    Result<void> choose_executor(TaskRecord& record, const Choices& choices);

    /// Applies all fields of an edit to the record. Only the branch of a task that has one is changed outside of it, in
    /// git; undo() takes that back.
    Awaitable<Result<Edited>> apply(TaskRecord record, const Edit& edit, Caller by);
    /// Takes back what apply() did to the branch in git. The saved record still has the former branch.
    Awaitable<void> undo(Edited edited);

    /// The commit point: writes the record, and into history what differs from the saved record beside the status.
    /// Returns notes for the caller.
    Awaitable<Result<std::vector<std::string>>> commit(TaskRecord& changed, Caller by);

    /// The definition that the task would be moved over to, or why not.
    Result<workflow::Library::DefinitionPtr> workflow_for(const TaskRecord& record, const std::string& name,
                                                          const Caller& by);
    /// A transition cannot be finished without its definition: where that is lost, moving over comes before it.
    Result<void> leave_lost_workflow(TaskRecord& record, const Edit& edit, const Caller& by);

  private:
    Result<void> change_workflow(TaskRecord& record, const std::string& name, const Caller& by);
    void tell_workflow(const TaskRecord& record, const std::string& from);
    Awaitable<Result<bool>> change_branch(TaskRecord& record, std::string branch);
    Awaitable<Result<void>> take_over_branch(TaskRecord& record);
    Awaitable<void> rename_session(TaskRecord& record);
    /// Adds what the caller should know of a role's model that has changed.
    void note_model(const std::optional<std::string>& before, const std::optional<std::string>& now,
                    const std::string& role, const std::string& harness, std::vector<std::string>& notes) const;

    World& world_;
    Turns& turns_;
};

}  // namespace orange
