#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace orange {

/// A moment on the wall clock, to the millisecond, for files and events. Measure durations with the steady clock, never
/// as the difference of two timestamps.
using Timestamp = std::chrono::sys_time<std::chrono::milliseconds>;

/// The source of the daemon's time; tests have their own.
class Clock {
  public:
    virtual ~Clock() = default;
    virtual Timestamp now() const = 0;
};

class SystemClock final : public Clock {
  public:
    Timestamp now() const override;
};

/// Returns RFC 3339 in UTC with milliseconds: "2026-11-20T10:49:03.120Z".
std::string to_rfc3339(Timestamp time);

/// Parses an RFC 3339 time with any offset and fraction; nothing for another text.
std::optional<Timestamp> from_rfc3339(std::string_view text);

/// Returns the age for people: "now", "42s", "5m", "3h", "2d".
std::string age_text(Timestamp then, Timestamp now);

}  // namespace orange
