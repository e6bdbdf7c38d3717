// The launch agent of macOS as a text: launchd itself is on no machine of ours.
#include "client/connection/launch_agent.hpp"

#include "common/base/text.hpp"
#include "tests/catch.hpp"

using namespace orange;

namespace {

std::size_t times(const std::string& text, std::string_view what) {
    std::size_t n = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
    return n;
}

std::string value_after(const std::string& text, const std::string& key) {
    const auto at = text.find("<string>", text.find("<key>" + key + "</key>"));
    return text.substr(at + 8, text.find("</string>", at) - at - 8);
}

}  // namespace

TEST_CASE("The launch agent names this oranged, this home and this PATH, as XML wants them") {
    const Paths paths{"/Users/ann & bob/orange <2>"};
    const auto made = connection::launch_agent_for("/opt/my tools/bin/oranged", paths, "/a&b:/usr/bin");
    REQUIRE(made);
    const auto& text = *made;
    CHECK_THAT(text, Catch::StartsWith("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist "));
    CHECK(value_after(text, "Label") == connection::k_launch_agent);
    CHECK(value_after(text, "ProgramArguments") == "/opt/my tools/bin/oranged");
    CHECK(value_after(text, "ORANGE_HOME") == "/Users/ann &amp; bob/orange &lt;2&gt;");
    CHECK(value_after(text, "PATH") == "/a&amp;b:/usr/bin");
    CHECK(value_after(text, "StandardOutPath") == "/Users/ann &amp; bob/orange &lt;2&gt;/oranged.out");
    CHECK(value_after(text, "StandardErrorPath") == value_after(text, "StandardOutPath"));
    for (const char* left : {"/Users/YOU", "/usr/local"}) CHECK_THAT(text, !Holds(left));
    for (const std::string tag : {"dict", "array", "key", "string", "plist"}) {
        CHECK(times(text, "<" + tag + ">") + times(text, "<" + tag + " ") == times(text, "</" + tag + ">"));
    }
    // What keeps agents alive, and a stopped daemon stopped.
    for (const char* key : {"AbandonProcessGroup", "KeepAlive", "SuccessfulExit", "RunAtLoad"}) {
        CHECK_THAT(text, Holds("<key>" + std::string(key) + "</key>"));
    }
}

TEST_CASE("A launch agent that somebody has changed, or written, is known") {
    const Paths paths{"/Users/ann/orange"};
    const auto text = connection::launch_agent_for("/usr/local/bin/oranged", paths, "/usr/bin").value();
    CHECK(connection::is_own_launch_agent(text));
    CHECK_FALSE(connection::is_own_launch_agent(text + "<!-- mine -->\n"));
    CHECK_FALSE(connection::is_own_launch_agent(std::string(connection::shipped_launch_agent())));
    CHECK_FALSE(connection::is_own_launch_agent(""));
    CHECK(connection::is_launch_agent_of(text, paths));
    CHECK_FALSE(connection::is_launch_agent_of(text, Paths{"/Users/ann"}));
    CHECK_FALSE(connection::is_launch_agent_of(text, Paths{"/Users/ann/orange2"}));
    for (const std::string wrong : {"/a\nb", "/a\xff"}) {
        CHECK_FALSE(connection::launch_agent_for(wrong, paths, "/usr/bin"));
        CHECK_FALSE(connection::launch_agent_for("/oranged", Paths{wrong}, "/usr/bin"));
        CHECK_FALSE(connection::launch_agent_for("/oranged", paths, wrong));
    }
}
