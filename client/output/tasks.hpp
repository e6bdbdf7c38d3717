#pragma once

#include <string>
#include <vector>

#include "client/output/terminal.hpp"
#include "common/base/clock.hpp"
#include "common/rpc/task_queries.hpp"

/// Pages about tasks, as text. Pure: what they show is what they are given, printable, no line wider than the style.
namespace orange::output {

/// The first eight characters: enough for people, and for `orange task show`.
std::string short_id(const std::string& id);

std::string task_list_page(const rpc::TaskList::Reply& reply, Timestamp now, const Style& style);
std::string task_page(const rpc::TaskShow::Reply& reply, Timestamp now, const Style& style);
std::string why_page(const rpc::TaskWhy::Reply& reply, const Style& style);
std::string history_page(const Json& events, const Style& style);

/// One line: id, status, branch and summary of a task that was just changed.
std::string task_line(const rpc::TaskView& task, const Style& style);
/// Sentences, indented and wrapped.
std::string notes_text(const std::vector<std::string>& notes, const Style& style);

}  // namespace orange::output
