// Text that is typed into a pane: CliTmux::paste and CliTmux::press_enter.
#include <algorithm>

#include "tests/catch.hpp"
#include "tests/unit/tmux/tmux_fixture.hpp"

using namespace orange;
using namespace orange::test;

namespace {

struct Fixture : TmuxFixture {
    /// A pane that writes down every byte that it is sent.
    PaneRef recorder(const std::string& before = "") {
        const auto pane = opened(window(
            "demo", "w",
            before + "stty raw -echo; : > " + (dir / "ready").string() + "; exec cat > " + (dir / "got").string()));
        REQUIRE(eventually([&] { return std::filesystem::exists(dir / "got"); }));
        return pane;
    }
    bool got(const std::string& bytes) {
        return eventually([&] { return read_file(dir / "got").size() >= bytes.size(); }) &&
               read_file(dir / "got") == bytes;
    }
};

/// The pane's process dies when all is said but the paste.
class DeathBeforePaste : public ProcessRunner {
  public:
    DeathBeforePaste(ProcessRunner& real, PaneRef pane, std::string socket)
        : real_(real), pane_(std::move(pane)), socket_(std::move(socket)) {}

    Awaitable<Result<Completed>> run(Command command) override {
        const bool pastes = std::any_of(command.argv.begin(), command.argv.end(), [](const std::string& word) {
            return word.find("paste-buffer") != std::string::npos;
        });
        if (pastes && ::kill(static_cast<pid_t>(pane_.pid), SIGKILL) == 0) {
            for (bool dead = false; !dead;) {
                Command look;
                look.argv = {"tmux", "-S", socket_, "list-panes", "-t", pane_.pane_id, "-F", "#{pane_dead}"};
                const auto seen = co_await real_.run(std::move(look));
                if (!seen) co_return seen.error();
                dead = seen->out != "0\n";
            }
        }
        co_return co_await real_.run(std::move(command));
    }

  private:
    ProcessRunner& real_;
    PaneRef pane_;
    std::string socket_;
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a pane receives exactly the text, then Enter") {
    const auto pane = recorder();
    const std::string text = "[orange] read TASK.md; #(id) #{pid} $(id) `id` \"q\" 'q' \\ %0 ünï;";
    REQUIRE(go(type(tmux, pane.pane_id, text)));
    CHECK(got(text + "\r"));
    CHECK(plain({"list-buffers"}).empty());
}

TEST_CASE_METHOD(Fixture, "line ends submit nothing early, control characters and paste ends do not get through") {
    const auto pane = recorder("printf '\\033[?2004h'; ");
    REQUIRE(go(type(tmux, pane.pane_id, "one\ntwo\x03 \x1b[201~three\n")));
    CHECK(got("\x1b[200~one two [201~three\x1b[201~\r"));
}

TEST_CASE_METHOD(Fixture, "a pane in copy mode is brought back first") {
    const auto pane = recorder();
    plain({"copy-mode", "-t", pane.pane_id});
    REQUIRE(plain({"list-panes", "-t", pane.pane_id, "-F", "#{pane_in_mode}"}) == "1\n");
    REQUIRE(go(type(tmux, pane.pane_id, "hello.")));
    CHECK(got("hello.\r"));
}

TEST_CASE_METHOD(Fixture, "a long text arrives whole") {
    const auto pane = recorder();
    const std::string text(40'000, 'x');
    REQUIRE(go(type(tmux, pane.pane_id, text)));
    CHECK(got(text + "\r"));
}

TEST_CASE_METHOD(Fixture, "Enter is pressed only when the pane holds the text, and once more if it still does") {
    const auto pane = recorder();
    REQUIRE(go(tmux.paste(pane.pane_id, "hello.")));
    int looks = 0;
    SECTION("it never does") {
        CHECK(go(tmux.press_enter(pane.pane_id, [](const PaneView&) { return false; })).value() == Entered::no);
        REQUIRE(go(tmux.paste(pane.pane_id, "!")));
        CHECK(got("hello.!"));
    }
    SECTION("it does at the third look") {
        const auto third = [&](const PaneView&) { return ++looks == 3; };
        CHECK(go(tmux.press_enter(pane.pane_id, third)).value() == Entered::taken);
        CHECK(got("hello.\r"));
    }
    SECTION("it goes on doing so") {
        CHECK(go(tmux.press_enter(pane.pane_id, [](const PaneView&) { return true; })).value() == Entered::holds);
        CHECK(got("hello.\r\r"));
    }
}

TEST_CASE_METHOD(Fixture, "nothing to send, or nobody to send to, is an error") {
    const auto pane = recorder();
    CHECK(go(type(tmux, pane.pane_id, "\n\x03")).error().code == ErrorCode::invalid_argument);
    CHECK(go(type(tmux, "%99", "x")).error().code == ErrorCode::not_found);
    CHECK(plain({"list-buffers"}).empty());
    CHECK(read_file(dir / "got").empty());
}

TEST_CASE_METHOD(Fixture, "a pane that dies just before the paste is nobody to send to, and its server lives on") {
    const auto pane = recorder();
    const auto other = opened(window("other", "w"));
    DeathBeforePaste deadly(runner, pane, (dir / "tmux.sock").string());
    CliTmux sender(deadly, dir / "tmux.sock", scrubbed_environment());
    CHECK(go(type(sender, pane.pane_id, "hello")).error().code == ErrorCode::not_found);
    CHECK(state().server_pid == other.server_pid);
    CHECK(plain({"list-buffers"}).empty());
}

TEST_CASE_METHOD(Fixture, "a capture has the last lines of scrollback and screen, without escapes or empty rows") {
    const auto pane = opened(window(
        "demo", "w",
        "i=1; while [ $i -le 200 ]; do printf '\\033[31mline %d\\033[0m\\n' $i; i=$((i+1)); done; exec sleep 600"));
    REQUIRE(eventually([&] { return go(tmux.capture(pane.pane_id, 1)).value() == "line 200\n"; }));
    CHECK(go(tmux.capture(pane.pane_id, 3)).value() == "line 198\nline 199\nline 200\n");
    CHECK(go(tmux.capture(pane.pane_id, 1000)).value().starts_with("line 1\nline 2\n"));
    const auto screen = go(tmux.capture(pane.pane_id, 0)).value();
    CHECK(screen.ends_with("line 199\nline 200\n"));
    CHECK_THAT(screen, !Holds("line 100\n"));  // scrolled away
}
