#include "daemon/doctor/report.hpp"

#include "tests/catch.hpp"

using namespace orange::doctor;

TEST_CASE("a message's place is its file and line, and is not said twice") {
    const auto yaml = place_in("/h/mine.yml", "mine.yml:12:3: no such key\nmine.yml:14:1: another");
    CHECK(yaml.file == "/h/mine.yml:12");
    CHECK(yaml.text == "no such key");
    const auto whole = place_in("/h/mine.yml", "/h/mine.yml:2:1: no such key");
    CHECK(whole.file == "/h/mine.yml:2");
    const auto json = place_in("/h/p.json", "not valid JSON: parse error at line 3, column 7: unexpected end");
    CHECK(json.file == "/h/p.json:3");
    CHECK(json.text.starts_with("not valid JSON"));
    const auto none = place_in("/h/p.json", "reading it: Permission denied at 10:20");
    CHECK(none.file == "/h/p.json");
    CHECK(none.text == "reading it: Permission denied at 10:20");
    CHECK(place_in("/h/x", "").file == "/h/x");
}

TEST_CASE("ages are said in the unit that tells something") {
    using namespace std::chrono_literals;
    CHECK(spoken(1s) == "1 second");
    CHECK(spoken(119s) == "119 seconds");
    CHECK(spoken(10min) == "10 minutes");
    CHECK(spoken(3h) == "3 hours");
    CHECK(spoken(80h) == "3 days");
    CHECK(spoken(-5s) == "0 seconds");
}

TEST_CASE("a report says of which check a finding is, and nothing where there is nothing to say") {
    Report report;
    report.begin("tmux");
    report.ok("fine");
    report.begin("git");
    report.wrong("too old", "apt install git");
    REQUIRE(report.findings().size() == 2);
    CHECK(report.findings()[0].check == "tmux");
    CHECK_FALSE(report.findings()[0].command);
    CHECK(report.findings()[1].level == "error");
    CHECK(report.findings()[1].command == "apt install git");
    CHECK_FALSE(report.findings()[1].file);
}
