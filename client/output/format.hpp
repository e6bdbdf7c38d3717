#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/model/json.hpp"

/// Lines for scripts, in the caller's own form: `{id} {needs}\t{fields.summary}`.
namespace orange::output {

/// What is wrong with a form, for a usage error; empty: nothing is. `names` are the paths that may stand in braces.
std::string form_problem(std::string_view form, const std::vector<std::string>& names);

/// One line: the form with the values of a task's JSON. A text is printable and of one line; what is absent is empty;
/// lists and maps are JSON.
std::string formed(std::string_view form, const Json& task);

/// What may stand in braces for a task: the short names and the dotted paths of its JSON.
std::vector<std::string> task_form_names();
/// The same for `task show`, whose JSON has more.
std::vector<std::string> shown_task_form_names();

}  // namespace orange::output
