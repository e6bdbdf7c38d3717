#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "common/config/detach_key.hpp"
#include "common/config/paths.hpp"
#include "daemon/agents/harness.hpp"
#include "daemon/agents/launcher.hpp"
#include "daemon/async/keyed_mutex.hpp"
#include "daemon/files/file_system.hpp"
#include "daemon/git/git.hpp"
#include "daemon/git/programs.hpp"
#include "daemon/github/github.hpp"
#include "daemon/log/log.hpp"
#include "daemon/pool/pool.hpp"
#include "daemon/process/exit_watcher.hpp"
#include "daemon/process/process_runner.hpp"
#include "daemon/runner/journal.hpp"
#include "daemon/store/project_store.hpp"
#include "daemon/store/task_files.hpp"
#include "daemon/store/task_store.hpp"
#include "daemon/tmux/tmux.hpp"
#include "daemon/workflow/library.hpp"

namespace orange {

/// config.yml, as far as the runner and the monitor go by it.
struct Settings {
    std::optional<std::chrono::milliseconds> poll_interval;  ///< unset: the workflow's
    bool exit_notification = true;  ///< off: only the poll sees an agent's end (a test of the safety net)
    bool notify = true;
    std::vector<std::string> notify_command;  ///< argv, as notification.hpp fills it in; empty: desktop and tmux
    std::map<std::string, std::string> env;   ///< for all agents
    DetachKey detach_key;
    std::chrono::milliseconds push_patience{std::chrono::seconds(60)};  ///< with a remote that others push to as well
    log::Level log_level = log::Level::info;
    std::chrono::milliseconds message_patience{std::chrono::minutes(5)};  ///< of one daemon, on the steady clock
};

/// What the runner and the actions reach the outside through. Put together by app (or a test), owned there, outlives
/// everything that refers to it.
struct World {
    async::Executor executor;
    Paths paths;
    Installation installation;
    Settings settings;
    std::map<std::string, std::string> base_environment;  ///< what agents' environments are built on
    FileSystem& files;
    ProcessRunner& processes;
    ExitWatcher& exits;
    const Clock& clock;
    Tmux& tmux;
    Git& git;
    GitHub& github;
    store::TaskStore& tasks;
    store::TaskFiles& task_files;
    store::ProjectStore& projects;
    Pool& pool;
    workflow::Library& workflows;
    agents::HarnessLibrary& harnesses;
    agents::Launcher& launcher;
    Journal& journal;
    async::KeyedMutex& task_locks;
    async::KeyedMutex& repositories;
    git::RememberedPrograms programs = {};
};

}  // namespace orange
