#pragma once

#include <algorithm>
#include <chrono>
#include <string>

#include "common/base/clock.hpp"
#include "common/model/record.hpp"
#include "daemon/async/async.hpp"
#include "daemon/files/file_system.hpp"

namespace orange {

/// Returns a text such as "10 minutes".
std::string spoken(std::chrono::seconds time);

/// A time of the kernel's clock, as files have it.
using FileTime = std::chrono::sys_time<std::chrono::nanoseconds>;
/// Returns when a file below the folder was last changed. git's own folder and `except` do not count, and of a very
/// large folder only the first hundred thousand names do. Other coroutines run in between.
Awaitable<FileTime> last_change_in(FileSystem& files, Path folder, Path except);

/// The processor time and the writes of a run so far.
struct Traces {
    std::int64_t cpu_ms = 0;
    FileTime changed{};
    std::string body_hash;  ///< hash of TASK.md, which Orange writes, too
    async::Moment at{};
};

/// Measures since when a run has shown nothing new, used no processor time and changed no file. It is used for an agent
/// whose window Orange cannot read: it is not known whether the agent works, waits or hangs. Reading the traces costs
/// time, so it is done only while the window stands still, twice in the time after which the human gets a notice.
class Silence {
  public:
    /// Says what the window shows. A change ends the silence.
    void saw(const std::string& screen, Timestamp now);
    void end() { *this = Silence(); }
    /// Sets times that are later than `now` to `now`: the clock was wrong then.
    void end_times_at(Timestamp now) {
        since_ = std::min(since_, now);
        looked_ = std::min(looked_, now);
    }
    /// True if the traces should be looked at now.
    bool is_due(Timestamp now, std::chrono::seconds patience) const;
    /// Says that a caller reads the traces, so that no other caller does at the same time.
    void begin(Timestamp now) { looked_ = now; }
    /// Says which traces were found while the window showed this.
    void found(const std::string& screen, const Traces& traces, Timestamp now, std::chrono::seconds patience);
    bool is_silent() const { return silent_; }
    /// True if the run has shown or done something since it was first seen so.
    bool was_broken() const { return broken_; }

  private:
    std::string screen_;
    Timestamp since_{};   ///< zero: the window was not seen yet
    Timestamp looked_{};  ///< when a caller last began to read the traces
    Traces traces_;
    bool silent_ = false;
    bool broken_ = false;
};

}  // namespace orange
