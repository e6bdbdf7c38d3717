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
    virtual void unwatch(WatchId id) = 0;
};

}  // namespace orange
