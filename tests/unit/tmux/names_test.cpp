#include "daemon/tmux/names.hpp"

#include "tests/catch.hpp"

using namespace orange;

TEST_CASE("session names keep to the safe alphabet and to 60 characters") {
    CHECK(session_name_for("demo", "fix/login") == "demo/fix/login");
    CHECK(session_name_for("demo", "x#(touch y);.:") == "demo/x--touch-y----");
    CHECK(session_name_for("demo", "ü") == "demo/--");
    CHECK(session_name_for("demo", std::string(200, 'a')).size() == 60);
    CHECK(tmux::check_name("session", session_name_for("-x", "#{pid}")));
}

TEST_CASE("names and words that tmux would interpret are refused") {
    for (const std::string bad : {"", "-x", "a b", "a;", "x#(id)", "a.b", "a:b", "=a", "a*", "a\n", "$1", "ü"}) {
        INFO(bad);
        CHECK_FALSE(tmux::check_name("session", bad));
    }
    CHECK(tmux::check_argv({"/bin/agent", "/a b/spec.json"}));
    CHECK_FALSE(tmux::check_argv({"only-one-goes-to-a-shell"}));
    CHECK_FALSE(tmux::check_argv({"a", "b;"}));
    CHECK_FALSE(tmux::check_argv({"a", ";"}));
    CHECK_FALSE(tmux::check_argv({"a", ""}));
    CHECK_FALSE(tmux::check_argv({"a", "b\n"}));
    CHECK_FALSE(tmux::check_argv({"a", std::string(5000, 'x')}));
}

TEST_CASE("ids are a sign and digits") {
    CHECK(tmux::is_id("$3", "$@"));
    CHECK_FALSE(tmux::is_id("%3", "$@"));
    CHECK_FALSE(tmux::is_id("$", "$"));
    CHECK_FALSE(tmux::is_id("$3:", "$"));
    CHECK_FALSE(tmux::is_id("name", "$@%"));
}

TEST_CASE("a pane's line is read whole or not at all") {
    const auto pane = tmux::pane_from("12 $1 @2 %3 456 1 demo/b worker :orange-agent-/x.json");
    REQUIRE(pane);
    CHECK(pane->ref == PaneRef{12, 0, "$1", "@2", "%3", 456});
    CHECK(pane->dead);
    CHECK(pane->session_name == "demo/b");
    CHECK(pane->window_name == "worker");
    CHECK_FALSE(tmux::pane_from("12 $1 @2 %3 456 1 demo/b worker"));
    CHECK_FALSE(tmux::pane_from("12 $1 @2 %3 x 1 demo/b worker :orange-agent-/x.json"));
    CHECK(pane->title.empty());
    CHECK(tmux::pane_from("12 $1 @2 %3 456 1 demo/b worker :orange-agent-/x.json ")->title.empty());
    CHECK(tmux::pane_from("12 $1 @2 %3 456 1 demo/b worker :orange-agent-/x.json  [ ! ] two  words ")->title ==
          " [ ! ] two  words ");
    CHECK_FALSE(tmux::pane_from(""));
}

TEST_CASE("a look at a pane is its title, its screen with and without attributes, and when a person was there") {
    const auto view =
        tmux::view_from("3 2 50 90 [ ! ] two words\nfirst\n\x1b[2msecond\x1b[0m\n line\nfirst\nsecond line\n\n");
    CHECK(view.title == "[ ! ] two words");
    CHECK(tmux::view_from("1 0 0 0 Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\nx\nx\n").title.empty());  // claude asks for graphics
    CHECK(tmux::view_from("1 0 0 0 Git log\nx\nx\n").title == "Git log");
    CHECK(view.screen == "first\nsecond line\n");
    CHECK(view.styled == "first\n\x1b[2msecond\x1b[0m\n line\n");
    CHECK(view.cursor == 2U);
    CHECK(view.touched_at == Timestamp{std::chrono::seconds(90)});
    CHECK_FALSE(tmux::view_from("1 0 50 50 \nx\nx\n").touched_at);  // the start of a session counts as a use
    for (const auto* cut : {"", "4", "4 1 3", "4 1 1 1 title", "x y z title\n"}) {
        INFO(cut);
        CHECK(tmux::view_from(cut).screen.empty());
        CHECK(tmux::view_from(cut).styled.empty());
    }
}

TEST_CASE("typed text is one line without control characters") {
    CHECK(tmux::typeable("plain; text; #(id) $(id)") == "plain; text; #(id) $(id)");
    CHECK(tmux::typeable("a\nb\r\nc\td\n") == "a b c d");
    CHECK(tmux::typeable("a\x1b[201~b\x03\x7f") == "a[201~b");
    CHECK(tmux::typeable("caf\xC3\xA9 \xC2\x9Bx \xC2\xA0y") == "caf\xC3\xA9 x \xC2\xA0y");
    CHECK(tmux::typeable("bad \xFF\xC2 bytes") == "bad  bytes");
    CHECK(tmux::typeable("\xC2").empty());
}

TEST_CASE("a client's line is read whole or not at all") {
    const auto client = tmux::client_from("/dev/pts/7 demo/b 1795439126");
    REQUIRE(client);
    CHECK(client->name == "/dev/pts/7");
    CHECK(client->session_name == "demo/b");
    CHECK_FALSE(tmux::client_from(" demo/b 1795439126"));
    CHECK_FALSE(tmux::client_from("/dev/pts/7 demo/b"));
}

TEST_CASE("nothing in a displayed line is expanded by tmux") {
    CHECK(tmux::displayable("a #(touch y) #{pid} 100%\nb;") == "a ##(touch y) ##{pid} 100%% b; ");
}
