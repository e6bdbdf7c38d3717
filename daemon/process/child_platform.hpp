#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <optional>

/// What starting and ending a child needs of the system itself; open_pidfd() of child.hpp is the third.
namespace orange {

/// A child inherits no descriptor but those that it is given, whatever a library opened: k_close_others is a flag for
/// posix_spawn, and close_others() does what the flag cannot do.
extern const int k_close_others;
int close_others(posix_spawn_file_actions_t& actions);

/// The exit status of a child of ours as a shell shows it, 255 where somebody else reaped it; nothing while it runs,
/// unless it is to be waited for.
std::optional<int> wait_for(pid_t pid, int pidfd, bool to_its_end);

}  // namespace orange
