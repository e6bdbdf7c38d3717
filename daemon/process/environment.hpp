#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace orange {

using Environment = std::map<std::string, std::string>;

/// Returns `from` without variables that would redirect a child or inject code into it: GIT_*, TMUX*, LD_*, DYLD_*,
/// BASH_ENV, ENV, ORANGE_* other than ORANGE_HOME, and those of a service manager for the daemon alone (NOTIFY_SOCKET,
/// LISTEN_*, …). The result is also the base of an agent's environment.
Environment without_dangerous(Environment from);

/// Returns the variables of `all` that a job of Slurm has set for its programs; none outside of a job. They would steer
/// the jobs that a program in it starts.
Environment variables_of_job(const Environment& all);

/// Returns this process's environment.
Environment current_environment();

/// Returns the environment for the daemon's own children: without_dangerous() of the daemon's, and LC_ALL=C, because
/// their output is parsed.
Environment scrubbed_environment();

/// Returns the folders of two PATHs, those of `first` first, each once.
std::string joined_path(std::string_view first, std::string_view then);

/// Returns the words, or NAME=VALUE texts, as execve() takes them; they point into `texts`.
std::vector<char*> pointers_to(const std::vector<std::string>& texts);

/// Returns the PATH of `env`, or the usual one if it has none.
std::string path_in(const Environment& env);

/// Returns the absolute path of an executable in `path` (a PATH); empty if there is none. Relative entries are skipped,
/// so that no program of the current directory is run. A name with a slash is returned unchanged.
std::string find_program(std::string_view name, std::string_view path);

}  // namespace orange
