#include "common/base/try.hpp"

#include <memory>

#include "tests/catch.hpp"

using namespace orange;

namespace {

Result<int> half(int number) {
    if (number % 2 != 0) return {ErrorCode::invalid_argument, std::to_string(number) + " is odd"};
    return number / 2;
}

template <class A, class B>
Result<std::pair<A, B>> pair_of(A a, B b) {
    return std::pair<A, B>{a, b};
}

Result<void> is_even(int number, int& reached) {
    TRY(half(number));
    ++reached;
    return {};
}

Result<std::string> quarter(int number) {
    TRY(auto result, half(number));
    TRY(result, half(result));
    TRY(const auto both, pair_of<int, std::string>(result, "quarters"));
    return std::to_string(both.first) + " " + both.second;
}

Result<std::unique_ptr<int>> doubled(Result<std::unique_ptr<int>> number) {
    TRY(auto owned, std::move(number));
    *owned *= 2;
    return owned;
}

Result<int> only_even(int number, bool check) {
    if (check)
        TRY(half(number));
    else
        return 0;
    return number;
}

}  // namespace

TEST_CASE("TRY leaves a function with the error, and goes on without one") {
    int reached = 0;
    CHECK(is_even(4, reached));
    CHECK(reached == 1);
    CHECK(is_even(3, reached).error() == Error(ErrorCode::invalid_argument, "3 is odd"));
    CHECK(reached == 1);
}

TEST_CASE("TRY declares or assigns the value, and takes an expression with commas") {
    CHECK(quarter(12).value() == "3 quarters");
    CHECK(quarter(6).error().message == "3 is odd");
    CHECK(quarter(5).error().message == "5 is odd");
}

TEST_CASE("TRY moves what it takes out of a result") {
    CHECK(**doubled(std::make_unique<int>(4)) == 8);
    CHECK(doubled(Error(ErrorCode::io, "disk full")).error().code == ErrorCode::io);
}

TEST_CASE("TRY without a value is one statement, also between if and else") {
    CHECK(only_even(4, true).value() == 4);
    CHECK(only_even(3, false).value() == 0);
    CHECK_FALSE(only_even(3, true));
}

TEST_CASE("TRY in a lambda within TRY keeps its own result") {
    const auto outer = [](int number) -> Result<int> {
        TRY(auto result, [&]() -> Result<int> {
            TRY(auto inner, half(number));
            return inner;
        }());
        return result;
    };
    CHECK(outer(8).value() == 4);
    CHECK(outer(7).error().message == "7 is odd");
}
