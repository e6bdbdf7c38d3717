#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/ids.hpp"
#include "common/model/record.hpp"

namespace orange::store {

/// A text that thousands of tasks share, such as a status. Each text is kept once, until the daemon ends.
class SharedText {
  public:
    explicit SharedText(std::string_view text = {});
    operator const std::string&() const { return *text_; }  // NOLINT(google-explicit-constructor)
    const std::string& text() const { return *text_; }
    /// Equal texts are one text.
    bool operator==(const SharedText&) const = default;

  private:
    const std::string* text_;
};

/// A merge into a branch that was not pushed.
struct UnpushedMerge {
    std::string commit;
    std::string base;
    std::string target;

    bool operator==(const UnpushedMerge&) const = default;
};

/// The part of a task's record that lists, names and other tasks need. It is in memory for every task; of a task that
/// rests it is all that is in memory.
struct Brief {
    TaskId id;
    TaskId parent;
    SharedText project;
    SharedText workflow;
    SharedText workflow_hash;
    SharedText status;
    std::string branch;
    std::string summary;
    Timestamp created_at{};
    bool ended = false;       ///< has_ended()
    bool unfinished = false;  ///< it has an intent
    bool unapproved = false;
    bool into_parent = false;
    std::shared_ptr<const UnpushedMerge> unpushed;
};

Brief brief_of(const TaskRecord& record);

/// Returns true if the task's state is terminal: by its workflow, or because it is `done` or `cancelled`, which are
/// terminal in every workflow. For an imported task only these two are known.
bool has_ended(const TaskRecord& record);
bool is_end(const std::string& status);

/// Returns true if nothing of the task makes the daemon act: the task has ended, has no agent, no workspace, no notice
/// and no message, and its pull request is not one that may be opened again. The store keeps only the brief of such a
/// task in memory.
bool rests(const TaskRecord& record);

/// Returns the brief of a task that rests, read from its state.json in one pass: a start reads thousands of them.
/// Returns nothing if the task does not rest, or if the text is not as Orange writes it; the caller then parses it.
std::optional<Brief> brief_of_resting(std::string_view state);

/// The part of a record that says what its task has used.
struct Spent {
    std::vector<UsageRow> usage;
    std::vector<TimeRow> times;
};
Spent spent_of(const TaskRecord& record);
/// Returns that part of a state.json, in one pass: sums read thousands of them. Returns nothing if the text is not as
/// Orange writes it; the caller then parses it.
std::optional<Spent> spent_in(std::string_view state);

}  // namespace orange::store
