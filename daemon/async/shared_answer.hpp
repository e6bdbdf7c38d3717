#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "daemon/async/async.hpp"

namespace orange::async {

/// Shares the result of an expensive search among concurrent callers: it is found once for all that ask before the
/// search begins. A search lets all other ready work run before it begins, so a hundred callers that come together cost
/// one search, also if it never waits.
template <class T>
class SharedAnswer {
  public:
    using Find = std::function<Awaitable<T>()>;
    explicit SharedAnswer(Find find) : find_(std::move(find)) {}

    /// Returns a result that was found after the call.
    Awaitable<std::shared_ptr<const T>> get() {
        const auto executor = co_await this_executor();
        if (!finding_) finding_ = std::make_shared<Mutex>(executor);
        const auto next = begun_ + 1;  // a search that is running may have begun before the call
        const auto lock = co_await Mutex::acquire(finding_);
        if (last_number_ < next) {
            co_await yield();
            const auto number = ++begun_;
            auto found = co_await find_();
            last_ = std::make_shared<const T>(std::move(found));
            last_number_ = number;
        }
        co_return last_;
    }
    /// Returns the number of searches so far.
    std::uint64_t begun() const { return begun_; }

  private:
    Find find_;
    std::shared_ptr<Mutex> finding_;
    std::uint64_t begun_ = 0;
    std::shared_ptr<const T> last_;
    std::uint64_t last_number_ = 0;
};

}  // namespace orange::async
