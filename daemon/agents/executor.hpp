#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "daemon/files/file_system.hpp"

/// Executors: where and inside what an agent runs, as data (docs/executors.md).
namespace orange::agents {

/// executors/<name>.yml. What differs between executors is in these files and nowhere in the code.
struct Executor {
    std::string name;
    std::vector<std::string>
        separates;                      ///< of k_separable: the agent does not share these with the rest of the machine
    std::vector<std::string> check;     ///< argv that succeeds where the executor can be used; empty: nothing is tried
    std::vector<std::string> run;       ///< argv that starts {inner}, the shim of the agent, on the far side
    std::vector<std::string> stop;      ///< argv that ends the remains of a run, also if there are none
    std::vector<std::string> probe;     ///< argv that prints a line for each run that is there: NAME STATE PLACE
    std::vector<std::string> queued;    ///< the STATEs of a run that has not begun
    std::vector<std::string> memory;    ///< words of {limits} if there is a limit of memory; {memory} inside
    std::vector<std::string> readable;  ///< words of {binds} for a {path} that the run reads
    std::vector<std::string> writable;  ///< words of {binds} for a {path} that the run writes
    std::vector<std::string> unset;     ///< variables that the agent does not get
    bool tried = true;                  ///< somebody has seen a whole life in it pass
    std::string install;                ///< the command that installs its program
    std::string install_hint;           ///< how to get it, if no command does

    /// Returns true if it adds nothing: the shim in the window starts the agent itself, and no other process is
    /// started.
    bool is_direct() const { return run.size() == 1; }
    /// Returns true if its agents do not see the daemon's socket, but only the one of their run.
    bool hides_files() const;
    /// Returns true if a word of `run` has the placeholder.
    bool takes(std::string_view placeholder) const;
};

/// The words that `separates` of a definition may have.
inline constexpr std::string_view k_separable[] = {"files", "network", "processes", "memory", "machine"};

/// The executor of a task that names none.
inline constexpr const char* k_local = "local";

/// Reads one definition; an Error names line and column and says what would be right.
Result<Executor> load_executor(std::string_view text, std::string_view file_name);

/// "orange-<run>": what the executor calls the run, in `run`, `stop` and the lines of `probe`.
std::string name_in_executor(std::string_view run);

/// The values of placeholders: one word, or several, perhaps none.
struct ExecutorValues {
    std::map<std::string, std::string> words;
    std::map<std::string, std::vector<std::string>> lists;
};

/// The words of a command with its placeholders replaced, never through a shell. Unknown ones stay as they are.
std::vector<std::string> expanded(const std::vector<std::string>& words, const ExecutorValues& values);

/// "12288M" of a number of bytes, as Slurm, podman and systemd read it.
std::string memory_word(std::int64_t bytes);

/// A line that `probe` prints of a run.
struct ProbedRun {
    bool is_queued = false;
    std::string state;
    std::string place;
};
/// The line of that run, which is called `name`; nothing if there is none.
std::optional<ProbedRun> probed(std::string_view output, std::string_view name, const std::vector<std::string>& queued);

/// A definition and where it is from.
struct ExecutorEntry {
    Executor executor;
    std::filesystem::path path;
    std::string text;
    std::string hash;     ///< of the text
    std::string problem;  ///< why the definition cannot be used; empty: it can
};

/// ~/orange/executors/NAME.yml over the shipped ones, and the definitions that tasks have pinned, in
/// ~/orange/executors/.pinned/<hash>.yml. Read anew at each call: the files are few and small.
class ExecutorLibrary {
  public:
    ExecutorLibrary(FileSystem& files, std::filesystem::path shipped, std::filesystem::path user)
        : files_(files), shipped_(std::move(shipped)), user_(std::move(user)) {}

    std::vector<ExecutorEntry> list() const;
    /// not_found says which there are; invalid_argument for a broken definition.
    Result<ExecutorEntry> find(const std::string& name) const;

    /// Keeps the definition for tasks that have begun with it, once, and returns its hash.
    Result<std::string> pin(const ExecutorEntry& entry) const;
    /// The definition that a task has pinned, whatever the file says now.
    Result<Executor> pinned(const std::string& name, const std::string& hash) const;

  private:
    ExecutorEntry read(const std::filesystem::path& path) const;
    std::map<std::string, std::filesystem::path> paths() const;
    std::filesystem::path pin_path(const std::string& hash) const { return user_ / ".pinned" / (hash + ".yml"); }

    FileSystem& files_;
    std::filesystem::path shipped_;
    std::filesystem::path user_;
};

/// The program that the executor starts is in none of the folders of `path`: what to do.
Error executor_not_installed(const Executor& executor, const std::string& path);

}  // namespace orange::agents
