// Hours of the day in this machine's time zone, also on the days on which clocks change.
#include "common/base/hours.hpp"

#include <cstdlib>
#include <ctime>

#include "tests/catch.hpp"

using namespace orange;

namespace {

/// Central European time, whatever zones this machine knows: clocks change on 2026-03-29 and on 2026-10-25, at 01:00
/// UTC.
class CentralEurope {
  public:
    CentralEurope() { set("CET-1CEST,M3.5.0,M10.5.0/3"); }
    ~CentralEurope() { set("UTC0"); }
    CentralEurope(const CentralEurope&) = delete;
    CentralEurope& operator=(const CentralEurope&) = delete;

  private:
    static void set(const char* zone) {
        ::setenv("TZ", zone, 1);
        ::tzset();
    }
};

std::string next(const char* hours, const std::string& time) {
    const CentralEurope zone;
    return to_rfc3339(next_within(hours_in(hours).value(), from_rfc3339(time).value()));
}

}  // namespace

TEST_CASE("Hours are two times of the day, and what is none is refused") {
    CHECK(hours_in("08:00-20:00") == Hours{480, 1200});
    CHECK(hours_in("22:30-06:00") == Hours{1350, 360});
    CHECK(hours_in("00:00-24:00") == Hours{0, 1440});
    for (const char* text : {"", "8:00-20:00", "08:00", "08:00-08:00", "08:60-20:00", "24:00-06:00", "08:00-24:01",
                             "08.00-20.00", "08:00 - 20:00", "-8:00-20:00", "ab:cd-ef:gh"}) {
        CAPTURE(text);
        CHECK_FALSE(hours_in(text));
    }
}

TEST_CASE("A time within the hours is the time itself, another one is followed by their beginning") {
    CHECK(next("08:00-20:00", "2026-11-20T10:11:12.130Z") == "2026-11-20T10:11:12.130Z");
    CHECK(next("08:00-20:00", "2026-11-20T06:59:59.999Z") == "2026-11-20T07:00:00.000Z");
    CHECK(next("08:00-20:00", "2026-11-20T19:00:00.000Z") == "2026-11-21T07:00:00.000Z");  // the end is not part of it
    CHECK(next("08:00-08:01", "2026-11-20T07:01:00.000Z") == "2026-11-21T07:00:00.000Z");
    CHECK(next("00:00-24:00", "2026-11-20T23:30:00.000Z") == "2026-11-20T23:30:00.000Z");
}

TEST_CASE("Hours that go on after midnight are one piece") {
    CHECK(next("22:00-06:00", "2026-11-20T22:59:00.000Z") == "2026-11-20T22:59:00.000Z");
    CHECK(next("22:00-06:00", "2026-11-21T04:59:00.000Z") == "2026-11-21T04:59:00.000Z");
    CHECK(next("22:00-06:00", "2026-11-21T05:00:00.000Z") == "2026-11-21T21:00:00.000Z");
}

TEST_CASE("The clock on the wall counts when clocks are set forward or back") {
    // Before and after the change the same hour of the day is another one in UTC.
    CHECK(next("08:00-20:00", "2026-03-28T20:00:00.000Z") == "2026-03-29T06:00:00.000Z");
    CHECK(next("08:00-20:00", "2026-10-24T20:00:00.000Z") == "2026-10-25T07:00:00.000Z");
    // 02:00 is followed by 03:00: the hours begin late, and a day whose hours are left out has none.
    CHECK(next("02:30-05:00", "2026-03-29T00:10:00.000Z") == "2026-03-29T01:00:00.000Z");
    CHECK(next("02:10-02:40", "2026-03-29T00:10:00.000Z") == "2026-03-30T00:10:00.000Z");
    // 03:00 is followed by 02:00: the hours come twice.
    CHECK(next("02:10-02:40", "2026-10-25T00:20:00.000Z") == "2026-10-25T00:20:00.000Z");
    CHECK(next("02:10-02:40", "2026-10-25T00:45:00.000Z") == "2026-10-25T01:10:00.000Z");
}
