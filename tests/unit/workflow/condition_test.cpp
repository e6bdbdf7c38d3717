#include "daemon/workflow/condition.hpp"

#include "daemon/workflow/load.hpp"
#include "tests/catch.hpp"

using namespace orange;
using namespace orange::workflow;

namespace {

engine::Condition parsed(const std::string& text) {
    const auto condition = parse_condition(text);
    INFO(text);
    REQUIRE(condition);
    return *condition;
}

}  // namespace

TEST_CASE("a condition is a field, an operator and a whole number") {
    CHECK(parsed("review_round < 2").text() == "review_round < 2");
    CHECK(parsed("  n>=-3 ").text() == "n >= -3");
    CHECK(parsed("n!=9223372036854775807").value == INT64_MAX);
    for (const auto* text : {"", "n", "n <", "< 2", "n = 2", "n => 2", "n < two", "n < 2.5", "n < 2 3", "n m < 2",
                             "N < 2", "n < 9223372036854775808", "n < 2 && m < 3", "n <> 2", "3 < n"}) {
        INFO(text);
        const auto condition = parse_condition(text);
        REQUIRE_FALSE(condition);
        CHECK_THAT(condition.error().message, Holds("review_round < 2"));
    }
}

TEST_CASE("what both of two conditions hold for is found exactly") {
    const auto both = [](const char* a, const char* b) { return both_hold(parsed(a), parsed(b)).value_or("never"); };
    CHECK(both("n < 2", "n >= 2") == "never");
    CHECK(both("n < 2", "n >= 1") == "n = 1");
    CHECK(both("n <= 1", "n > 1") == "never");
    CHECK(both("n != 3", "n == 3") == "never");
    CHECK(both("n != 3", "n > 2") == "n = 4");
    CHECK(both("n < 1000000000000", "n > 999999999998") == "n = 999999999999");
    CHECK(both("n < -5", "n > -7") == "n = -6");
    CHECK(both("n < 2", "m >= 2") == "m = 2, n = 0");
    CHECK(both("n < -9223372036854775808", "m > 0") == "never");
    CHECK(both_hold(std::nullopt, parsed("n > 4")) == "n = 5");
    CHECK(both_hold(std::nullopt, std::nullopt) == "");
}

TEST_CASE("what a list of conditions leaves out is found exactly") {
    const auto none = [](std::vector<const char*> texts) {
        std::vector<engine::Condition> conditions;
        for (const auto* text : texts) conditions.push_back(parsed(text));
        return none_holds(conditions).value_or("nothing");
    };
    CHECK(none({"n < 2", "n >= 2"}) == "nothing");
    CHECK(none({"n < 2", "n > 2"}) == "n = 2");
    CHECK(none({"n < 2", "n == 2", "n > 2"}) == "nothing");
    CHECK(none({"n != 7", "n == 7"}) == "nothing");
    CHECK(none({"n != 7"}) == "n = 7");
    CHECK(none({"n >= -9223372036854775808"}) == "nothing");
    CHECK(none({"n < 2", "m >= 2"}) == "m = 0, n = 2");
    CHECK(none({"n < 2", "m > 0", "n >= 2"}) == "nothing");
}

TEST_CASE("a condition that no number satisfies is known as such") {
    CHECK(is_never(parsed("n < -9223372036854775808")));
    CHECK(is_never(parsed("n > 9223372036854775807")));
    CHECK_FALSE(is_never(parsed("n >= 9223372036854775807")));
}
