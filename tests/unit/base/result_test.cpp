#include "common/base/result.hpp"

#include <cerrno>
#include <memory>

#include "tests/catch.hpp"

using namespace orange;

TEST_CASE("A result holds a value, also one that can only be moved") {
    Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
    REQUIRE(result);
    const auto taken = std::move(*result);
    CHECK(*taken == 7);
}

TEST_CASE("A result holds an error, and its value is a bug to ask for") {
    const Result<int> result(ErrorCode::not_found, "no such task");
    CHECK_FALSE(result);
    CHECK(result.error().code == ErrorCode::not_found);
    CHECK(result.value_or(3) == 3);
    CHECK_THROWS_AS(result.value(), BadResultAccess);
}

TEST_CASE("A result without a value is success until it is an error") {
    CHECK(Result<void>{});
    const Result<void> failed = Error(ErrorCode::io, "disk full");
    CHECK_FALSE(failed);
    CHECK_THROWS_AS(failed.value(), BadResultAccess);
}

TEST_CASE("An error says what was being done, from the outside in") {
    auto error = in_context("spawning the worker", io_error("opening x", ENOENT));
    CHECK(error.code == ErrorCode::io);
    CHECK(error.message == "spawning the worker: opening x: No such file or directory");
}
