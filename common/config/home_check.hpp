#pragma once

#include <filesystem>

#include "common/base/result.hpp"
#include "common/config/paths.hpp"

namespace orange {

/// The folder that a socket is in is what keeps other users out, on systems that ignore a socket's mode, too: it must
/// be a folder (no link to one), ours, and closed to everybody else. `forbidden`, with what mends it, where it is not,
/// and where it is somebody's git repository; io where there is none. The daemon asks before it binds, the client
/// before it connects.
///
/// One that was made by hand, with at most what belongs there before the first start (harnesses/, workflows/,
/// config.yml; all of it ours, and nothing that everybody may write), passes though it is open: nobody listens there
/// yet.
Result<void> check_home(const std::filesystem::path& home);

/// The same of any other folder, without exceptions: ours, no link, closed to everybody else.
Result<void> check_private_folder(const std::filesystem::path& folder);

/// 0700 where it does not exist, then check_private_folder().
Result<void> make_private_folder(const std::filesystem::path& folder);

/// 0700 where it does not exist, then check_home().
Result<void> make_home(const std::filesystem::path& home);

/// The same for the daemon: one that passes though it is open is closed. True where that was needed.
Result<bool> make_closed_home(const std::filesystem::path& home);

/// The folder of tmux's socket, where that is not the home: it is in /tmp, which is everybody's, and may be removed
/// there and made by somebody else at any time. To be asked immediately before each use of the socket, which may make
/// it anew.
Result<void> make_tmux_folder(const Paths& paths);

/// The folder has a `.git` of its own.
bool is_repository(const std::filesystem::path& home);

}  // namespace orange
