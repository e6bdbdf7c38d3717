#include "daemon/rpc/dispatcher.hpp"

#include "tests/catch.hpp"
#include "tests/support/os_fixture.hpp"
#include "tests/unit/rpc_daemon/echo_table.hpp"

using namespace orange;
using namespace orange::test;

namespace {

struct Wire {
    rpc::MethodTable table = echo_table();
    rpc::Dispatcher dispatcher{table};
    asio::io_context io;
    Caller caller;
    int asked = 0;
    bool asking_breaks = false;

    static Awaitable<Caller> ask(Wire* wire) {
        ++wire->asked;
        if (wire->asking_breaks) throw std::runtime_error("no /proc");
        co_return wire->caller;
    }
    std::optional<std::string> raw(const std::string& text) {
        const rpc::WhoIs who = [this] { return ask(this); };
        return run(io, dispatcher.handle(text, who, nullptr));
    }
    Json call(const std::string& text) { return Json::parse(raw(text).value()); }
    Json call(const std::string& method, const std::string& params) {
        return call(R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":)" + params + "}");
    }
    int code(const std::string& text) { return call(text)["error"]["code"].get<int>(); }
};

const std::string k_hello = R"({"text":"hello"})";

}  // namespace

TEST_CASE("a call is answered under its own id, of whatever kind that is") {
    Wire wire;
    for (const std::string id : {"7", "\"seven\"", "null", "1.5"}) {
        const auto reply =
            wire.call(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"echo.read","params":)" + k_hello + "}");
        CHECK(reply["jsonrpc"] == "2.0");
        CHECK(reply["id"] == Json::parse(id));
        CHECK(reply["result"]["said"] == "hello");
        CHECK_FALSE(reply.contains("error"));
    }
}

TEST_CASE("an id of a wrong kind is refused") {
    Wire wire;
    for (const std::string id : {"{}", "[1]", "true"}) {
        const auto reply = wire.call(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"echo.read"})");
        CHECK(reply["error"]["code"] == rpc::k_invalid_request);
        CHECK(reply["id"].is_null());
    }
}

TEST_CASE("a text that is no request says what is wrong with it") {
    Wire wire;
    CHECK(wire.code("{") == rpc::k_parse_error);
    CHECK(wire.code("") == rpc::k_parse_error);
    CHECK(wire.code(std::string(100, '[')) == rpc::k_parse_error);
    CHECK(wire.code("7") == rpc::k_invalid_request);
    CHECK(wire.code("{}") == rpc::k_invalid_request);
    CHECK(wire.code(R"({"jsonrpc":"1.0","id":1,"method":"echo.read"})") == rpc::k_invalid_request);
    CHECK(wire.code(R"({"jsonrpc":2.0,"id":1,"method":"echo.read"})") == rpc::k_invalid_request);
    CHECK(wire.code(R"({"jsonrpc":"2.0","id":1,"method":7})") == rpc::k_invalid_request);
    CHECK(wire.code(R"({"jsonrpc":"2.0","id":1})") == rpc::k_invalid_request);
}

TEST_CASE("an unknown method names those that are near it") {
    Wire wire;
    const auto reply = wire.call("echo.nothing", "{}");
    CHECK(reply["error"]["code"] == rpc::k_method_not_found);
    CHECK_THAT(reply["error"]["message"].get<std::string>(), Tells("echo.human, echo.read"));
    CHECK_THAT(wire.call("nothing", "{}")["error"]["message"].get<std::string>(), Tells("rpc.discover"));
}

TEST_CASE("parameters go by name, and a wrong one is named") {
    Wire wire;
    const auto message = [&](const std::string& params) {
        const auto reply = wire.call("echo.read", params);
        CHECK(reply["error"]["code"] == rpc::k_invalid_params);
        return reply["error"]["message"].get<std::string>();
    };
    CHECK_FALSE(message(R"(["hello"])").empty());
    CHECK_FALSE(message("7").empty());
    CHECK_THAT(message("{}"), Tells("text"));
    CHECK_THAT(message("[]"), Tells("text"));
    CHECK_THAT(message(R"({"text":7})"), Holds("text"));
    CHECK_THAT(message(R"({"text":"a","tiems":2})"), Holds("tiems"));
}

TEST_CASE("an error of a method comes with its number, its sentence and its details") {
    Wire wire;
    const auto error = wire.call("echo.read", R"({"text":"fail"})")["error"];
    CHECK(error["code"] == rpc::number_of(ErrorCode::gate_failed));
    CHECK(error["message"] == "## Plan is missing");
    CHECK(error["data"]["status"] == "planning");
}

