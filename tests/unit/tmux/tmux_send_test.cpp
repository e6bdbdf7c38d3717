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

}  // namespace

TEST_CASE_METHOD(Fixture, "a pane receives exactly the text, then Enter") {
    const auto pane = recorder();
    const std::string text = "[orange] read TASK.md; #(id) #{pid} $(id) `id` \"q\" 'q' \\ %0 ünï;";
    REQUIRE(go(tmux.send(pane.pane_id, text)));
    CHECK(got(text + "\r"));
    CHECK(plain({"list-buffers"}).empty());
}

TEST_CASE_METHOD(Fixture, "line ends submit nothing early, control characters and paste ends do not get through") {
    const auto pane = recorder("printf '\\033[?2004h'; ");
    REQUIRE(go(tmux.send(pane.pane_id, "one\ntwo\x03 \x1b[201~three\n")));
    CHECK(got("\x1b[200~one two [201~three\x1b[201~\r"));
}

TEST_CASE_METHOD(Fixture, "a pane in copy mode is brought back first") {
    const auto pane = recorder();
    plain({"copy-mode", "-t", pane.pane_id});
    REQUIRE(plain({"list-panes", "-t", pane.pane_id, "-F", "#{pane_in_mode}"}) == "1\n");
    REQUIRE(go(tmux.send(pane.pane_id, "hello.")));
    CHECK(got("hello.\r"));
}

TEST_CASE_METHOD(Fixture, "a long text arrives whole") {
    const auto pane = recorder();
    const std::string text(40'000, 'x');
    REQUIRE(go(tmux.send(pane.pane_id, text)));
    CHECK(got(text + "\r"));
}

TEST_CASE_METHOD(Fixture, "nothing to send, or nobody to send to, is an error") {
    const auto pane = recorder();
    CHECK(go(tmux.send(pane.pane_id, "\n\x03")).error().code == ErrorCode::invalid_argument);
    CHECK(go(tmux.send("%99", "x")).error().code == ErrorCode::not_found);
    CHECK(plain({"list-buffers"}).empty());
    CHECK(read_file(dir / "got").empty());
}

TEST_CASE_METHOD(Fixture, "a capture has the last lines of scrollback and screen, without escapes or empty rows") {
    const auto pane = opened(window(
        "demo", "w",
        "i=1; while [ $i -le 200 ]; do printf '\\033[31mline %d\\033[0m\\n' $i; i=$((i+1)); done; exec sleep 600"));
    REQUIRE(eventually([&] { return go(tmux.capture(pane.pane_id, 1)).value() == "line 200\n"; }));
    CHECK(go(tmux.capture(pane.pane_id, 3)).value() == "line 198\nline 199\nline 200\n");
    CHECK(go(tmux.capture(pane.pane_id, 1000)).value().starts_with("line 1\nline 2\n"));
}
