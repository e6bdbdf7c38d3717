#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

/// Where tasks come from, other than a command line.
namespace orange::commands {

struct TaskText {
    std::string summary;
    std::string context;
};

/// A Markdown file as tasks: one for each heading of the level of the first heading, whose text below it is the
/// context. Headings in blocks of code are none. An Error if there is no heading, text above the first one, or an empty
/// heading.
Result<std::vector<TaskText>> tasks_in(std::string_view markdown);

/// An issue of GitHub, asked of `gh` in this directory: a number or a URL. Title, text and comments become the context,
/// fenced and marked as text from outside.
Result<TaskText> issue_task(const std::string& issue);

}  // namespace orange::commands
