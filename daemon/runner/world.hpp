#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/result.hpp"
#include "common/config/detach_key.hpp"
#include "common/config/paths.hpp"
#include "common/model/project.hpp"
#include "daemon/agents/executor.hpp"
#include "daemon/agents/harness.hpp"
#include "daemon/agents/launcher.hpp"
#include "daemon/async/keyed_mutex.hpp"
#include "daemon/files/file_system.hpp"
#include "daemon/forge/forge.hpp"
#include "daemon/git/git.hpp"
#include "daemon/git/programs.hpp"
#include "daemon/log/log.hpp"
#include "daemon/pool/pool.hpp"
#include "daemon/process/exit_watcher.hpp"
#include "daemon/process/process_runner.hpp"
#include "daemon/runner/transitions/journal.hpp"
#include "daemon/store/project_store.hpp"
#include "daemon/store/task_files.hpp"
#include "daemon/store/task_store.hpp"
#include "daemon/store/uploads.hpp"
#include "daemon/tmux/tmux.hpp"
#include "daemon/workflow/library.hpp"

namespace orange {

/// Each workspace has a range of so many ports.
inline constexpr int k_ports_each = 10;
inline constexpr int k_default_port_base = 20000, k_lowest_port_base = 1024;

/// The part of config.yml that the runner and the monitor use.
struct Settings {
    std::optional<std::chrono::milliseconds> poll_interval;  ///< unset: the workflow's
    bool exit_notification = true;                           ///< off: only the poll sees an agent's end (for a test)
    bool notify = true;
    std::vector<std::string> notify_command;  ///< argv, as notification.hpp fills it in; empty: desktop and tmux
    std::vector<std::string> reply_command;   ///< argv of the program whose lines are answers; empty: there is none
    std::map<std::string, std::string> env;   ///< for all agents
    DetachKey detach_key;
    ProjectSettings project_defaults;
    std::chrono::milliseconds pull_interval{std::chrono::seconds(30)};  ///< between two queries of pull requests
    std::chrono::milliseconds push_patience{std::chrono::seconds(60)};  ///< if other people push, too
    log::Level log_level = log::Level::info;
    std::chrono::milliseconds message_patience{std::chrono::minutes(5)};  ///< of one daemon, on the steady clock
    int port_base = k_default_port_base;                                  ///< the first port of the first workspace
    std::map<std::string, int> harness_limits;  ///< how many agents of each run at once, over all projects
    std::optional<int> umask;                   ///< of all children; unset: the login shell's
    int start_pressure = 10;    ///< percent of time in which memory keeps all programs waiting; above it none starts
    bool auto_restart = false;  ///< start the new program if the daemon's was replaced
    bool resume_after_reboot = false;                       ///< the first daemon after a reboot starts the agents again
    std::int64_t file_limit = store::k_default_file_limit;  ///< bytes of a file that is given to an agent
    std::string cluster_address =
        {};  ///< as ClusterAddress::parse() reads it; empty: agents on other machines cannot call
};

/// Returns ORANGE_PORT of the workspace that has that range; 0 if there are no such ports.
inline int first_port(const Settings& settings, std::optional<int> range) {
    constexpr int k_beyond = 65536 - k_ports_each;
    if (!range || *range > k_beyond / k_ports_each) return 0;
    const int first = settings.port_base + *range * k_ports_each;
    return first <= k_beyond ? first : 0;
}

/// The interfaces through which the runner and the actions reach the outside. app (or a test) makes and owns them. They
/// outlive everything that refers to them.
struct World {
    async::Executor executor;
    Paths paths;
    Installation installation;
    Settings settings;
    std::map<std::string, std::string> base_environment;  ///< the base of agents' environments
    FileSystem& files;
    ProcessRunner& processes;
    ExitWatcher& exits;
    const Clock& clock;
    Tmux& tmux;
    Git& git;
    Forge& forge;
    store::TaskStore& tasks;
    store::TaskFiles& task_files;
    store::ProjectStore& projects;
    Pool& pool;
    workflow::Library& workflows;
    agents::HarnessLibrary& harnesses;
    agents::ExecutorLibrary& executors;
    agents::Launcher& launcher;
    Journal& journal;
    async::KeyedMutex& task_locks;
    async::KeyedMutex& repositories;
    git::RememberedPrograms programs = {};
    /// Fails if Orange's own programs are gone, because an upgrade has removed them while this daemon runs.
    std::function<Result<void>()> check_programs = []() -> Result<void> { return {}; };
    /// Returns the socket of a run that a record has; empty if it has none. An Error if it runs on another machine, and
    /// could not call the daemon from there.
    std::function<Result<std::string>(const RunId&)> socket_of_run = [](const RunId&) { return std::string(); };
    /// The variables of the Slurm job in which the daemon was started. Only agents without an executor get them: they
    /// run in that job. Those of others would be steered by it.
    std::map<std::string, std::string> job_environment = {};
};

/// Returns a copy of the project. not_found if it is not registered: it may be removed from projects.json at any time,
/// also while its tasks run.
inline Result<Project> registered_project(const World& world, const std::string& name) {
    if (const auto* project = world.projects.find(name)) return *project;
    return Error(ErrorCode::not_found, "project " + name +
                                           " is not registered. To register its repository again, run in its folder:\n"
                                           "  orange project add --name " +
                                           name);
}

/// Returns the settings that are in force for a project; every member has a value.
inline ProjectSettings settings_of(const World& world, const Project& project) {
    return effective(world.settings.project_defaults, project.settings);
}

/// Returns where the project's merges go, for git::base_of().
inline git::MergesTo merges_of(const World& world, const Project& project) {
    return merges_of(settings_of(world, project));
}

}  // namespace orange
