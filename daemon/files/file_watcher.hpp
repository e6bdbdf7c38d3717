#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "daemon/files/file_system.hpp"

namespace orange {

/// Reports that a name in a folder was written, replaced, created or deleted (CLOSE_WRITE, MOVED_TO, CREATE, DELETE),
/// with inotify on Linux and kqueue on macOS. Reports are hints: events may be lost, so the watching code also checks
/// at the poll.
class FileWatcher {
  public:
    using WatchId = std::int64_t;

    virtual ~FileWatcher() = default;
    /// Watches a folder, which may be removed meanwhile. `changed` gets the changed name; an empty name after an
    /// overflow of the kernel's queue. `changed` is called from the event loop on the daemon's thread, never from
    /// within watch().
    virtual Result<WatchId> watch(Path folder, std::function<void(const std::string&)> changed) = 0;
    /// Calls `written` at the next write to that file, which may be a terminal's device, and ends the watch. The file
    /// is not kept open: if it is removed, the watch ends silently.
    virtual Result<WatchId> watch_once(Path file, std::function<void()> written) = 0;
    /// Ends a watch; does nothing if it has ended already.
    virtual void unwatch(WatchId id) = 0;
    /// Returns why the system refuses further watches, with what to do; empty if it does not.
    virtual std::string problem() const { return {}; }
};

}  // namespace orange
