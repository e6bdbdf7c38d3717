#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "daemon/async/async.hpp"

namespace orange::async {

/// An answer that costs much to find, and is the same for all who want it at a time. It is found once for all who ask
/// before somebody begins to find it. A hundred askers cost two or three times as much as one.
template <class T>
class SharedAnswer {
  public:
    using Find = std::function<Awaitable<T>()>;
    explicit SharedAnswer(Find find) : find_(std::move(find)) {}

    /// Returns the answer as it is at some moment after the call.
    Awaitable<std::shared_ptr<const T>> get() {
        const auto executor = co_await this_executor();
        if (!finding_) finding_ = std::make_shared<Mutex>(executor);
        const auto next = begun_ + 1;  // what is being found now may be from before the call
        const auto lock = co_await Mutex::acquire(finding_);
        if (last_number_ < next) {
            const auto number = ++begun_;
            auto found = co_await find_();
            last_ = std::make_shared<const T>(std::move(found));
            last_number_ = number;
        }
        co_return last_;
    }
    /// Returns how often somebody has begun to find the answer.
    std::uint64_t begun() const { return begun_; }

  private:
    Find find_;
    std::shared_ptr<Mutex> finding_;
    std::uint64_t begun_ = 0;
    std::shared_ptr<const T> last_;
    std::uint64_t last_number_ = 0;
};

}  // namespace orange::async
