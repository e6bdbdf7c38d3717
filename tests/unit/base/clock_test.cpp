#include "common/base/clock.hpp"

#include "tests/catch.hpp"

using namespace orange;
using namespace std::chrono_literals;

TEST_CASE("A time goes to RFC 3339 and back to the millisecond") {
    const Timestamp time{1795258143120ms};
    CHECK(to_rfc3339(time) == "2026-11-21T10:49:03.120Z");
    CHECK(from_rfc3339(to_rfc3339(time)) == time);
    CHECK(from_rfc3339(to_rfc3339(Timestamp{})) == Timestamp{});
}

TEST_CASE("An RFC 3339 time may have an offset, a fraction of any length, and lower-case letters") {
    const auto utc = from_rfc3339("2026-11-20T10:49:03Z");
    REQUIRE(utc);
    CHECK(from_rfc3339("2026-11-20T12:49:03+02:00") == utc);
    CHECK(from_rfc3339("2026-11-20t05:19:03-05:30") == utc);
    CHECK(from_rfc3339("2026-11-20T10:49:03.1209999Z") == *utc + 120ms);
    CHECK(from_rfc3339("2026-11-20T10:49:03.5z") == *utc + 500ms);
}

TEST_CASE("What is no time is nothing") {
    for (const char* text : {"", "yesterday", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-11-20T24:00:00Z",
                             "2026-11-20T10:49:03", "2026-11-20T10:61:03Z", "2026-11-20T10:49:03*02:00"}) {
        CAPTURE(text);
        CHECK_FALSE(from_rfc3339(text));
    }
}

TEST_CASE("An age is told in the largest whole unit") {
    const Timestamp then{};
    CHECK(age_text(then, then + 900ms) == "now");
    CHECK(age_text(then, then + 59s) == "59s");
    CHECK(age_text(then, then + 60s) == "1m");
    CHECK(age_text(then, then + 3599s) == "59m");
    CHECK(age_text(then, then + 26h) == "1d");
    CHECK(age_text(then + 5s, then) == "now");
}
