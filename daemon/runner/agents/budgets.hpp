#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "common/model/project.hpp"
#include "daemon/engine/budget.hpp"
#include "daemon/runner/transitions/turns.hpp"

namespace orange {

/// The budgets of tasks and of projects' days (docs/usage.md). What follows from a budget is decided in
/// engine/budget.hpp; TokenUse counts what is used. Nothing is remembered here but what was seen last: a daemon that
/// starts finds the same in the records.
class Budgets : Owner {
  public:
    using Owner::Owner;

    /// Returns the limit of the task itself; 0: none.
    std::int64_t limit_of(const TaskRecord& record) const;
    /// Returns the limit of a project for each day; 0: none.
    std::int64_t day_limit_of(const Project& project) const;

    /// A budget, and the names for sentences about it.
    struct Standing {
        engine::Budget budget;
        engine::BudgetOf of;
    };
    /// Returns the budget that the task is under. If a task above it has one for its family, that one counts if more of
    /// it is used.
    Standing of(const TaskRecord& record) const;
    /// Returns true if there is a budget anywhere, as look() saw it last.
    bool any() const { return is_set_; }
    /// Returns a sentence about the task's budget, and the command that raises it.
    std::pair<std::string, std::string> sentence_of(const TaskId& id) const;
    /// Returns true if Orange may begin something for the task by itself: its budget is not used up, or a human has
    /// started something for it since.
    bool may_begin(const TaskRecord& record) const;
    /// Returns true if the task's agents have to be stopped.
    bool is_stop_due(const TaskRecord& record) const;

    /// Notes that a human starts something for the task. Returns a sentence for the human if its budget is used up: it
    /// may go on for a while. The caller saves the record.
    std::string let_pass(TaskRecord& record) const;

    /// Raises and clears the notices of budgets. The caller saves the record.
    void mark(TaskRecord& record) const;

    /// Stops the task's agents. That of its state waits, and goes on in its conversation when there is a budget again.
    Awaitable<Result<void>> stop(TaskRecord& record);

    /// An agent has ended that Orange was ending: if that was because of the budget, it waits until it may go on, also
    /// after a daemon that died meanwhile. The caller saves the record.
    void wait_again(TaskRecord& record, Role role) const;

    /// The task has used more. look() follows within a second.
    void has_grown(const TaskId& id);
    /// Lets tasks look at what they may do whose budget was reached, was changed, or begins anew with the day. Costs
    /// nothing if there is no budget.
    void look();

  private:
    bool is_any_set(const TaskRecord& record) const;
    bool is_passed(const TaskRecord& record, const Standing& standing) const;
    bool is_at_work(const TaskRecord& record) const;
    bool is_first(const TaskRecord& record) const;
    Awaitable<void> look_in(std::chrono::milliseconds time);
    void use_of(const TaskRecord& record, bool is_for_family, Standing& standing) const;
    const Project* project_of(const TaskRecord& record) const;

    bool is_set_ = false;
    bool looks_soon_ = false;
    std::map<TaskId, std::string> seen_;  ///< what each task may do, when look() looked last
};

}  // namespace orange
