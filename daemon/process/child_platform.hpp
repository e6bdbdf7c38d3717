#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <optional>

/// The parts of starting and reaping a child that differ between systems; open_pidfd() of child.hpp does, too.
namespace orange {

/// A child must inherit only the descriptors that it is given, whatever others a library opened. k_close_others is a
/// flag for posix_spawn. Where it is not enough (Linux), close_others() marks all descriptors of this process from 3 on
/// as close-on-exec, and returns 0 or errno.
extern const int k_close_others;
int close_others(posix_spawn_file_actions_t& actions);

/// Reaps a child of this process and returns its exit status as a shell shows it; 255 if it was reaped elsewhere. While
/// the child runs: nothing, or with `to_its_end` it waits.
std::optional<int> wait_for(pid_t pid, int pidfd, bool to_its_end);

}  // namespace orange
