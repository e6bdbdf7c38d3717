#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "daemon/async/awaitable.hpp"
#include "daemon/process/environment.hpp"
#include "daemon/process/process_runner.hpp"

/// Scopes of systemd's user manager: control groups that outlive the daemon's unit and the login session. A scope lasts
/// as long as its last process.
namespace orange::process {

/// Returns the words to put before a command, so that it starts in a scope with that name and with `options` of
/// systemd-run. Empty if `env` has no user manager (XDG_RUNTIME_DIR) or no systemd-run (PATH).
std::vector<std::string> scope_words(const Environment& env, const std::string& name,
                                     const std::vector<std::string>& options);

/// Keeps the rest of a scope alive if the kernel kills one of its processes for memory. Without this option systemd
/// ends the whole scope; an older systemd does not know the option for scopes, and does not end them.
inline constexpr const char* k_survive = "--property=OOMPolicy=continue";

/// The scopes of runs, all in orange.slice.
class RunScopes {
  public:
    /// `groups` is the folder in which the kernel shows control groups.
    RunScopes(ProcessRunner& runner, Environment env, std::filesystem::path groups = "/sys/fs/cgroup");

    /// Returns the words to put before a command, so that it starts in the scope of that run. `memory`: the limit in
    /// bytes; `processes`: the limit of processes; 0: none. The first call tries out which options this systemd knows.
    /// not_found if this machine has no user manager or no cgroup v2; another error if the manager refuses.
    Awaitable<Result<std::vector<std::string>>> words(std::string run, std::int64_t memory, std::int64_t processes);

  private:
    Awaitable<Result<void>> try_options();
    std::vector<std::string> words_for(const std::string& name, std::vector<std::string> options) const;

    ProcessRunner& runner_;
    Environment env_;
    std::filesystem::path groups_;
    std::optional<std::vector<std::string>> options_;  ///< options that this systemd knows; unset: not tried yet
};

}  // namespace orange::process
