#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/ids.hpp"
#include "common/base/result.hpp"
#include "daemon/async/time.hpp"
#include "daemon/files/file_system.hpp"

/// Executors define where, and inside what, an agent runs: a container, a job of a cluster, another machine. They are
/// data (docs/executors.md): YAML files that this folder reads and pins, as it does for harnesses. The runner uses them
/// (runner/placing/placement.hpp).
namespace orange::agents {

/// The definition of an executor: executors/<name>.yml. The differences between executors are in these files, and
/// nowhere in the code.
struct Executor {
    std::string name;
    std::vector<std::string>
        separates;                    ///< of k_separable: the agent does not share these with the rest of the machine
    std::vector<std::string> check;   ///< argv that succeeds where the executor can be used; empty: nothing is tried
    std::vector<std::string> run;     ///< argv that starts {inner}, the shim of the agent, on the far side
    std::vector<std::string> stop;    ///< argv that ends the remains of a run, also if there are none
    std::vector<std::string> probe;   ///< argv that prints a line for each run that is there: NAME STATE PLACE
    std::vector<std::string> queued;  ///< the STATEs of a run that has not begun
    std::vector<std::string> over;    ///< the STATEs of a run that has ended, besides `ended`; empty: not known
    std::vector<std::string> ended;   ///< the STATEs of a run that the executor has ended itself
    std::vector<std::string> memory;  ///< words of {limits} if there is a limit of memory; {memory} inside
    std::vector<std::string> cpus;    ///< likewise, of processors; {cpus} inside
    std::vector<std::string> time;    ///< likewise, of minutes; {time} inside
    std::vector<std::string> processes;  ///< likewise, of processes; {processes} inside
    std::vector<std::string> disk;       ///< likewise, of disk; {disk} inside
    std::vector<std::string> readable;   ///< words of {binds} for a {path} that the run reads
    std::vector<std::string> writable;   ///< words of {binds} for a {path} that the run writes
    std::vector<std::string> emptied;    ///< words of {binds} for a {path} of which the run sees an empty folder
    std::vector<std::string> above;      ///< words of {binds} for a {path} of HOME that is above a file that it shows
    std::vector<std::string> hides;      ///< folders of which the agent sees only what {binds} and the options show
    std::vector<std::string> unset;      ///< variables that the agent does not get
    std::vector<std::string> inside;     ///< argv that runs {inner}, a command, behind the same wall without a run
    std::vector<std::string> without_network;  ///< words of {network} for a command that needs or gets none
    std::string image;                         ///< {image}, unless the setting `image` names another one; may be empty
    bool has_own_repository = false;           ///< agents have a repository of their own (daemon/git/own.hpp)
    bool has_checks_outside = false;           ///< the project's commands run outside of the wall: its owner decided so
    bool calls_back = false;   ///< its agents are on other machines, from which their shims connect to the daemon
    bool tried = true;         ///< somebody has seen a whole life in it pass
    std::string install;       ///< the command that installs its program
    std::string install_hint;  ///< how to get it, if no command does

    /// Returns true if it adds nothing: the shim in the window starts the agent itself, and no other process is
    /// started.
    bool is_direct() const { return run.size() == 1; }
    /// Returns true if its agents do not see the daemon's socket, but only the one of their run.
    bool hides_files() const;
    /// Returns true if the project's commands (checks, setup, teardown, run_command) run behind the wall, too.
    bool has_commands_inside() const { return has_own_repository && !has_checks_outside; }
    /// Returns true if it can take the network away from its agents, and from the commands behind their wall.
    bool limits_network() const;
    /// Returns true if a word of `run` has the placeholder.
    bool takes(std::string_view placeholder) const;
};

/// The words that `separates` of a definition may have.
inline constexpr std::string_view k_separable[] = {"files", "network", "processes", "memory", "machine"};

/// The executor of a task that does not name one.
inline constexpr const char* k_local = "local";

/// Reads one definition; an Error names line and column and says what would be right.
Result<Executor> load_executor(std::string_view text, std::string_view file_name);

/// Returns "orange-<run>", the name of the run in `run`, `stop` and the lines of `probe`.
std::string name_in_executor(std::string_view run);

/// The values of placeholders: exactly one word each, or a list of words that may be empty.
struct ExecutorValues {
    std::map<std::string, std::string> words;
    std::map<std::string, std::vector<std::string>> lists;
};

/// Returns the words of a command with its placeholders replaced, without a shell. Unknown placeholders stay.
std::vector<std::string> expanded(const std::vector<std::string>& words, const ExecutorValues& values);

/// Returns a number of bytes as Slurm, podman and systemd read it, for example "12288M".
std::string memory_word(std::int64_t bytes);

/// A line of the output of `probe`: the state of a run.
struct ProbedRun {
    bool is_queued = false;
    std::string state;
    std::string place;
};
/// Returns the line of the run that is called `name`; nullopt if there is none.
std::optional<ProbedRun> probed(std::string_view output, std::string_view name, const std::vector<std::string>& queued);

/// A definition and its file.
struct ExecutorEntry {
    Executor executor;
    std::filesystem::path path;
    std::string text;
    std::string hash;     ///< of the text
    std::string problem;  ///< why the definition cannot be used; empty: it can
};

/// Finds executors by name: ~/orange/executors/NAME.yml of the user, otherwise the shipped NAME.yml. Also owns the
/// definitions that tasks have pinned, in ~/orange/executors/.pinned/<hash>.yml. Reads the files at each call, because
/// they are few and small.
class ExecutorLibrary {
  public:
    ExecutorLibrary(FileSystem& files, std::filesystem::path shipped, std::filesystem::path user)
        : files_(files), shipped_(std::move(shipped)), user_(std::move(user)) {}

    std::vector<ExecutorEntry> list() const;
    /// Returns the definition. Errors: not_found lists the known names; invalid_argument if it is not valid.
    Result<ExecutorEntry> find(const std::string& name) const;

    /// Saves the definition for the tasks that begin with it, if it is not saved yet, and returns its hash.
    Result<std::string> pin(const ExecutorEntry& entry) const;
    /// Returns the definition that a task has pinned, even if the file has changed since.
    Result<Executor> pinned(const std::string& name, const std::string& hash) const;

    /// Notes that the definition with that hash has just been found usable for a task whose first start follows.
    void note_usable(const TaskId& task, const std::string& hash);
    /// Returns true, once, if that was noted within the last ten seconds.
    bool take_usable(const TaskId& task, const std::string& hash);

  private:
    ExecutorEntry read(const std::filesystem::path& path) const;
    std::map<std::string, std::filesystem::path> paths() const;
    std::filesystem::path pin_path(const std::string& hash) const { return user_ / ".pinned" / (hash + ".yml"); }

    FileSystem& files_;
    std::filesystem::path shipped_;
    std::filesystem::path user_;
    std::map<std::pair<TaskId, std::string>, async::Moment> usable_;  ///< when a definition was found usable for a task
};

/// Returns the Error for an executor whose program is in none of the folders of `path`, with the way to install it.
Error executor_not_installed(const Executor& executor, const std::string& path);

}  // namespace orange::agents
