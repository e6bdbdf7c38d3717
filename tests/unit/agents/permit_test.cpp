#include "daemon/agents/permit.hpp"

#include "common/model/json.hpp"
#include "tests/catch.hpp"

/// Requests of programs, for people.
using namespace orange;
using namespace orange::agents;

namespace {

Harness asking() {
    Harness harness;
    harness.permits.tool = "tool_name";
    harness.permits.input = "tool_input";
    harness.permits.allow = R"({"behavior":"allow"})";
    harness.permits.deny = R"({"behavior":"deny","message":{message}})";
    return harness;
}

Permit permit(const Json& input, const std::string& tool = "Bash", bool cut = false) {
    return permit_in(asking(), Json{{"tool_name", tool}, {"tool_input", input}}.dump(), cut).value();
}

}  // namespace

TEST_CASE("A command is a request of one line, whatever the model says about it") {
    const auto asked = permit({{"command", "npm install left-pad"}, {"description", "lists the files"}});
    CHECK(asked.tool == "Bash");
    CHECK(asked.line == "npm install left-pad (description: lists the files)");
    CHECK(asked.is_short());
    CHECK(permit({{"command", "ls"}}).line == "ls");
    CHECK_FALSE(permit({{"command", "ls"}, {"description", "a\nb"}}).is_short());
    CHECK_THAT(permit({{"command", "ls"}, {"description", std::string(300, 'x') + "end"}}).text, Holds("xend"));
}

TEST_CASE("Nothing that a program asks for is left out of the text") {
    const auto more = permit({{"command", "make"}, {"timeout", 600}, {"sandbox", false}});
    CHECK_FALSE(more.is_short());
    CHECK(more.line == "make");
    CHECK_THAT(more.text, Holds("make\n") && Holds("timeout: 600") && Holds("sandbox: false"));
    const auto edit = permit({{"file_path", "/shop/cart.py"}, {"old_string", "a\nb"}, {"new_string", "a\nc"}}, "Edit");
    CHECK(edit.line == "/shop/cart.py");
    CHECK(edit.text == "/shop/cart.py\n- a\n- b\n+ a\n+ c");
    const auto nested = permit({{"edits", {{{"path", "x"}, {"text", "hidden here"}}}}}, "Many");
    CHECK_THAT(nested.text, Holds("hidden here"));
    const auto note = permit({{"path", "a.md"}, {"description", "rm -rf ~"}}, "note");
    CHECK_FALSE(note.is_short());
    CHECK_THAT(note.text, Holds("rm -rf ~"));
    const auto none = permit(Json::object(), "Stop");
    CHECK(none.tool == "Stop");
    CHECK(none.whole);
    CHECK(none.line == "(nothing)");
    const auto text = permit("only a text", "Odd");
    CHECK_THAT(text.text, Holds("only a text"));
}

TEST_CASE("What cannot be seen in one line is no short request") {
    CHECK_FALSE(permit({{"command", "ls\nrm -rf ~"}}).is_short());
    const auto lines = permit({{"command", "ls\nrm -rf ~"}});
    CHECK_THAT(lines.text, Holds("ls\nrm -rf ~"));
    const auto longer = permit({{"command", "echo " + std::string(400, ' ') + "; rm -rf ~"}});
    CHECK_FALSE(longer.is_short());
    CHECK_THAT(longer.text, Holds("rm -rf ~"));
    CHECK(longer.line.size() < 300);
    const auto cut = permit({{"command", "ls"}}, "Bash", true);
    CHECK_FALSE(cut.whole);
    CHECK_FALSE(cut.is_short());
}

TEST_CASE("Control characters of a request are shown") {
    const auto asked = permit({{"command", "ls \x1b[2K\rrm -rf ~\u202e"}});
    CHECK(asked.line.find('\x1b') == std::string::npos);
    CHECK(asked.text.find('\r') == std::string::npos);
    CHECK_THAT(asked.line, Holds("\\x1b[2K\\x0d") && Holds("\\u202e"));
    const auto hidden = permit({{"command", "ls\xe2\x80\x8d; rm\xe2\xa0\x80-rf"}});  // a joiner, a blank Braille sign
    CHECK_THAT(hidden.line, Holds("\\u200d") && Holds("\\u2800"));
}

TEST_CASE("What is no request is none") {
    const auto harness = asking();
    CHECK_FALSE(permit_in(harness, "", false));
    CHECK_FALSE(permit_in(harness, "[1]", false));
    CHECK_FALSE(permit_in(harness, "\xff\xfe", false));
    CHECK_FALSE(permit_in(harness, R"({"tool_input":{"command":"ls"}})", false));
    std::string deep(30'000, '[');
    CHECK_FALSE(permit_in(harness, "{\"tool_name\":\"x\",\"tool_input\":" + deep, false));
    deep += std::string(30'000, ']');
    CHECK_FALSE(permit_in(harness, "{\"tool_name\":\"x\",\"tool_input\":" + deep + "}", false));
    Json wide = Json::array();
    for (int i = 0; i < 100'000; ++i) wide.push_back(1);
    CHECK_FALSE(permit({{"numbers", wide}}).whole);
    CHECK_FALSE(permit({{"command", "ls"}}, std::string(5000, 'x')).whole);
    const auto without = permit_in(harness, R"({"tool_name":"Bash"})", false);
    REQUIRE(without);
    CHECK_FALSE(without->whole);  // nobody knows what it would do
}

TEST_CASE("A text of a human is a string of JSON in the answer") {
    const auto harness = asking();
    CHECK(permit_answer(harness, true, "x") == R"({"behavior":"allow"})");
    const auto said = Json::parse(permit_answer(harness, false, "use \"npm ci\"\n\xff"));
    CHECK(said["behavior"] == "deny");
    CHECK_THAT(said["message"].get<std::string>(), Holds("use \"npm ci\"\n"));
}
