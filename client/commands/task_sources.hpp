#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

/// Other sources of tasks than a command line.
namespace orange::commands {

struct TaskText {
    std::string summary;
    std::string context;
};

/// Reads a Markdown file into tasks: one for each heading on the level of the first one, with the text below it as
/// context. Headings in blocks of code do not count. An Error if there is no heading, text above the first one, or an
/// empty heading.
Result<std::vector<TaskText>> tasks_in(std::string_view markdown);

/// Reads an issue of k_issue_forge, by a number or a URL, with its program in this directory. Title, text and comments
/// become the context, fenced and marked as external text.
Result<TaskText> issue_task(const std::string& issue);

}  // namespace orange::commands
