// A person in a terminal (a pane of a second tmux, which types real keys) leaves a session of Orange's server.
#include "daemon/tmux/attaching.hpp"

#include "tests/catch.hpp"
#include "tests/unit/tmux/tmux_fixture.hpp"

using namespace orange;
using namespace orange::test;

namespace {

class Terminals : public TmuxFixture {
  public:
    ~Terminals() {
        const auto pid = screen({"display-message", "-p", "#{pid}"});
        if (!pid.empty()) end_server(std::stoll(pid));
    }
    std::string screen(std::vector<std::string> args) {
        Command command;
        command.argv = {"tmux", "-S", (dir / "screen.sock").string(), "-f", "/dev/null"};
        command.argv.insert(command.argv.end(), args.begin(), args.end());
        auto env = scrubbed_environment();
        env["LC_ALL"] = "C.UTF-8";
        command.env = std::move(env);
        return go(runner.run(std::move(command))).value().out;
    }
    /// A terminal of that many columns, attached to a session.
    void attach(const std::string& name, const std::string& session_id, int columns = 80) {
        // Else the server around it may be about to end, as the last terminal has.
        screen({"start-server", ";", "set-option", "-s", "exit-empty", "off"});
        screen({"new-session", "-d", "-x", std::to_string(columns), "-y", "10", "-s", name, "--", "env", "-u", "TMUX",
                "tmux", "-S", (dir / "tmux.sock").string(), "attach-session", "-t", session_id});
        REQUIRE(eventually([&] { return attached() == ++count_ || (--count_, false); }));
    }
    void type(const std::string& name, const std::string& key) { screen({"send-keys", "-t", "=" + name + ":", key}); }
    void type_text(const std::string& name, const std::string& text) {
        screen({"send-keys", "-t", "=" + name + ":", "-l", text});
    }
    std::string shown(const std::string& name) { return screen({"capture-pane", "-p", "-t", "=" + name + ":"}); }
    bool left() {
        const auto before = count_--;
        return eventually([&] { return attached() == before - 1; });
    }
    int attached() { return static_cast<int>(go(tmux.clients()).value().size()); }

  private:
    int count_ = 0;
};

/// The program in the pane shows each key that reaches it.
constexpr const char* k_shows_keys = "stty raw -echo; echo ready; exec cat -v";

}  // namespace

TEST_CASE_METHOD(Terminals,
                 "a key without a prefix leaves Orange's session, also from copy mode, and the agent goes on") {
    const auto pane = opened(window("demo/b1", "worker"));
    attach("one", pane.session_id);
    type("one", "C-q");
    CHECK(left());
    attach("two", pane.session_id);
    type("two", "C-b");
    type("two", "[");
    REQUIRE(eventually([&] {
        return plain({"display-message", "-p", "-t", pane.pane_id, "#{pane_in_mode}"}) == "1\n";
    }));
    type("two", "C-q");
    CHECK(left());
    CHECK_FALSE(state().panes.at(0).dead);
}

TEST_CASE_METHOD(Terminals, "the prefix with d, and a click on the hint, leave it, too") {
    const auto pane = opened(window("demo/b1", "worker"));
    attach("one", pane.session_id);
    type("one", "C-b");
    type("one", "d");
    CHECK(left());
    attach("two", pane.session_id);
    REQUIRE(eventually([&] { return shown("two").find("Ctrl-q leaves") != std::string::npos; }));
    type_text("two", "\x1b[<0;5;10M");
    CHECK(left());
}

TEST_CASE_METHOD(Terminals, "in a session that a person opened on the server, the program gets the key") {
    opened(window("demo/b1", "worker"));
    plain({"new-session", "-d", "-s", "own", "sh", "-c", k_shows_keys});
    attach("one", "=own");
    REQUIRE(eventually([&] { return shown("one").find("ready") != std::string::npos; }));
    type("one", "C-q");
    CHECK(eventually([&] { return shown("one").find("^Q") != std::string::npos; }));
    CHECK(attached() == 1);
    CHECK(shown("one").find("Ctrl-q") == std::string::npos);
}

TEST_CASE_METHOD(Terminals, "the status line says how to leave in a terminal of any width") {
    const auto name = "demo/" + std::string(55, 'b');
    const auto pane = opened(window(name, "worker"));
    for (const int columns : {200, 80, 40, 20, 15}) {
        const auto terminal = "wide" + std::to_string(columns);
        attach(terminal, pane.session_id, columns);
        INFO(columns);
        CHECK(eventually([&] { return shown(terminal).find(" Ctrl-q leaves") != std::string::npos; }));
    }
}

TEST_CASE_METHOD(Terminals, "a running server gets another key, and gives the first one to the agent again") {
    const auto pane = opened(window("demo/b1", "worker", k_shows_keys));
    attach("one", pane.session_id);
    REQUIRE(eventually([&] { return shown("one").find("ready") != std::string::npos; }));
    tmux.set_detach_key(detach_key_from("C-\\").value());
    REQUIRE(go(tmux.bind_detach_key()));
    CHECK(eventually([&] { return shown("one").find("Ctrl-\\ leaves") != std::string::npos; }));
    type("one", "C-q");
    CHECK(eventually([&] { return shown("one").find("^Q") != std::string::npos; }));
    type("one", "C-\\");
    CHECK(left());
    tmux.set_detach_key(detach_key_from("off").value());
    REQUIRE(go(tmux.bind_detach_key()));
    attach("two", pane.session_id);
    CHECK(eventually([&] { return shown("two").find("C-b d leaves") != std::string::npos; }));
    type("two", "C-\\");
    CHECK(eventually([&] { return shown("two").find("^\\") != std::string::npos; }));
    CHECK(attached() == 1);
}

TEST_CASE_METHOD(Terminals, "without a server there is nothing to bind, and none is started") {
    REQUIRE(go(tmux.bind_detach_key()));
    CHECK(state().server_pid == 0);
}
