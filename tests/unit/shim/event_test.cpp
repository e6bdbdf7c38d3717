#include "daemon/shim/event.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/model/json.hpp"
#include "tests/catch.hpp"
#include "tests/fakes/temporary_folder.hpp"

/// Tests what a hook writes for the daemon.
using namespace orange;
using namespace orange::shim;

TEST_CASE("an event is one line: words, or the short texts of an object") {
    CHECK(event_line({"idle"}, "") == "idle");
    CHECK(event_line({"question", "Bash: make\ntest"}, "").find('\n') == std::string::npos);
    const auto line = event_line({}, R"({"hook_event_name":"Stop","prompt":")" + std::string(100'000, 'x') +
                                         "\",\n\"tool_input\":{\"a\":1},\"text\":\"two\\nlines\"}");
    CHECK(line.find('\n') == std::string::npos);
    CHECK(line.size() < 4096);
    const auto json = Json::parse(line);
    CHECK(json.at("hook_event_name") == "Stop");
    CHECK(json.at("text") == "two\nlines");
    CHECK(json.at("tool_input") == R"({"a":1})");
    const auto path = "/h/" + std::string(2000, 'x');
    const auto more =
        Json::parse(event_line({}, Json{{"tasks", {1, 2}}, {"none", Json::array()}, {"path", path}}.dump()));
    CHECK(more == Json{{"tasks", 2}, {"none", 0}, {"path", path}});
    CHECK(event_line({}, "no object").empty());
    const auto stop = Json::parse(event_line({"event=idle"}, R"({"path":"/x","event":"stop","time":1})"));
    CHECK(stop == Json{{"event", "idle"}, {"path", "/x"}});
    CHECK(event_line({"event=idle"}, "") == R"({"event":"idle"})");
    CHECK(event_line({"a=b", "c"}, "") == "a=b c");
    CHECK(event_line({}, "[1]").empty());
    auto many = Json::object();
    for (int i = 0; i < 100; ++i) many["member" + std::to_string(i)] = std::string(250, 'x');
    CHECK(event_line({}, many.dump()).size() < 4096);
}

TEST_CASE("events are added to their file, which never grows without end, and nothing else is written") {
    testing::TemporaryFolder folder;
    const auto file = folder.path() / "run.events";
    const auto text = [&] {
        std::ostringstream out;
        out << std::ifstream(file).rdbuf();
        return out.str();
    };
    CHECK(write_event(file.c_str(), {"busy"}) == 0);
    CHECK(write_event(file.c_str(), {"idle"}) == 0);
    CHECK(text() == "busy\nidle\n");
    std::ofstream(file, std::ios::app) << std::string(1'100'000, 'x');
    CHECK(write_event(file.c_str(), {"busy"}) == 0);
    CHECK(text() == "busy\n");
    CHECK(write_event((folder.path() / "missing" / "file").c_str(), {"busy"}) == 0);
    const auto elsewhere = folder.path() / "elsewhere";
    std::filesystem::create_symlink(elsewhere, folder.path() / "link");
    CHECK(write_event((folder.path() / "link").c_str(), {"busy"}) == 0);
    CHECK_FALSE(std::filesystem::exists(elsewhere));
}

TEST_CASE("The same call has the same hash, whatever the model says about it") {
    const auto hash_in = [](const Json& input) {
        const auto line = Json::parse(event_line({}, Json{{"tool_name", "Bash"}, {"tool_input", input}}.dump()));
        return line.at("tool_input_hash").get<std::string>();
    };
    const Json input = {{"command", "make test"}, {"description", "runs the tests"}};
    CHECK(hash_in(input) == hash_in({{"command", "make test"}}));
    CHECK(hash_in(input) != hash_in({{"command", "make test "}}));
    const auto line = Json::parse(event_line({"ask=7"}, Json{{"ask", "mine"}, {"tool_input", input}}.dump()));
    CHECK(line.at("tool_input") == "make test");
    CHECK(line.at("ask") == "7");
    const auto edit = Json::parse(event_line({}, Json{{"tool_input", {{"path", "x"}, {"lines", {1, 2}}}}}.dump()));
    CHECK_THAT(edit.at("tool_input").get<std::string>(), Holds("\"path\":\"x\""));
    const auto big = event_line({}, Json{{"tool_input", {{"text", std::string(1'000'000, 'x')}}}}.dump());
    CHECK(big.size() < 1000);
}
