#pragma once

#include <functional>
#include <string>
#include <vector>

#include "client/output/terminal.hpp"
#include "common/base/clock.hpp"
#include "common/rpc/task_queries.hpp"

/// Pages about tasks, as text, and as lines where the dashboard shows them, too. Pure: what they show is what they are
/// given, printable, no line wider than the style.
namespace orange::output {

/// Enough of a task's id to name it, as the daemon says.
std::string short_id(const rpc::TaskView& task);
/// A text, which may be commands, with the task's short id in place of its whole one.
std::string with_short_id(std::string text, const rpc::TaskView& task);
std::vector<std::string> with_short_ids(std::vector<std::string> texts, const rpc::TaskView& task);

/// A text of an error with the ids that people type, which the daemon sends beside the whole ones.
std::string with_short_ids(std::string text, const Error& error);

/// What to run for what the task needs.
std::string command_of(const rpc::TaskView& task);

/// What needs its human, each with the command that answers it on a line of its own.
std::string inbox_page(const rpc::TaskList::Reply& reply, Timestamp now, const Style& style);

std::string task_list_page(const rpc::TaskList::Reply& reply, Timestamp now, const Style& style, bool searched = false);
std::string task_page(const rpc::TaskShow::Reply& reply, Timestamp now, const Style& style);
/// The part of task_page() above the body. `brief`: without what the dashboard's list says, and what can wait.
Lines task_fields(const rpc::TaskShow::Reply& reply, Timestamp now, const Style& style, bool brief = false);
/// The dashboard's key that does what a command says; empty: none does.
using KeyFor = std::function<std::string(std::string_view command)>;
Lines why_lines(const rpc::TaskWhy::Reply& reply, const Style& style, const KeyFor& key = {});
/// One event.
Lines history_lines(const Json& event, const Style& style);
std::string history_page(const Json& events, const Style& style);

/// One line: id, status, branch and summary of a task that was just changed.
std::string task_line(const rpc::TaskView& task, const Style& style);
/// Sentences, indented and wrapped.
std::string notes_text(const std::vector<std::string>& notes, const Style& style);

}  // namespace orange::output
