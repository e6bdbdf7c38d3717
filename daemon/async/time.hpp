#pragma once

#include <asio/basic_waitable_timer.hpp>
#include <chrono>

#include "common/base/clock.hpp"

namespace orange::async {

/// A moment of the steady clock: durations and deadlines are measured with it.
using Moment = std::chrono::steady_clock::time_point;

/// The one source of the daemon's time: the wall clock (Clock), the steady clock and the sleep of alarms. By default
/// these are the machine's. A program of the tests sets a source whose time it can advance. Ages of files are no matter
/// of this: the kernel's clock writes the times of files, so they are compared with system_clock.
class Time : public Clock {
  public:
    Timestamp now() const override;
    virtual Moment steady_now() const;
    /// Returns how long an alarm that is due in `left` sleeps before it looks at the time again.
    virtual Moment::duration look_again_after(Moment::duration left) const { return left; }
};

const Time& time();
/// `source` has to outlive every alarm. Called before the first alarm is made.
void set_time(const Time& source);

/// The steady clock's moment of time().
inline Moment now() {
    return time().steady_now();
}

/// Lets Asio's timers use time().
struct AlarmClock {
    using time_point = Moment;
    using duration = Moment::duration;
    using rep = duration::rep;
    using period = duration::period;
    static constexpr bool is_steady = true;
    static time_point now() { return async::now(); }
    static duration to_wait_duration(const duration& left) { return time().look_again_after(left); }
    static duration to_wait_duration(const time_point& due) { return to_wait_duration(due - now()); }
};

/// The one type of timer of the daemon.
using Alarm = asio::basic_waitable_timer<AlarmClock, AlarmClock>;

}  // namespace orange::async
