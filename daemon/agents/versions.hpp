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

/// The versions that installed programs report. The programs are queried side by side, with a short deadline; an answer
/// holds until the program's file changes.
class Versions {
  public:
    Versions(ProcessRunner& processes, async::Executor executor)
        : processes_(processes), executor_(std::move(executor)) {}

    /// Returns the versions by harness name. A program that is not installed, has no version_args, or does not answer,
    /// is not in the result.
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

/// Returns a sentence for each program of `needs` that runs the harness's program (its first line names it), and that
/// is older than the definition requires. `environment` is that of the agent. A version that cannot be read does not
/// count.
Awaitable<std::vector<std::string>> unmet_needs(ProcessRunner& processes, HarnessEntry entry,
                                                std::map<std::string, std::string> environment);

/// Returns a text such as "2.1.401 (measured with 2.1.332)": the program's version, and the version with which its
/// definition was measured if that is a different one. Empty if the version is not known.
std::string version_text(const std::string& version, const std::string& measured);

/// Returns the version in a program's output: the first word that begins with a digit (after a "v") and has a dot.
std::string version_in(std::string_view output);

}  // namespace orange::agents
