#pragma once

#include <filesystem>
#include <string>

#include "common/base/ids.hpp"
#include "common/base/result.hpp"

namespace orange {

/// Where everything is (docs/files.md): all below ORANGE_HOME, by default ~/orange.
struct Paths {
    std::filesystem::path home;

    std::filesystem::path socket() const { return home / "orange.sock"; }
    /// The folder with a folder for each run, which holds the run's socket. The names are short: a socket's path has at
    /// most 107 bytes.
    std::filesystem::path sockets_of_runs() const { return home / "r"; }
    std::filesystem::path socket_of(const RunId& run) const { return sockets_of_runs() / run.value / "s"; }
    std::filesystem::path lock() const { return home / "oranged.lock"; }
    /// In the home; where that is too long for a socket's path, which tmux cannot get around, in a folder of its own:
    /// /tmp/orange-<uid>-<hash of the home>.
    std::filesystem::path tmux_socket() const;
    std::filesystem::path log() const { return home / "orange.log"; }
    std::filesystem::path config() const { return home / "config.yml"; }
    /// The last config.yml that the daemon could use.
    std::filesystem::path good_config() const { return home / ".config.good.yml"; }
    std::filesystem::path projects() const { return home / "projects.json"; }
    /// The PATHs of people's terminals in which agents' programs were found.
    std::filesystem::path programs() const { return home / "programs.json"; }
    std::filesystem::path workflows() const { return home / "workflows"; }
    std::filesystem::path harnesses() const { return home / "harnesses"; }
    std::filesystem::path executors() const { return home / "executors"; }
    std::filesystem::path workspaces() const { return home / "workspaces"; }
    std::filesystem::path tasks() const { return home / "tasks"; }
};

/// From ORANGE_HOME (must be absolute), else HOME, else the password database.
Result<Paths> paths_from_environment();

/// What is installed beside the running program: `bin` holds orange, oranged and orange-agent; `share` the shipped
/// workflows/, harnesses/, executors/ and skills/. In a build tree `share` is the source tree, if it belongs to this
/// user. ORANGE_SHARE overrides.
struct Installation {
    std::filesystem::path bin;
    std::filesystem::path share;
};
Result<Installation> find_installation();

}  // namespace orange
