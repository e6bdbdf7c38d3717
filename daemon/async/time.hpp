#pragma once

#include <asio/basic_waitable_timer.hpp>
#include <chrono>

#include "common/base/clock.hpp"

namespace orange::async {

/// A moment of the steady clock, which durations and deadlines use.
using Moment = std::chrono::steady_clock::time_point;

/// The single source of the daemon's time: the wall clock (Clock), the steady clock, and the sleep of alarms. The
/// default is the machine's time; programs of the tests set a source that they can advance. Ages of files do not use
/// it: the kernel sets the times of files, so they are compared with system_clock.
class Time : public Clock {
  public:
    Timestamp now() const override;
    virtual Moment steady_now() const;
    /// Returns how long an alarm that is due in `left` sleeps before it checks the time again.
    virtual Moment::duration look_again_after(Moment::duration left) const { return left; }
};

const Time& time();
/// Sets the source before the first alarm is made. `source` must outlive all alarms.
void set_time(const Time& source);

/// Returns the steady clock's moment of time().
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

/// The only type of timer in the daemon.
using Alarm = asio::basic_waitable_timer<AlarmClock, AlarmClock>;

}  // namespace orange::async
