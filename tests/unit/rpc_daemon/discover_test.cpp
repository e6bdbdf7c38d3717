#include "tests/catch.hpp"
#include "tests/unit/rpc_daemon/echo_table.hpp"

using namespace orange;

TEST_CASE("discovery describes every method of the table that dispatches") {
    const auto table = test::echo_table();
    const auto document = rpc::discover(table);
    CHECK(document["openrpc"] == "1.2.6");
    CHECK(document["info"]["title"] == "Orange");
    REQUIRE(document["methods"].size() == table.all().size());
    for (const auto& method : document["methods"]) {
        CHECK(table.find(method["name"].get<std::string>()) != nullptr);
        CHECK(method["paramStructure"] == "by-name");
        REQUIRE(method["params"].size() == 2);
        CHECK(method["result"]["schema"]["properties"].contains("said"));
    }
}

TEST_CASE("discovery says of a method what it needs, who may call it and how it fails") {
    const auto document = rpc::discover(test::echo_table());
    for (const auto& method : document["methods"]) {
        for (const auto& param : method["params"]) {
            CHECK(param["required"] == (param["name"] == "text"));
            CHECK(param["schema"].contains("type"));
        }
        if (method["name"] == "echo.human") CHECK(method["description"] == "May be called by a human.");
        if (method["name"] != "echo.read") continue;
        CHECK(method["description"] == "May be called by anyone.");
        REQUIRE(method["errors"].size() == 1);
        CHECK(method["errors"][0]["code"] == rpc::number_of(ErrorCode::gate_failed));
        CHECK(method["errors"][0]["message"] == "gate_failed");
    }
}
