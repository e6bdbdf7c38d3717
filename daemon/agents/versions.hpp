#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/agents/harness.hpp"
#include "daemon/async/async.hpp"
#include "daemon/files/file_system.hpp"
#include "daemon/process/process_runner.hpp"

namespace orange::agents {

/// The versions that installed programs report. A program is asked once by each daemon, and again when its file
/// changes. Two are asked at a time, because on a busy machine none of many would answer soon. versions.json keeps the
/// answers by the identity of the program's file, for a program that does not answer in time.
class Versions {
  public:
    struct Patience {
        std::chrono::milliseconds call{15'000};     ///< of of()
        std::chrono::milliseconds program{60'000};  ///< a late answer counts for later calls
    };
    Versions(ProcessRunner& processes, async::Executor executor, FileSystem& files, Path file)
        : Versions(processes, std::move(executor), files, std::move(file), Patience()) {}
    Versions(ProcessRunner& processes, async::Executor executor, FileSystem& files, Path file, Patience patience);

    /// Returns the versions by harness name. A program that is not installed, has no version_args, or has never
    /// answered, is not in the result. Writes nothing.
    Awaitable<std::map<std::string, std::string>> of(std::vector<HarnessEntry> entries,
                                                     std::map<std::string, std::string> environment);

    /// Returns a program's version without a wait. If it is not known, returns an empty text and asks the program, for
    /// a later call.
    std::string known(const HarnessEntry& entry, const std::map<std::string, std::string>& environment);

    /// Writes new answers to the file. Failures are logged: an answer can be asked for again.
    void keep();

    /// Returns true once for each version of a harness's program, for all daemons of this home.
    bool is_first_report(const std::string& harness, const std::string& version);

  private:
    struct KnownVersion {
        std::string identity;
        std::string version;
        bool asked = false;  ///< by this daemon
    };
    struct State;
    static Awaitable<void> ask(std::shared_ptr<State> state, HarnessEntry entry,
                               std::map<std::string, std::string> environment);
    static const KnownVersion* known_of(const State& state, const HarnessEntry& entry);
    void begin(const HarnessEntry& entry, const std::map<std::string, std::string>& environment);
    void load();
    void save();

    FileSystem& files_;
    Path file_;
    Patience patience_;
    async::Executor executor_;
    std::shared_ptr<State> state_;  ///< outlives this object while programs are asked
};

/// Returns a text that differs if the file, or the one to which a link leads, is another one or was changed; empty if
/// there is none.
std::string identity_of(const std::string& program);

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
