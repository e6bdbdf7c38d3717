#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/model/json.hpp"

/// Lines for scripts in the caller's own format: `{id} {needs}\t{fields.summary}`.
namespace orange::output {

/// Returns what is wrong with a format, for a usage error; empty if it is valid. `names` are the allowed paths in
/// braces.
std::string form_problem(std::string_view form, const std::vector<std::string>& names);

/// Returns one line: the format with values of a task's JSON. Texts are printable and on one line, missing values are
/// empty, lists and maps are JSON.
std::string formed(std::string_view form, const Json& task);

/// Returns the allowed names in braces for a task: the short names and the dotted paths of its JSON.
std::vector<std::string> task_form_names();
/// Returns the allowed names for `task show`, whose JSON has more fields.
std::vector<std::string> shown_task_form_names();

}  // namespace orange::output
