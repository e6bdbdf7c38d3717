#pragma once

#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "common/model/task.hpp"

/// TASK.md as text: frontmatter and body (docs/files.md). The body is kept byte for byte.
namespace orange::store {

struct TaskText {
    std::string frontmatter;  ///< between the `---` lines, without them; empty where there is none
    std::string body;         ///< everything after; the whole text where there is no frontmatter
    bool has_frontmatter = false;
};

/// Splits at a first line `---` and the next line `---`. A text whose frontmatter never ends is all body.
TaskText split_task_text(std::string_view text);

/// The frontmatter that is the projection of a task, with the `---` lines.
std::string frontmatter_of(const Task& task);

/// A whole TASK.md.
std::string task_text(const Task& task, std::string_view body);

/// The task that a frontmatter describes: for folders made by hand or by an older version (`description` is summary,
/// status `reviewed` is reviewing, `failed` is cancelled, missing counters are 0). Unknown fields end up in
/// extra_frontmatter. An Error names the line.
Result<Task> task_from_frontmatter(std::string_view frontmatter);

/// The lines of the fields that Orange does not know, as they stand; empty where the frontmatter cannot be parsed.
/// `known` says which counters are its own.
std::string unknown_fields(std::string_view frontmatter, const Task& known);

/// An older version's extra_frontmatter, in which it may have kept what is a field of Orange's now.
std::string without_known_fields(const std::string& extra, const Task& known);

/// `unknown` (lines of unknown fields) with what `found` adds or says differently. A field that `found` leaves out
/// stays: agents write back copies that somebody extended in the meantime.
std::string with_unknown_fields(const std::string& unknown, const std::string& found);

/// "status: done, review_round: 0" – how `found` differs from the task's projection, for the frontmatter.restored
/// event. Empty where it does not differ in meaning; `updated_at` and unknown fields don't count.
std::string frontmatter_difference(const Task& task, std::string_view found);

}  // namespace orange::store
