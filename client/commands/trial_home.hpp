#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <vector>

#include "common/base/result.hpp"
#include "common/config/paths.hpp"

namespace orange::commands {

/// Makes a home for a trial: the harnesses of the user's own home, `env` and `detach_key` of its config.yml, and
/// nothing else of it, so that the user's checks, limits and notifications do not apply. From then on this process and
/// the daemon that it starts use that home.
Result<void> make_trial_home(const Paths& own, const std::filesystem::path& home);

/// The living processes that have the environment of an agent of that home; nothing if the system does not show it.
std::optional<std::vector<pid_t>> agents_of(const std::filesystem::path& home);

/// Ends the trial's daemon, its tmux server and whatever is left of its agents. The first problem is returned, but
/// everything is tried.
Result<void> end_trial_home(const std::filesystem::path& home);

}  // namespace orange::commands
