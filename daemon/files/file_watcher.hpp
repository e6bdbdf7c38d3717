#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "daemon/files/file_system.hpp"

namespace orange {

/// Tells when a name in a folder was written, replaced, created or deleted (CLOSE_WRITE, MOVED_TO, CREATE, DELETE):
/// inotify on Linux, kqueue on macOS. A hint, never a promise: whoever watches also looks again at the poll.
class FileWatcher {
  public:
    using WatchId = std::int64_t;

    virtual ~FileWatcher() = default;
    /// `changed` gets the name; it is called on the daemon's thread, from the event loop, never from within watch().
    /// After an overflow of the kernel's queue it is called with an empty name. The folder need not stay.
    virtual Result<WatchId> watch(Path folder, std::function<void(const std::string&)> changed) = 0;
    /// Calls `written` at the next write to that file, a terminal's device included, and ends with it. The file is not
    /// kept: if it goes, the watch ends silently.
    virtual Result<WatchId> watch_once(Path file, std::function<void()> written) = 0;
    /// Nothing happens for a watch that has ended.
    virtual void unwatch(WatchId id) = 0;
};

}  // namespace orange
