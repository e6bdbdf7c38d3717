#pragma once

#include <string>

#include "daemon/agents/harness.hpp"
#include "daemon/process/environment.hpp"

namespace orange::agents {

/// Returns the variable's value; empty if it is not set.
std::string variable_in(const Environment& env, const std::string& name);

/// Returns the path of an item of a definition that begins with "/", with "~/" or with a variable ("$NAME/…"). Empty if
/// that variable is not set.
std::string folder_in(const std::string& item, const Environment& env);

/// The folder in which the program looks for the skills of the user with environment `env`: the first item of the
/// harness's `skills` that begins with "/", with "~/", or with a variable that is set ("$NAME/…"). It need not exist.
/// Empty if the harness names none, or none that is an absolute path.
std::string skills_folder(const Harness& harness, const Environment& env);

}  // namespace orange::agents
