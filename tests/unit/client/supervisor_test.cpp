#include "client/connection/supervisor.hpp"

#include "tests/catch.hpp"

using namespace std::chrono_literals;
using orange::connection::CrashBudget;

TEST_CASE("Each crash makes the next start wait longer, the fifth within a minute is the last") {
    CrashBudget budget;
    const CrashBudget::Clock::time_point start{};
    CHECK(budget.delay_after_crash(start) == 100ms);
    CHECK(budget.delay_after_crash(start + 1s) == 200ms);
    CHECK(budget.delay_after_crash(start + 2s) == 400ms);
    CHECK(budget.delay_after_crash(start + 3s) == 800ms);
    CHECK(budget.delay_after_crash(start + 4s) == std::nullopt);
}

TEST_CASE("A crash now and then is forgiven for ever") {
    CrashBudget budget;
    CrashBudget::Clock::time_point now{};
    for (int i = 0; i < 50; ++i, now += 61s) CHECK(budget.delay_after_crash(now) == 100ms);
}
