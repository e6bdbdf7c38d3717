#include "client/commands/everywhere.hpp"

#include "common/rpc/errors.hpp"
#include "tests/catch.hpp"
#include "tests/facts.hpp"

using namespace orange;

TEST_CASE("The commands in the notices of a host's task name the host, and its other texts stay") {
    Json task = {{"fields", {{"id", "4f2aBcDeFgHiJkLmNoPqR"}}},
                 {"notices",
                  {{{"text", "4f2aBcDeFgHiJkLmNoPqR has ended. To go on:\n  orange task respawn 4f2aBcDeFgHiJkLmNoPqR"},
                    {"command", "orange task respawn 4f2aBcDeFgHiJkLmNoPqR"}},
                   {{"text", "look"}}}}};
    commands::name_host_in_notices(task, "box");
    const auto& notices = task.at("notices");
    CHECK(notices.at(0).at("command") == "orange task respawn box:4f2aBcDeFgHiJkLmNoPqR");
    CHECK(notices.at(0).at("text") ==
          "4f2aBcDeFgHiJkLmNoPqR has ended. To go on:\n  orange task respawn box:4f2aBcDeFgHiJkLmNoPqR");
    CHECK(notices.at(1) == Json{{"text", "look"}});
}

TEST_CASE("The line of a host of which nothing is known names what to do, and each line begins with its host") {
    const auto line_of = [](ErrorCode code, bool answered) {
        const auto error = rpc::error_json({code, "far: why"});
        return commands::silent_hosts({{"hosts", {{{"name", "far"}, {"answered", answered}, {"error", error}}}}});
    };
    CHECK_THAT(line_of(ErrorCode::timeout, false), Tells("orange host test far"));
    CHECK(line_of(ErrorCode::unavailable, false).find("orange host test") == std::string::npos);
    CHECK(line_of(ErrorCode::conflict, true) == "! far: why\n");
}
