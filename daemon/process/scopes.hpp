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

/// Scopes of systemd's user manager: control groups that the end of the daemon's unit and of the login session do not
/// reach. A scope lasts as long as its last process.
namespace orange::process {

/// The words before a command that start it in a scope with that name, and `options` of systemd-run. Empty if `env`
/// knows no user manager (XDG_RUNTIME_DIR) or no systemd-run (PATH).
std::vector<std::string> scope_words(const Environment& env, const std::string& name,
                                     const std::vector<std::string>& options);

/// Without this option, systemd ends the whole scope if the kernel ends one of its processes for memory. An older
/// systemd does not know the option for scopes, and does not end them.
inline constexpr const char* k_survive = "--property=OOMPolicy=continue";

/// The scopes of runs, all in orange.slice.
class RunScopes {
  public:
    /// `groups` is where the kernel shows control groups.
    RunScopes(ProcessRunner& runner, Environment env, std::filesystem::path groups = "/sys/fs/cgroup");

    /// The words before a command that start it in the scope of that run. `memory`: the most bytes that it may use; 0:
    /// any. The first call tries what this systemd can do. Fails with not_found if this machine has no user manager or
    /// no cgroup v2, and with another error if the manager refuses.
    Awaitable<Result<std::vector<std::string>>> words(std::string run, std::int64_t memory);

  private:
    Awaitable<Result<void>> try_options();
    std::vector<std::string> words_for(const std::string& name, std::vector<std::string> options) const;

    ProcessRunner& runner_;
    Environment env_;
    std::filesystem::path groups_;
    std::optional<std::vector<std::string>> options_;  ///< that this systemd knows; nothing: not tried yet
};

}  // namespace orange::process
