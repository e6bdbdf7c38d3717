#pragma once

#include <functional>
#include <string>
#include <vector>

#include "client/output/table.hpp"
#include "client/output/terminal.hpp"
#include "common/base/clock.hpp"
#include "common/rpc/task_queries.hpp"

/// Pages about tasks as text, or as lines if the dashboard shows them, too. Pure: they show only their arguments,
/// printable, with no line wider than the style.
namespace orange::output {

/// Returns the task's short id.
std::string short_id(const rpc::TaskView& task);
/// Returns a text, which may be commands, with the task's short id in place of the whole one.
std::string with_short_id(std::string text, const rpc::TaskView& task);
std::vector<std::string> with_short_ids(std::vector<std::string> texts, const rpc::TaskView& task);

/// Returns the text of an error with short ids, which the daemon sends beside the whole ones.
std::string with_short_ids(std::string text, const Error& error);

/// Returns the command for the task's need.
std::string command_of(const rpc::TaskView& task);

/// Returns the tasks that need their human, each with the command for its need on its own line.
std::string inbox_page(const rpc::TaskList::Reply& reply, Timestamp now, const Style& style);

std::string task_list_page(const rpc::TaskList::Reply& reply, Timestamp now, const Style& style, bool searched = false);
/// A part of a long list. `shape` is that of the part before, and becomes that of this part. ClashNotes has the
/// sentences that stand below the last part.
std::string task_list_part(const rpc::TaskList::Reply& reply, Timestamp now, const Style& style, bool searched,
                           Table::Shape& shape);
/// Returns "not compared: a.bin (2 GiB)" for uncommitted files that are too large to be read; empty if there is none.
std::string large_files_text(const rpc::ChangeCounts& changes);
std::string task_page(const rpc::TaskShow::Reply& reply, Timestamp now, const Style& style);
/// Returns the part of task_page() above the body. `brief`: without facts that the dashboard's list shows, and less
/// important ones.
Lines task_fields(const rpc::TaskShow::Reply& reply, Timestamp now, const Style& style, bool brief = false);
/// Returns the dashboard's key that does the same as a command; empty if there is none.
using KeyFor = std::function<std::string(std::string_view command)>;
Lines why_lines(const rpc::TaskWhy::Reply& reply, const Style& style, const KeyFor& key = {});
/// Returns the lines of one event. `used`: what the phase that ends with it has used, TokenSteps::next().
Lines history_lines(const Json& event, const Style& style, const std::string& used = {});
std::string history_page(const Json& events, const Style& style);

/// Returns one line about a changed task: id, status, branch and summary.
std::string task_line(const rpc::TaskView& task, const Style& style);
/// Returns sentences, indented and wrapped.
std::string notes_text(const std::vector<std::string>& notes, const Style& style);

}  // namespace orange::output
