#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/ids.hpp"
#include "common/base/result.hpp"

/// The home of an installation: its files and folders, its checks and its lock, and facts of this machine. The client
/// and the daemon find each other through it. The checks fail with `forbidden` if another user could read or change the
/// home; the message contains the command that corrects it. Files that end in _linux or _macos have one function each
/// that differs between the systems.
namespace orange {

/// The files and folders of Orange (docs/files.md), all below ORANGE_HOME, by default ~/orange.
struct Paths {
    std::filesystem::path home;

    std::filesystem::path socket() const { return home / "orange.sock"; }
    /// Contains a folder for each run, with the run's socket. Names are short, because a socket's path has at most 107
    /// bytes.
    std::filesystem::path sockets_of_runs() const { return home / "r"; }
    std::filesystem::path socket_of(const RunId& run) const { return sockets_of_runs() / run.value / "s"; }
    std::filesystem::path lock() const { return home / "oranged.lock"; }
    /// The PID namespace in which the agents of this home have their pids.
    std::filesystem::path pid_namespace() const { return home / "oranged.namespace"; }
    /// Returns tmux's socket: in the home, or, if that path is too long for a socket (tmux has no way around it), in a
    /// folder of its own, /tmp/orange-<uid>-<hash of the home>.
    std::filesystem::path tmux_socket() const;
    std::filesystem::path log() const { return home / "orange.log"; }
    std::filesystem::path config() const { return home / "config.yml"; }
    /// The last valid config.yml.
    std::filesystem::path good_config() const { return home / ".config.good.yml"; }
    std::filesystem::path projects() const { return home / "projects.json"; }
    /// The PATHs of people's terminals that contain agents' programs.
    std::filesystem::path programs() const { return home / "programs.json"; }
    std::filesystem::path workflows() const { return home / "workflows"; }
    std::filesystem::path harnesses() const { return home / "harnesses"; }
    std::filesystem::path executors() const { return home / "executors"; }
    /// Files that callers have sent, and that no call has used yet.
    std::filesystem::path uploads() const { return home / "uploads"; }
    std::filesystem::path workspaces() const { return home / "workspaces"; }
    std::filesystem::path tasks() const { return home / "tasks"; }
    /// Things that the daemon has put aside to be removed: in the home, and in folders that may be on other file
    /// systems.
    std::vector<std::filesystem::path> removed() const {
        return {home / ".removed", tasks() / ".removed", workspaces() / ".removed"};
    }
};

/// Returns the paths for ORANGE_HOME (must be absolute), or else for HOME, or else for the home folder in the password
/// database.
Result<Paths> paths_from_environment();

/// The installation of the running program: `bin` holds orange, oranged and orange-agent; `share` the shipped
/// workflows/, harnesses/, executors/ and skills/. In a build tree `share` is the source tree, if it belongs to this
/// user. ORANGE_SHARE overrides.
struct Installation {
    std::filesystem::path bin;
    std::filesystem::path share;
};
/// Finds the installed files; not_found if the shipped workflows are missing.
Result<Installation> find_installation();

}  // namespace orange
