#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "daemon/async/async.hpp"

namespace orange::async {

/// Runs two coroutines side by side, and returns both results when both have ended. An exception of one of them is
/// thrown when the other one has ended, too. If the caller is cancelled, `other` goes on by itself.
template <class A, class B>
Awaitable<std::pair<A, B>> both(Awaitable<A> one, Awaitable<B> other) {
    struct Second {
        explicit Second(const Executor& executor) : ended(executor) {}
        std::optional<B> result;
        std::exception_ptr failed;
        Wakeup ended;
    };
    const auto executor = co_await this_executor();
    const auto second = std::make_shared<Second>(executor);
    const auto run = [](std::shared_ptr<Second> to, Awaitable<B> coroutine) -> Awaitable<void> {
        try {
            auto result = co_await std::move(coroutine);
            to->result.emplace(std::move(result));
        } catch (...) {
            to->failed = std::current_exception();
        }
        to->ended.notify();
    };
    spawn(executor, "beside", run(second, std::move(other)));
    std::optional<A> first;
    std::exception_ptr failed;
    try {
        auto result = co_await std::move(one);
        first.emplace(std::move(result));
    } catch (...) {
        failed = std::current_exception();
    }
    const bool ended = co_await second->ended.wait();
    if (!ended) throw std::system_error(std::make_error_code(std::errc::operation_canceled));
    if (failed || second->failed) std::rethrow_exception(failed ? failed : second->failed);
    co_return std::pair<A, B>(std::move(*first), std::move(*second->result));
}

}  // namespace orange::async
