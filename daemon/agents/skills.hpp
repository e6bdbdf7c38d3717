#pragma once

#include <string>

#include "daemon/agents/harness.hpp"
#include "daemon/process/environment.hpp"

namespace orange::agents {

/// The folder in which the program looks for the skills of the user with environment `env`: the first item of the
/// harness's `skills` that begins with "/", with "~/", or with a variable that is set ("$NAME/…"). It need not exist.
/// Empty if the harness names none, or none that is an absolute path.
std::string skills_folder(const Harness& harness, const Environment& env);

}  // namespace orange::agents
