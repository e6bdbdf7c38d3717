#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace orange {

/// A moment on the wall clock, to the millisecond: what goes into files and events. Durations are measured on the
/// steady clock, never by subtracting two of these.
using Timestamp = std::chrono::sys_time<std::chrono::milliseconds>;

/// Where the daemon gets its time from; tests have their own.
class Clock {
  public:
    virtual ~Clock() = default;
    virtual Timestamp now() const = 0;
};

class SystemClock final : public Clock {
  public:
    Timestamp now() const override;
};

/// RFC 3339 in UTC with milliseconds: "2026-11-20T10:49:03.120Z".
std::string to_rfc3339(Timestamp time);

/// Reads any RFC 3339 time (offset and fraction included); nothing where it is none.
std::optional<Timestamp> from_rfc3339(std::string_view text);

/// For people: "now", "42s", "5m", "3h", "2d".
std::string age_text(Timestamp then, Timestamp now);

}  // namespace orange
