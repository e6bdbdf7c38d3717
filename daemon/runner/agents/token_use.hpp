#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/model/history.hpp"
#include "common/model/usage.hpp"
#include "daemon/agents/events.hpp"
#include "daemon/agents/usage.hpp"
#include "daemon/runner/transitions/turns.hpp"

namespace orange {

/// Counts what agents use, as their programs report it (docs/usage.md).
///
/// A living run is read whenever Orange looks at it anyway (look()), and its sums are in memory. mark() puts them into
/// its record, at most once a minute; a daemon that starts reads the same files again and comes to the same sums. When
/// a run ends, settle() reads the rest and moves its sums into those of its task, with the save that removes the run: a
/// run counts once, whenever the daemon is killed.
class TokenUse : Owner {
  public:
    explicit TokenUse(Runner& runner);

    /// Reads all agents of a task: before a new daemon begins anything, and before a transition.
    void look_at_all(const TaskRecord& record);
    /// Reads what the program has reported since the last call: at most a mebibyte, and the rest in the background.
    void look(const TaskRecord& record, const AgentRun& run, const agents::EventReader& events);

    /// Reads all that is left of a run that has ended, and adds its sums to those of the task. Returns the sums;
    /// nothing if the program has told nothing. The caller saves the record.
    Awaitable<std::optional<Tokens>> settle(TaskRecord& record, RunId run);

    /// Puts the sums of living runs into the record if those there are a minute old, or if it `is_saved_anyway`, and
    /// raises the notice of a run that told more than is possible. The caller saves the record.
    void mark(TaskRecord& record, bool is_saved_anyway);

    /// Returns what the task's agents have used, living ones included. One that has told nothing yet has a row, too.
    std::vector<UsageRow> rows_of(const TaskRecord& record) const;
    /// Returns the tokens of the task that count, as far as they are known; also doubtful ones.
    std::int64_t counted_of(const TaskRecord& record) const;
    /// Returns the tokens that count of the task and all below it. Doubtful ones of the others do not count.
    std::int64_t counted_of_family(const TaskRecord& record) const;
    /// Returns the tokens that count of a project's tasks today, without doubtful ones. The first call of a day reads
    /// the tasks that have ended today.
    std::int64_t counted_today(const std::string& project) const;
    /// Returns the accounts' windows that programs told last, by harness, with the time of the reading.
    const std::map<std::string, std::pair<UsageWindow, Timestamp>>& windows() const { return windows_; }

    /// Returns what is known of a living run; null: nothing.
    const RunUsage* usage_of(const TaskRecord& record, const AgentRun& run) const;
    /// Returns the reader of a run, for people; null: nothing was read yet.
    const agents::UsageReader* reader_of(const TaskRecord& record, const AgentRun& run) const;

  private:
    /// A run's program, as far as it was read.
    struct Reading {
        agents::UsageReader reader;
        std::map<std::string, std::string> env;
        std::vector<std::string> ids, told;
        std::vector<std::string> counted;  ///< files that an earlier daemon has counted
        RunUsage usage;
        bool is_catching_up = false;  ///< the rest is being read in the background
        std::int64_t base = 0;        ///< the tokens at `base_at`, for at_most
        Timestamp base_at{};
        Timestamp told_at{};  ///< of the last agent.usage
    };
    /// The tokens of a task that count for others.
    struct Known {
        std::string project;
        std::int64_t counted = 0;
        std::string day;
        std::int64_t today = 0;
    };

    Reading& reading_of(const TaskRecord& record, const AgentRun& run);
    const Reading* known_reading(const TaskRecord& record, const AgentRun& run) const;
    bool read_piece(const TaskRecord& record, const AgentRun& run, const agents::Harness& harness, Reading& reading);
    Awaitable<void> catch_up(TaskId id, RunId run);
    void note(const TaskRecord& record, const AgentRun& run, const agents::Harness& harness, Reading& reading,
              bool is_whole);
    const Known& known(const TaskId& id) const;
    void know(const TaskRecord& record) const;
    void saved(const TaskId& id);

    std::map<TaskId, std::map<RunId, Reading>> readings_;  ///< only of runs that are in a record
    mutable std::map<TaskId, Known> known_;                ///< tasks that were deleted today stay
    mutable std::string day_known_;                        ///< the day of which all tasks are in `known_`
    std::map<std::string, std::pair<UsageWindow, Timestamp>> windows_;
    mutable std::map<std::string, std::int64_t> today_;  ///< by project, on `day_known_`
};

/// Adds what a run has used to the fields of agent.exited.
void add_fields(std::map<std::string, Scalar>& fields, const Tokens& used);

}  // namespace orange
