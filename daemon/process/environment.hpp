#pragma once

#include <map>
#include <string>
#include <string_view>

namespace orange {

using Environment = std::map<std::string, std::string>;

/// `from` without what would redirect or inject into a child: GIT_*, TMUX*, LD_*, DYLD_*, BASH_ENV, ENV, ORANGE_*
/// other than ORANGE_HOME, and what a service manager told the daemon (NOTIFY_SOCKET, LISTEN_*, …). The base of an
/// agent's environment too.
Environment without_dangerous(Environment from);

/// This process's environment.
Environment current_environment();

/// For the daemon's own children: the daemon's environment without what is dangerous, and LC_ALL=C, since their output
/// is parsed.
Environment scrubbed_environment();

/// The folders of two PATHs, those of `first` first, none of them twice.
std::string joined_path(std::string_view first, std::string_view then);

/// The absolute path of an executable in `path` (a PATH); empty where there is none. Entries that are not absolute are
/// skipped: a program is never taken from whatever directory happens to be the current one. A name with a slash is
/// returned as it is.
std::string find_program(std::string_view name, std::string_view path);

}  // namespace orange
