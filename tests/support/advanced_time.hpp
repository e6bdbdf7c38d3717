#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "daemon/async/async.hpp"

namespace orange::test {

/// The machine's time, plus the milliseconds that `ahead` has. An alarm looks at it often, so it ends soon after the
/// time has been advanced past its moment.
class AdvancedTime final : public async::Time {
  public:
    explicit AdvancedTime(const std::atomic<std::int64_t>& ahead) : ahead_(ahead) {}

    Timestamp now() const override { return Time::now() + ahead(); }
    async::Moment steady_now() const override { return standing_.value_or(Time::steady_now()) + ahead(); }
    async::Moment::duration look_again_after(async::Moment::duration left) const override {
        return std::min<async::Moment::duration>(left, std::chrono::milliseconds(5));
    }

    /// From now on the steady clock shows only what is added.
    void stand_still() { standing_ = Time::steady_now(); }

  private:
    std::chrono::milliseconds ahead() const { return std::chrono::milliseconds(ahead_.load()); }

    const std::atomic<std::int64_t>& ahead_;
    std::optional<async::Moment> standing_;
};

/// While it is there, the test decides how the time of the daemon's code in this program advances.
class TestTime {
  public:
    TestTime() { async::set_time(time_); }
    ~TestTime() { async::set_time(before_); }
    TestTime(const TestTime&) = delete;
    TestTime& operator=(const TestTime&) = delete;

    void advance(std::chrono::milliseconds time) { ahead_ += time.count(); }
    /// Durations are what the test advances, to the nanosecond. Alarms end in no other way.
    void stand_still() { time_.stand_still(); }

  private:
    const async::Time& before_ = async::time();
    std::atomic<std::int64_t> ahead_{0};
    AdvancedTime time_{ahead_};
};

/// Advances the time once it holds, or after a minute of waiting in vain.
inline Awaitable<void> advance_when(TestTime& time, std::chrono::milliseconds by, std::function<bool()> holds) {
    const std::chrono::milliseconds step(5);
    for (int i = 0; i < 12'000 && !holds(); ++i) co_await async::sleep(step);
    time.advance(by);
}

}  // namespace orange::test
