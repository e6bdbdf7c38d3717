#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "client/output/row.hpp"
#include "client/output/terminal.hpp"
#include "common/rpc/attempt_methods.hpp"

/// The attempts of a task, side by side: pages of `orange compare` and of the dashboard. Pure, printable.
namespace orange::output {

/// A comparison in lines, and for each line which attempt it is about.
struct Comparison {
    Lines lines;
    std::vector<std::size_t> of_line;  ///< an index into the rows of the reply, counted from 1; 0: it is about all
};
/// Returns a table with a row and remarks for each attempt, which fits 80 columns, and below it which files all
/// attempts change, and which only one does.
Comparison compared(const rpc::TaskCompare::Reply& reply, const Style& style);

/// Returns the comparison, and below it what to do next, with the commands.
std::string compare_page(const rpc::TaskCompare::Reply& reply, const Style& style);

/// Returns the attempt that a person names by its name, its number in the table, or the beginning of its id; not_found
/// says which there are.
Result<rpc::ComparedAttempt> attempt_named(const rpc::TaskCompare::Reply& reply, std::string_view word);

/// Returns how a command line names the attempt: its name, or its short id if the name is no single word.
std::string attempt_word(const rpc::ComparedAttempt& attempt);

/// Returns what ends if the attempt is picked: "This cancels codex (working, 2 commits), and keeps its work".
std::vector<std::string> pick_facts(const rpc::TaskCompare::Reply& reply, const rpc::ComparedAttempt& picked);

/// Returns "claude:high: Round the total" for an attempt, or else the task's summary.
std::string summary_of(const rpc::TaskView& task);
/// Returns the task's status; "unpicked" for an attempt that ended because another one was picked.
std::string status_word(const rpc::TaskView& task);

}  // namespace orange::output
