#pragma once

#include <filesystem>

#include "common/base/result.hpp"
#include "common/config/paths.hpp"

namespace orange {

/// Checks that the home keeps other users out. The folder of a socket protects it even on systems that ignore a
/// socket's mode. So it must be a folder and no link, belong to this user, and be closed to all others. forbidden, with
/// the command that corrects it, if it is not, or if it is a git repository; io if it does not exist. The daemon calls
/// this before it binds, the client before it connects.
///
/// A folder that was made by hand passes although it is open, as long as it contains only what may exist before the
/// first start (harnesses/, workflows/, config.yml; all owned by this user, and nothing writable for everybody): no
/// daemon listens there yet.
Result<void> check_home(const std::filesystem::path& home);

/// Checks another folder in the same way without exceptions: owned by this user, no link, closed to all others.
Result<void> check_private_folder(const std::filesystem::path& folder);

/// Creates the folder with 0700 if it does not exist, then calls check_private_folder().
Result<void> make_private_folder(const std::filesystem::path& folder);

/// Creates the home with 0700 if it does not exist, then calls check_home().
Result<void> make_home(const std::filesystem::path& home);

/// Does the same for the daemon, and closes a home that passes although it is open. Returns true if it closed the home.
Result<bool> make_closed_home(const std::filesystem::path& home);

/// Creates and checks the folder of tmux's socket if that is not the home. The folder is in /tmp, where it may be
/// removed, and created by another user, at any time. So call this immediately before each use of the socket.
Result<void> make_tmux_folder(const Paths& paths);

/// Returns true if the folder has a `.git`.
bool is_repository(const std::filesystem::path& home);

}  // namespace orange
