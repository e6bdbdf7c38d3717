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

/// The version in what a program prints: the first word that begins with a digit (after a "v") and has a dot.
std::string version_in(std::string_view output);

}  // namespace orange::agents
