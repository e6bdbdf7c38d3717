#pragma once

#include <chrono>
#include <string>

#include "common/base/clock.hpp"
#include "common/model/record.hpp"
#include "daemon/async/async.hpp"
#include "daemon/files/file_system.hpp"

namespace orange {

/// "10 minutes"
std::string spoken(std::chrono::seconds time);

/// When a file below the folder was last changed, by the kernel's clock. git's own folder and `except` do not count,
/// and of a very large folder only the first hundred thousand names do. It lets others run in between.
using FileTime = std::chrono::sys_time<std::chrono::nanoseconds>;
Awaitable<FileTime> last_change_in(FileSystem& files, Path folder, Path except);

/// The processor time and the writes of a run so far.
struct Traces {
    std::int64_t cpu_ms = 0;
    FileTime changed{};
    std::string body_hash;  ///< of TASK.md, which Orange writes, too
    async::Moment at{};
};

/// Since when a run has shown nothing new, used no processor time and changed no file. For an agent whose window Orange
/// cannot read; whether it works, waits or hangs is not known. The traces cost something, so they are looked at only
/// while the window stands still, twice in the time after which a human is told.
class Silence {
  public:
    /// The window shows this. What it showed before ends the silence if it was something else.
    void saw(const std::string& screen, Timestamp now);
    void end() { *this = Silence(); }
    /// True if the traces should be looked at now.
    bool is_due(Timestamp now, std::chrono::seconds patience) const;
    /// Notes that a caller looks at the traces, so that no other one does meanwhile.
    void begin(Timestamp now) { looked_ = now; }
    /// The traces while the window showed this.
    void found(const std::string& screen, const Traces& traces, Timestamp now, std::chrono::seconds patience);
    bool is_silent() const { return silent_; }

  private:
    std::string screen_;
    Timestamp since_{};   ///< nothing: the window was not seen yet
    Timestamp looked_{};  ///< when somebody last began to look at the traces
    Traces traces_;
    bool silent_ = false;
};

}  // namespace orange
