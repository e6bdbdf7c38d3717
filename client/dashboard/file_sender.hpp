#pragma once

#include <string>
#include <vector>

#include "client/dashboard/state.hpp"
#include "common/base/result.hpp"
#include "common/config/paths.hpp"

namespace orange::dashboard {

/// Sends the files to this machine's daemon on a connection of its own, and returns the ids that a request names in
/// `files`. Blocks until the daemon has them all. The error has the form's field "files" in its details.
Result<std::vector<std::string>> send_files(const Paths& paths, const std::vector<AgentFile>& files);

}  // namespace orange::dashboard
