// CO_TRY of common/base/try.hpp.
#include <asio/io_context.hpp>
#include <memory>

#include "common/base/try.hpp"
#include "daemon/async/async.hpp"
#include "tests/catch.hpp"

using namespace orange;

namespace {

Awaitable<Result<std::unique_ptr<int>>> later(Result<std::unique_ptr<int>> result) {
    const std::chrono::milliseconds moment(1);
    co_await async::sleep(moment);
    co_return result;
}

Awaitable<Result<void>> check_later(std::unique_ptr<int> number) {
    CO_TRY(const auto positive, co_await later(std::move(number)));
    if (*positive < 0) co_return Error(ErrorCode::invalid_argument, "it is negative");
    co_return Result<void>{};
}

Awaitable<Result<std::unique_ptr<int>>> sum(Result<std::unique_ptr<int>> first, Result<std::unique_ptr<int>> second) {
    CO_TRY(auto total, co_await later(std::move(first)));
    auto copy = std::make_unique<int>(*total);
    CO_TRY(co_await check_later(std::move(copy)));
    auto taken = std::move(total);
    CO_TRY(total, co_await later(std::move(second)));
    *total += *taken;
    co_return total;
}

Awaitable<void> keep(Awaitable<Result<std::unique_ptr<int>>> work, Result<std::unique_ptr<int>>& outcome) {
    outcome = co_await std::move(work);
}

/// What `sum` comes to.
Result<std::unique_ptr<int>> run_sum(Result<std::unique_ptr<int>> first, Result<std::unique_ptr<int>> second) {
    asio::io_context io;
    Result<std::unique_ptr<int>> outcome = Error();
    async::spawn(io.get_executor(), "test", keep(sum(std::move(first), std::move(second)), outcome));
    io.run();
    return outcome;
}

Result<std::unique_ptr<int>> number(int value) {
    return std::make_unique<int>(value);
}

}  // namespace

TEST_CASE("CO_TRY takes the values of what a coroutine waits for") {
    CHECK(**run_sum(number(2), number(3)) == 5);
}

TEST_CASE("CO_TRY leaves a coroutine with the first error") {
    const Error failed(ErrorCode::io, "disk full");
    CHECK(run_sum(failed, number(3)).error() == failed);
    CHECK(run_sum(number(2), failed).error() == failed);
    CHECK(run_sum(number(-2), number(3)).error().message == "it is negative");
}
