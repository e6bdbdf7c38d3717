#pragma once

#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "common/model/task.hpp"

/// TASK.md as text: frontmatter and body (docs/files.md). The body is kept byte for byte.
namespace orange::store {

struct TaskText {
    std::string frontmatter;  ///< the text between the `---` lines; empty if there is none
    std::string body;         ///< everything after the frontmatter; without one, the whole text
    bool has_frontmatter = false;
};

/// Splits a text at a first line `---` and the next line `---`. If the frontmatter does not end, the whole text is
/// body.
TaskText split_task_text(std::string_view text);

/// Returns the frontmatter of a task, with the `---` lines.
std::string frontmatter_of(const Task& task);

/// Returns a whole TASK.md.
std::string task_text(const Task& task, std::string_view body);

/// Reads a task from a frontmatter, for folders that a person or an older version made (`description` is summary,
/// status `reviewed` is reviewing, `failed` is cancelled, missing counters are 0). Unknown fields go to
/// extra_frontmatter. An Error names the line.
Result<Task> task_from_frontmatter(std::string_view frontmatter);

/// Returns the lines of the fields that Orange does not know, unchanged; empty if the frontmatter cannot be parsed.
/// `known` names the task's own counters.
std::string unknown_fields(std::string_view frontmatter, const Task& known);

/// Returns an older version's extra_frontmatter without fields that Orange knows today.
std::string without_known_fields(const std::string& extra, const Task& known);

/// Returns `unknown` (lines of unknown fields) with the fields that `found` adds or changes. A field that is missing in
/// `found` stays, because agents write back copies that another editor has extended meanwhile.
std::string with_unknown_fields(const std::string& unknown, const std::string& found);

/// Returns how `found` differs from the task's fields, for the event frontmatter.restored: "status: done, review_round:
/// 0". Empty if it has the same meaning; `updated_at` and unknown fields do not count.
std::string frontmatter_difference(const Task& task, std::string_view found);

}  // namespace orange::store