TEST_CASE("a notification is carried out and never answered, right or wrong") {
    Wire wire;
    for (const std::string rest : {R"("method":"echo.read","params":{"text":"hello"}})",
                                   R"("method":"echo.read","params":{}})", R"("method":"echo.read","params":[1]})",
                                   R"("method":"nothing"})", R"("method":"echo.throw","params":{"text":"x"}})"}) {
        INFO(rest);
        CHECK_FALSE(wire.raw(R"({"jsonrpc":"2.0",)" + rest));
    }
}

TEST_CASE("a batch is answered as one, without its notifications") {
    Wire wire;
    const auto replies = wire.call(R"([{"jsonrpc":"2.0","id":1,"method":"echo.read","params":{"text":"a"}}, 7,
        {"jsonrpc":"2.0","method":"echo.read","params":{"text":"b"}},
        {"jsonrpc":"2.0","id":"c","method":"nothing"}])");
    REQUIRE(replies.is_array());
    REQUIRE(replies.size() == 3);
    CHECK(replies[0]["result"]["said"] == "a");
    CHECK(replies[1]["error"]["code"] == rpc::k_invalid_request);
    CHECK(replies[2]["id"] == "c");
    CHECK_FALSE(wire.raw(R"([{"jsonrpc":"2.0","method":"echo.read","params":{"text":"b"}}])"));
}

TEST_CASE("an empty batch and one that is too long are refused as a whole") {
    Wire wire;
    CHECK(wire.code("[]") == rpc::k_invalid_request);
    Json batch = Json::array();
    for (int i = 0; i < 257; ++i) batch.push_back({{"jsonrpc", "2.0"}, {"id", i}, {"method", "echo.read"}});
    CHECK(wire.code(batch.dump()) == rpc::k_invalid_request);
    batch.erase(0);
    CHECK(wire.call(batch.dump()).size() == 256);
}

TEST_CASE("of a batch whose replies are too large the rest is not carried out, and told so") {
    Wire wire;
    std::vector<std::size_t> held;
    const rpc::NextOfBatch next = [&](std::size_t bytes) -> Awaitable<bool> {
        held.push_back(bytes);
        co_return held.size() < 2;
    };
    const std::string one = R"({"jsonrpc":"2.0","id":1,"method":"echo.read","params":{"text":"a"}})";
    const std::string notification = R"({"jsonrpc":"2.0","method":"echo.read","params":{"text":"a"}})";
    const auto reply = run(wire.io, wire.dispatcher.handle("[" + one + "," + one + "," + one + "," + notification + "]",
                                                           rpc::WhoIs(), nullptr, next));
    const auto replies = Json::parse(reply.value());
    REQUIRE(replies.size() == 3);
    CHECK(replies[1].contains("result"));
    CHECK(replies[2]["id"] == 1);
    CHECK(replies[2]["error"]["code"] == -32012);
    CHECK(held.size() == 3);
    CHECK(held[1] > held[0]);
}

TEST_CASE("who may call what") {
    const std::vector<std::pair<Role, std::vector<bool>>> matrix = {
        {Role::human, {true, true, true}},
        {Role::worker, {true, true, false}},
        {Role::reviewer, {true, true, false}},
        {Role::unknown, {true, false, false}},
    };
    const std::vector<std::string> methods = {"echo.read", "echo.agent", "echo.human"};
    for (const auto& [role, may] : matrix) {
        for (std::size_t i = 0; i < methods.size(); ++i) {
            INFO(name_of(role) << " " << methods[i]);
            Wire wire;
            wire.caller.role = role;
            wire.caller.task = TaskId{role == Role::worker ? "task" : ""};
            wire.caller.evidence = "ancestor 7";
            const auto reply = wire.call(methods[i], k_hello);
            CHECK(reply.contains("result") == may[i]);
            CHECK(wire.asked == (i == 0 ? 0 : 1));
            if (may[i]) continue;
            CHECK(reply["error"]["code"] == rpc::number_of(ErrorCode::forbidden));
            CHECK_THAT(reply["error"]["message"].get<std::string>(), Holds("ancestor 7"));
        }
    }
}

TEST_CASE("a bug in a method is answered as one, and the next call works") {
    Wire wire;
    const auto error = wire.call("echo.throw", k_hello)["error"];
    CHECK(error["code"] == rpc::k_internal_error);
    CHECK_THAT(error["message"].get<std::string>(), Holds("a bug"));
    CHECK(wire.call("echo.read", k_hello).contains("result"));
}

TEST_CASE("a bug in finding out who calls is answered as one, too") {
    Wire wire;
    wire.asking_breaks = true;
    CHECK(wire.call("echo.agent", k_hello)["error"]["code"] == rpc::k_internal_error);
}
