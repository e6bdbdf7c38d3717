#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/model/usage.hpp"
#include "daemon/agents/events.hpp"
#include "daemon/agents/usage.hpp"
#include "daemon/engine/budget.hpp"
#include "daemon/runner/transitions/turns.hpp"

namespace orange {

/// What agents use, as their programs report it, and the budgets of tasks and projects.
///
/// A living run is read whenever Orange looks at it anyway (look()), and its sums are in memory; mark() puts them into
/// its record, at most once a minute. A daemon that starts reads the same files again and comes to the same sums. When
/// a run ends, settle() reads the rest and moves its sums into those of its task, with the save that removes the run: a
/// run counts once, whenever the daemon is killed. docs/usage.md says what counts.
class TokenUse : Owner {
  public:
    using Owner::Owner;

    /// Reads what the program has reported since the last call: at most a mebibyte, and the rest in the background.
    void look(const TaskRecord& record, const AgentRun& run, const agents::EventReader& events);

    /// Reads all that is left of a run that has ended, and adds its sums to those of the task. Returns the sums, for
    /// the history; nothing if its program has told nothing. The caller saves the record and forgets the run.
    Awaitable<std::optional<Tokens>> settle(TaskRecord& record, AgentRun run);

    /// Returns what the task's agents have used, those of living ones included.
    std::vector<UsageRow> rows_of(const TaskRecord& record) const;
    /// Returns the tokens of the task that count, also doubtful ones; nullopt if nothing is known.
    std::optional<std::int64_t> counted_of(const TaskRecord& record) const;
    /// Returns the same of the task and all tasks below it.
    std::int64_t counted_of_family(const TaskId& id) const;
    /// Returns the tokens that count of a project's tasks today, without doubtful ones.
    std::int64_t counted_today(const std::string& project) const;
    /// Returns the windows of accounts that programs told last, by harness, with the time of the reading.
    std::map<std::string, std::pair<UsageWindow, Timestamp>> windows() const;
    /// Returns where the run's program reports, for `explain`; nullopt: nothing was read.
    const agents::UsageReader* reader_of(const RunId& run) const;

    /// Puts the sums of living runs into the record if they are a minute old there, and raises and clears the notices
    /// of budgets. The caller saves the record.
    void mark(TaskRecord& record);

    /// Returns the budget that is nearest to its end of those that the task is under.
    engine::Budget budget_of(const TaskRecord& record) const;
    /// Returns true if Orange may begin something for the task by itself.
    bool may_begin(const TaskRecord& record) const;
    /// Returns true if the task's agents have to be stopped.
    bool is_stop_due(const TaskRecord& record) const;
    /// A human starts something for the task: lets it go on for a while if its budget is used up. Returns a sentence
    /// for the human then, else nothing. The caller saves the record.
    std::string let_pass(TaskRecord& record) const;
    /// Stops the task's agents and lets that of its state wait until there is a budget again.
    Awaitable<Result<void>> stop(TaskRecord& record);

    /// Lets all tasks whose budget has changed, was reached, or begins anew with the day look at what they may do.
    void look_at_budgets();

  private:
    /// A run's program, as far as it was read.
    struct Reading {
        agents::UsageReader reader;
        process::Environment env;
        std::vector<std::string> ids, told;
        RunUsage usage;
        bool is_whole = false;        ///< all that there is has been read once
        bool is_catching_up = false;  ///< the rest is being read in the background
        std::int64_t base = 0;        ///< the tokens at `base_at`, for at_most
        Timestamp base_at{};
        Timestamp told_at{};
    };
    /// The sums of a task, for those of families and days.
    struct Known {
        std::string project;
        std::int64_t counted = 0;
        std::string day;
        std::int64_t today = 0;
    };

    Reading& reading_of(const TaskRecord& record, const AgentRun& run);
    /// Reads a piece. Returns true if there is more.
    bool read_piece(const TaskRecord& record, const AgentRun& run, const agents::Harness& harness, Reading& reading);
    Awaitable<void> catch_up(TaskId id, RunId run);
    void note(const TaskRecord& record, const AgentRun& run, const agents::Harness& harness, Reading& reading);
    /// Returns what is known of a run: what was read, or what its record has of an earlier daemon.
    const RunUsage* usage_of(const AgentRun& run) const;
    const Known& known(const TaskId& id) const;
    void know(const TaskRecord& record) const;
    void know_of_today() const;

    std::map<RunId, Reading> readings_;
    mutable std::map<TaskId, Known> known_;
    mutable std::string day_known_;  ///< the day of which all tasks are in `known_`
    std::map<std::string, std::pair<UsageWindow, Timestamp>> windows_;
    std::map<TaskId, std::string> states_;  ///< of budgets, as look_at_budgets() saw them last
};

}  // namespace orange
