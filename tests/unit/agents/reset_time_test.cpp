#include "daemon/agents/reset_time.hpp"

#include <cstdlib>
#include <ctime>

#include "tests/catch.hpp"

using namespace orange;
using orange::agents::reset_time;

namespace {

/// As if this machine were in UTC, or where it says.
class InZone {
  public:
    explicit InZone(const char* name) {
        ::setenv("TZ", name, 1);
        ::tzset();
    }
    ~InZone() {
        ::unsetenv("TZ");
        ::tzset();
    }
    InZone(const InZone&) = delete;
    InZone& operator=(const InZone&) = delete;
};

std::string reset(std::string_view text, const std::string& now = "2026-11-24T10:00:00.000Z") {
    const auto time = reset_time(text, *from_rfc3339(now));
    return time ? to_rfc3339(*time) : "";
}

}  // namespace

TEST_CASE("The time of a reset is read as the programs write it") {
    const InZone utc("UTC0");
    CHECK(reset("11:36am (UTC)") == "2026-11-24T11:36:00.000Z");
    CHECK(reset("5pm") == "2026-11-24T17:00:00.000Z");
    CHECK(reset("12am (UTC)") == "2026-11-25T00:00:00.000Z");
    CHECK(reset("12:30pm") == "2026-11-24T12:30:00.000Z");
    CHECK(reset("11:37 AM. Or buy more.") == "2026-11-24T11:37:00.000Z");
    CHECK(reset("14:05") == "2026-11-24T14:05:00.000Z");
    CHECK(reset("Nov 25, 9:50am (UTC)") == "2026-11-25T09:50:00.000Z");
    CHECK(reset("Nov 25th, 2026 9:37 AM.") == "2026-11-25T09:37:00.000Z");
    CHECK(reset("Dec 1st, 2026 9:00 AM") == "2026-12-01T09:00:00.000Z");
    CHECK(reset("2 hours 15 minutes.") == "2026-11-24T12:15:00.000Z");
    CHECK(reset("in 5 days 22 hours 11 minutes") == "2026-11-30T08:11:00.000Z");
    CHECK(reset("3h 12m") == "2026-11-24T13:12:00.000Z");
}

TEST_CASE("A time without a zone is this machine's, and one with a zone is that zone's") {
    const InZone east("EAST-3");
    CHECK(reset("2pm") == "2026-11-24T11:00:00.000Z");
    CHECK(reset("2pm (UTC)") == "2026-11-24T14:00:00.000Z");
    CHECK(reset("2pm") == "2026-11-24T11:00:00.000Z");
    CHECK(reset("2pm (Nowhere/Atlantis)").empty());
    CHECK(reset("2pm (../../etc/passwd)").empty());
}

TEST_CASE("A time of day is the next one, but not one that was a few hours ago") {
    const InZone utc("UTC0");
    CHECK(reset("9:30am") == "2026-11-24T09:30:00.000Z");
    CHECK(reset("1am", "2026-11-24T22:00:00.000Z") == "2026-11-25T01:00:00.000Z");
    CHECK(reset("11pm", "2026-11-24T01:00:00.000Z") == "2026-11-23T23:00:00.000Z");
    CHECK(reset("3am") == "2026-11-25T03:00:00.000Z");
    CHECK(reset("Jan 2, 9am", "2026-12-31T10:00:00.000Z") == "2027-01-02T09:00:00.000Z");
    CHECK(reset("Nov 23, 9am") == "2026-11-23T09:00:00.000Z");
}

TEST_CASE("What is no time, or too far away, is none") {
    const InZone utc("UTC0");
    for (const char* text : {"", "soon", "later.", "5", "25:00", "13pm", "0am", "Foo 3, 9am", "Nov, 9am", "7:99",
                             "900 days", "Nov 25th, 2031 9:37 AM", "999999999999 hours", "-3pm"}) {
        CAPTURE(text);
        CHECK(reset(text).empty());
    }
}
