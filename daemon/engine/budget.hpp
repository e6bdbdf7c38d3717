#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/orange_command.hpp"
#include "common/model/notice_kinds.hpp"

/// Decides whether a task has used up its budget, and what its human is told. Pure: the caller counts the tokens.
/// docs/usage.md describes budgets.
namespace orange::engine {

/// Tokens that a task has used, and the limits that hold for it. 0 is no limit.
struct Budget {
    std::int64_t task = 0;  ///< the task's limit
    std::int64_t task_used =
        0;                      ///< with `--budget` of its whole family, with the setting budget.task of the task alone
    std::int64_t day = 0;       ///< its project's limit for a day
    std::int64_t day_used = 0;  ///< by the project today, without doubtful runs
    int task_stop = 150;        ///< percent of `task` at which agents are stopped; 0: never
    int day_stop = 120;         ///< percent of `day`, likewise

    bool operator==(const Budget&) const = default;
};

/// Better ones first.
enum class BudgetState {
    free,
    near,   ///< 80 % are used: the human is told
    spent,  ///< 100 % are used: Orange begins nothing by itself
    stop,   ///< agents are stopped
};

/// The names in the sentences about a budget.
struct BudgetOf {
    std::string task = {};         ///< the id of the task whose limit it is: the task itself, or one above it
    std::string project = {};      ///< the name of the project
    bool is_relatives = false;     ///< the limit is that of a task above it
    bool has_family = false;       ///< the limit is for sub-tasks, too, and there are some
    std::int64_t family_used = 0;  ///< what the task and its sub-tasks have used, if that is more than `task_used`
    std::string shown = {};        ///< the short id of `task`
};

/// Returns the state of the task's limit, and that of the day's.
BudgetState task_state_of(const Budget& budget);
BudgetState day_state_of(const Budget& budget);
/// Returns the worse of both.
BudgetState state_of(const Budget& budget);

/// Returns how much of the worse limit is used, without a period: "it has used 2.5M of its 3M tokens", "its project
/// shop has used 41M of today's 40M tokens". Both if both are equally bad. Empty if there is no limit.
std::string sentence_of(const Budget& budget, const BudgetOf& of);
/// Returns the command that raises the limit of the sentence, with a value that leaves room: "orange task update 4f2a
/// --budget 5M", "orange project update shop --set budget.day=50M". If both limits are equally bad, that of the task's.
OrangeCommand command_of(const Budget& budget, const BudgetOf& of);

/// Returns the notice that a task with this budget has: budget_near, budget or none. A task has only one of the two.
/// The caller sets its time. `cause` names the limits ("task 3M"): as long as it is the same, the human knows, although
/// the numbers in the text have grown.
std::optional<Notice> notice_of(const Budget& budget, const BudgetOf& of);

/// Returns a round number of tokens above the limit that leaves a quarter of itself or more to use.
std::int64_t more_than(std::int64_t limit, std::int64_t used);
/// Returns a number of tokens as tokens_in() reads it, without rounding: "5M", "400k", "25001".
std::string exact_tokens(std::int64_t tokens);
/// Returns the percent in the settings budget.task_stop and budget.day_stop; 0 for "never".
int stop_percent(std::string_view setting);

}  // namespace orange::engine
