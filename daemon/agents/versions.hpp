#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/agents/harness.hpp"
#include "daemon/async/async.hpp"
#include "daemon/process/process_runner.hpp"

namespace orange::agents {

/// What installed programs say their version is. Asked side by side, with a short deadline; an answer holds until the
/// program's file changes.
class Versions {
  public:
    Versions(ProcessRunner& processes, async::Executor executor)
        : processes_(processes), executor_(std::move(executor)) {}

    /// By harness name; nothing for a program that is not installed, is not to be asked, or does not answer.
    Awaitable<std::map<std::string, std::string>> of(std::vector<HarnessEntry> entries,
                                                     std::map<std::string, std::string> environment);

  private:
    struct Known {
        std::filesystem::file_time_type changed;
        std::vector<std::string> args;
        std::string version;
    };
    struct Asking;
    Awaitable<void> ask(HarnessEntry entry, std::map<std::string, std::string> environment,
                        std::shared_ptr<Asking> asking);

    ProcessRunner& processes_;
    async::Executor executor_;
    std::map<std::string, Known> known_;  ///< by path
};

/// A sentence for each program of `needs` that runs the harness's program (its first line names it), and that is older
/// than the definition says. `environment` is what the agent gets. A version that cannot be read is no reason.
Awaitable<std::vector<std::string>> unmet_needs(ProcessRunner& processes, HarnessEntry entry,
                                                std::map<std::string, std::string> environment);

/// "2.1.401 (measured with 2.1.332)": the program's version, and with which its definition was measured if that is
/// another one. Empty if the version is not known.
std::string version_text(const std::string& version, const std::string& measured);

/// The version in what a program prints: the first word that begins with a digit (after a "v") and has a dot.
std::string version_in(std::string_view output);

}  // namespace orange::agents
