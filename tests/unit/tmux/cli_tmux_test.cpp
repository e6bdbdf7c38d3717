#include <algorithm>
#include <set>

#include "daemon/async/async.hpp"
#include "tests/catch.hpp"
#include "tests/unit/tmux/tmux_fixture.hpp"

using namespace orange;
using namespace orange::test;

TEST_CASE_METHOD(TmuxFixture, "no server is an answer, not an error") {
    CHECK(state().server_pid == 0);
    CHECK(go(tmux.kill("$3")));
    CHECK(go(tmux.kill("@3")));
    CHECK(go(tmux.capture("%3", 10)).error().code == ErrorCode::not_found);
    CHECK(go(tmux.paste("%3", "x")).error().code == ErrorCode::not_found);
    CHECK(state().server_pid == 0);
}

TEST_CASE_METHOD(TmuxFixture, "a window opens in a new session, another one in the same, both are listed") {
    const auto worker = opened(window("demo/b1", "worker"));
    CHECK(worker.server_pid > 0);
    CHECK(process::parent_of(worker.pid) == worker.server_pid);
    auto spec = window("", "review-1");
    spec.in_session = worker.session_id;
    const auto review = opened(spec);
    CHECK(review.session_id == worker.session_id);
    CHECK(review.window_id != worker.window_id);
    const auto now = state();
    CHECK(now.server_pid == worker.server_pid);
    REQUIRE(now.panes.size() == 2);
    CHECK(now.panes[0].ref == worker);
    CHECK(now.panes[1].ref == review);
    CHECK(names() == std::vector<std::string>{"demo/b1:worker", "demo/b1:review-1"});
    // Without the focus.
    CHECK(plain({"list-windows", "-t", worker.session_id, "-F", "#{window_active} #{window_name}"}) ==
          "1 worker\n0 review-1\n");
}

TEST_CASE_METHOD(TmuxFixture, "a pane's last lines come with the server that answers, and only from the pane's own") {
    PaneRef nowhere;
    nowhere.pane_id = "%0";
    CHECK(go(tmux.last_lines(nowhere, 10)).value().server_pid == 0);
    const auto first = opened(window("shop/a", "one"));
    auto second = window("", "two", "printf 'one\\ntwo\\nthree\\n'; exec sleep 600");
    second.in_session = first.session_id;
    const auto pane = opened(second);
    REQUIRE(eventually([&] { return go(tmux.last_lines(pane, 10)).value().text == "one\ntwo\nthree\n"; }));
    const auto last = go(tmux.last_lines(pane, 1)).value();
    CHECK(last.server_pid == first.server_pid);
    CHECK(last.server_start == first.server_start);
    CHECK(last.text == "three\n");
    auto elsewhere = pane;
    elsewhere.server_pid = 1;  // its pane has the same id
    CHECK(go(tmux.last_lines(elsewhere, 10)).value().server_pid == first.server_pid);
    CHECK_FALSE(go(tmux.last_lines(elsewhere, 10)).value().text);
    REQUIRE(go(tmux.kill(first.session_id)));
    const auto without_session = go(tmux.last_lines(pane, 10)).value();
    CHECK(without_session.server_pid == first.server_pid);
    CHECK_FALSE(without_session.text);
    end_server(first.server_pid);
    CHECK(go(tmux.last_lines(pane, 10)).value().server_pid == 0);
}

TEST_CASE_METHOD(TmuxFixture, "a taken name is a conflict, a missing session not found") {
    const auto pane = opened(window("demo/b1", "worker"));
    CHECK(go(tmux.open(window("demo/b1", "worker"))).error().code == ErrorCode::conflict);
    auto spec = window("", "review-1");
    spec.in_session = "$99";
    CHECK(go(tmux.open(spec)).error().code == ErrorCode::not_found);
    const auto other = opened(window("demo/b2", "worker"));
    CHECK(go(tmux.rename_session(other.session_id, "demo/b1")).error().code == ErrorCode::conflict);
    CHECK(go(tmux.rename_session("$99", "demo/b9")).error().code == ErrorCode::not_found);
    CHECK(go(tmux.rename_session(pane.session_id, "demo/renamed")));
    CHECK(names() == std::vector<std::string>{"demo/b2:worker", "demo/renamed:worker"});
}

TEST_CASE_METHOD(TmuxFixture, "killing hits exactly what was meant, whatever looks like it") {
    const auto target = opened(window("demo/b1", "review-1"));
    opened(window("demo/b10", "worker"));
    opened(window("demo/b", "worker"));
    auto spec = window("", "review-10");
    spec.in_session = target.session_id;
    opened(spec);
    REQUIRE(go(tmux.kill(target.window_id)));
    CHECK(names() == std::vector<std::string>{"demo/b:worker", "demo/b1:review-10", "demo/b10:worker"});
    REQUIRE(go(tmux.kill(target.session_id)));
    CHECK(names() == std::vector<std::string>{"demo/b:worker", "demo/b10:worker"});
    CHECK(go(tmux.kill(target.session_id)));
    CHECK(go(tmux.kill(target.window_id)));
    CHECK(names().size() == 2);
}

TEST_CASE_METHOD(TmuxFixture, "hostile names, ids and commands never reach tmux") {
    const auto mark = (dir / "ran").string();
    const auto code = [this](WindowSpec spec) { return go(tmux.open(std::move(spec))).error().code; };
    CHECK(code(window("x#(touch " + mark + ")", "worker")) == ErrorCode::invalid_argument);
    CHECK(code(window("demo", "w#(touch " + mark + ")")) == ErrorCode::invalid_argument);
    CHECK(code(window("demo;", "w")) == ErrorCode::invalid_argument);
    auto spec = window("demo", "w");
    spec.argv = {"true", "x;", "run-shell", "touch " + mark};
    CHECK(code(spec) == ErrorCode::invalid_argument);
    spec.argv = {"touch " + mark};
    CHECK(code(spec) == ErrorCode::invalid_argument);
    spec = window("", "w");
    spec.in_session = "demo";
    CHECK(code(spec) == ErrorCode::invalid_argument);
    for (const std::string id : {"", "demo", "=demo", "$1;", "$1:", "%1", "*"}) {
        CHECK(go(tmux.kill(id)).error().code == ErrorCode::invalid_argument);
        CHECK(go(tmux.rename_session(id, "x")).error().code == ErrorCode::invalid_argument);
    }
    CHECK(go(tmux.paste("demo", "x")).error().code == ErrorCode::invalid_argument);
    CHECK(go(tmux.capture("@1", 5)).error().code == ErrorCode::invalid_argument);
    CHECK(state().server_pid == 0);
    CHECK_FALSE(std::filesystem::exists(mark));
}

TEST_CASE_METHOD(TmuxFixture, "arguments reach the program as they are") {
    WindowSpec spec = window("demo", "w");
    spec.argv = {"sh",  "-c", "printf '%s\\n' \"$@\" > " + (dir / "args").string(), "sh", "$(id)", "#{pid}",
                 "a b", "-x"};
    opened(spec);
    CHECK(eventually([&] { return read_file(dir / "args") == "$(id)\n#{pid}\na b\n-x\n"; }));
}

TEST_CASE_METHOD(TmuxFixture, "a pane whose process ended is listed as dead, and can still be read") {
    const auto pane = opened(window("demo", "w", "echo last words; exit 3"));
    REQUIRE(eventually([&] { return state().panes.at(0).dead; }));
    CHECK(state().panes.at(0).ref.pane_id == pane.pane_id);
    CHECK(eventually([&] { return go(tmux.capture(pane.pane_id, 100)).value().starts_with("last words\n"); }));
    CHECK(go(tmux.paste(pane.pane_id, "x")).error().code == ErrorCode::not_found);
    REQUIRE(go(tmux.kill(pane.window_id)));
    CHECK(state().panes.empty());
}

TEST_CASE_METHOD(TmuxFixture, "the server keeps running without sessions") {
    const auto pane = opened(window("demo", "w"));
    REQUIRE(go(tmux.kill(pane.session_id)));
    const auto now = state();
    CHECK(now.server_pid == pane.server_pid);
    CHECK(now.panes.empty());
    CHECK(opened(window("demo", "w")).server_pid == pane.server_pid);
}

TEST_CASE_METHOD(TmuxFixture, "a killed server is state 0, and the next one counts anew under another pid") {
    const auto first = opened(window("demo", "w"));
    end_server(first.server_pid, SIGKILL);
    CHECK(state().server_pid == 0);
    const auto second = opened(window("demo", "w"));
    CHECK(second.server_pid != first.server_pid);
    CHECK(second.session_id == first.session_id);
}

TEST_CASE_METHOD(TmuxFixture, "a server whose socket was deleted is found again instead of starting a second one") {
    const auto first = opened(window("demo", "w"));
    CHECK(state().server_pid == first.server_pid);
    std::filesystem::remove(dir / "tmux.sock");
    const auto second = opened(window("demo2", "w"));
    CHECK(second.server_pid == first.server_pid);
    CHECK(names().size() == 2);
}

TEST_CASE_METHOD(TmuxFixture, "a server whose socket was deleted is still a server to whoever looks", "[slow]") {
    const auto first = opened(window("demo", "w"));
    std::filesystem::remove(dir / "tmux.sock");
    CHECK(state().server_pid == first.server_pid);
    std::filesystem::remove(dir / "tmux.sock");
    CHECK(go(tmux.capture(first.pane_id, 0)));
    std::filesystem::remove(dir / "tmux.sock");
    CHECK(go(tmux.kill(first.window_id)));
    CHECK(names().empty());
}

TEST_CASE_METHOD(TmuxFixture, "a server whose socket was deleted before anybody asked is known by what is expected") {
    const auto first = opened(window("demo", "w"));
    CHECK(first.server_start == process::start_time(first.server_pid));
    std::filesystem::remove(dir / "tmux.sock");
    CliTmux later(runner, dir / "tmux.sock", scrubbed_environment());
    later.expect_server(first.server_pid, first.server_start - 1);  // gone, and its number was given away
    CHECK(go(later.list()).value().server_pid == 0);
    later.expect_server(first.server_pid, first.server_start);
    CHECK(go(later.open(window("demo2", "w"))).value().server_pid == first.server_pid);
    const auto now = go(later.list()).value();
    CHECK(now.server_pid == first.server_pid);
    CHECK(now.server_start == first.server_start);
    CHECK(now.panes.size() == 2);
}

TEST_CASE_METHOD(TmuxFixture, "a server that does not make its socket anew is an error, neither none nor a second one",
                 "[slow]") {
    const auto first = opened(window("demo", "w"));
    ::kill(static_cast<pid_t>(first.server_pid), SIGSTOP);
    std::filesystem::remove(dir / "tmux.sock");
    const auto listed = go(tmux.list());
    const auto second = go(tmux.open(window("demo2", "w")));
    ::kill(static_cast<pid_t>(first.server_pid), SIGCONT);
    REQUIRE_FALSE(listed);
    CHECK(listed.error().code == ErrorCode::unavailable);
    CHECK_THAT(listed.error().message, Tells("kill -USR1 " + std::to_string(first.server_pid)));
    REQUIRE_FALSE(second);
    CHECK(second.error().code == ErrorCode::unavailable);
    REQUIRE(eventually([&] { return go(tmux.list()).has_value(); }));
    CHECK(state().server_pid == first.server_pid);
}

TEST_CASE_METHOD(TmuxFixture, "a socket is not made anew in a folder that became another one while tmux was asked") {
    const auto first = opened(window("demo", "w"));
    std::filesystem::remove(dir / "tmux.sock");
    int asked = 0;
    tmux.ask_first([&]() -> Result<void> {
        if (asked++ == 0) return {};
        return Error(ErrorCode::io, "another folder stands there");
    });
    const auto listed = go(tmux.list());
    CHECK_FALSE(std::filesystem::exists(dir / "tmux.sock"));
    REQUIRE_FALSE(listed);
    CHECK(listed.error().code == ErrorCode::io);
    tmux.ask_first({});
    CHECK(state().server_pid == first.server_pid);
}

TEST_CASE_METHOD(TmuxFixture, "nothing of the daemon's environment leaks into a pane") {
    auto base = scrubbed_environment();
    base["SECRET_TOKEN"] = "s3cret";
    CliTmux other(runner, dir / "tmux.sock", base);
    const auto pane = go(other.open(window("demo", "w"))).value();
    REQUIRE(eventually([&] { return process::environ_of(pane.pid, "TMUX_PANE").has_value(); }));
    CHECK_FALSE(process::environ_of(pane.pid, "SECRET_TOKEN"));
    CHECK_FALSE(process::environ_of(pane.server_pid, "SECRET_TOKEN"));
    CHECK(process::environ_of(pane.pid, "PATH"));
    CHECK(process::environ_of(pane.pid, "TERM") == "tmux-256color");
}

TEST_CASE_METHOD(TmuxFixture, "names that a human gave are listed as one safe word") {
    const auto pane = opened(window("demo", "w"));
    plain({"rename-session", "-t", pane.session_id, "two words\t$9 @9"});
    plain({"rename-window", "-t", pane.window_id, "a b c d"});
    const auto now = state();
    REQUIRE(now.panes.size() == 1);
    CHECK(now.panes[0].ref == pane);
    CHECK(now.panes[0].window_name == "a-b-c-d");
    CHECK_THAT(now.panes[0].session_name, !Holds(" "));
}

TEST_CASE_METHOD(TmuxFixture, "a socket path that is too long is an error that says so") {
    CliTmux other(runner, dir / std::string(120, 'x'), scrubbed_environment());
    const auto opened_there = go(other.open(window("demo", "w")));
    REQUIRE_FALSE(opened_there);
    CHECK_THAT(opened_there.error().message, Tells("107"));
    CHECK_FALSE(go(other.list()));
}

TEST_CASE_METHOD(TmuxFixture, "a tmux that is not installed is an error, never an empty list") {
    CliTmux other(runner, dir / "tmux.sock", Environment{{"PATH", "/nowhere"}});
    CHECK(go(other.list()).error().code == ErrorCode::not_found);
}

TEST_CASE_METHOD(TmuxFixture, "a server that does not answer is an error, never an empty list") {
    const auto pane = opened(window("demo", "w"));
    CliTmux impatient(runner, dir / "tmux.sock", scrubbed_environment(), std::chrono::milliseconds(300));
    ::kill(static_cast<pid_t>(pane.server_pid), SIGSTOP);
    const auto listed = go(impatient.list());
    ::kill(static_cast<pid_t>(pane.server_pid), SIGCONT);
    REQUIRE_FALSE(listed);
    CHECK(listed.error().code == ErrorCode::timeout);
}

TEST_CASE_METHOD(TmuxFixture, "many first windows at once share one server, and one whose socket was removed, too") {
    const auto opened_at_once = [&](const std::string& name) {
        std::vector<std::optional<Result<PaneRef>>> panes(12);
        for (std::size_t i = 0; i < panes.size(); ++i) {
            auto one = into(panes[i], tmux.open(window(name + std::to_string(i), "w")));
            async::spawn(io.get_executor(), "opening", std::move(one));
        }
        io.restart();
        io.run();
        std::set<std::int64_t> servers;
        for (const auto& pane : panes) servers.insert(pane->value().server_pid);
        return servers;
    };
    const auto servers = opened_at_once("first");
    CHECK(servers.size() == 1);
    std::filesystem::remove(dir / "tmux.sock");
    CHECK(opened_at_once("second") == servers);
    const auto running = [&] {
        std::set<std::int64_t> found;
        for (const auto pid : process::all_pids()) {
            const auto argv = process::argv_of(pid);
            const bool ours = std::find(argv.begin(), argv.end(), (dir / "tmux.sock").string()) != argv.end();
            if (ours && process::name_of(pid) == "tmux: server") found.insert(pid);
        }
        return found;
    };
    // The child that becomes a window's program looks like a server until it does.
    CHECK(eventually([&] { return running() == servers; }));
    CHECK(state().panes.size() == 24);
}

TEST_CASE_METHOD(TmuxFixture, "a server that ends just before its first window is started again below a keeper") {
    const auto here = dir.path.string();
    const auto real = "/usr/bin/tmux -N -S " + (dir / "tmux.sock").string();
    write_file(dir / "bin/tmux",
               "#!/bin/sh\ncase \"$*\" in *new-session*)\n    [ -e " + here + "/ended ] || { : >" + here + "/ended; " +
                   real + " kill-server; while " + real +
                   " list-sessions >/dev/null 2>&1; do :; done; }\nesac\nexec /usr/bin/tmux \"$@\"\n");
    std::filesystem::permissions(dir / "bin/tmux", std::filesystem::perms::owner_all);
    CliTmux ending(runner, dir / "tmux.sock", Environment{{"PATH", here + "/bin:/usr/bin:/bin"}});
    ending.keep_below({"/bin/sh", "-c", "echo kept >>" + here + "/kept; exec \"$@\"", "keeper"});
    CHECK(go(ending.open(window("demo", "w"))));
    CHECK(std::filesystem::exists(dir / "ended"));
    CHECK(read_file(dir / "kept") == "kept\nkept\n");
}

TEST_CASE_METHOD(TmuxFixture, "what the user has configured of tmux is not read") {
    auto base = scrubbed_environment();
    base["HOME"] = dir.path.string();
    base.erase("XDG_CONFIG_HOME");
    const auto mark = (dir / "ran").string();
    for (const auto* name : {".tmux.conf", ".config/tmux/tmux.conf"}) {
        write_file(dir / name, "set-option -g @mine yes\nset-option -g base-index 7\nrun-shell 'touch " + mark + "'\n");
    }
    CliTmux other(runner, dir / "tmux.sock", base);
    const auto pane = go(other.open(window("demo", "w"))).value();
    CHECK(plain({"show-options", "-gqv", "@mine"}).empty());
    CHECK(plain({"display-message", "-p", "-t", pane.pane_id, "#{window_index}"}) == "0\n");
    CHECK_FALSE(std::filesystem::exists(mark));
}

TEST_CASE_METHOD(TmuxFixture, "a server that is just going away is asked again, though not for ever", "[slow]") {
    const auto here = dir.path.string();
    write_file(dir / "bin/tmux", "#!/bin/sh\nn=$(cat " + here + "/asked)\necho $((n + 1)) >" + here +
                                     "/asked\nif [ \"$n\" -lt \"$(cat " + here + "/failures)\" ]; then cat " + here +
                                     "/words >&2; exit 1; fi\necho 2000000000\n");
    std::filesystem::permissions(dir / "bin/tmux", std::filesystem::perms::owner_all);
    CliTmux leaving(runner, dir / "tmux.sock", Environment{{"PATH", here + "/bin:" + tests::tools()}});
    const auto asked = [&](const std::string& words, const std::string& failures) {
        write_file(dir / "words", words + "\n");
        write_file(dir / "failures", failures + "\n");
        write_file(dir / "asked", "0\n");
        return go(leaving.list()).value().server_pid;
    };
    for (const auto* words : {"server exited unexpectedly", "lost server"}) {
        CHECK(asked(words, "2") == 2'000'000'000);
        CHECK(read_file(dir / "asked") == "3\n");
    }
    CHECK(asked("no server running on /x", "2") == 0);
    CHECK(read_file(dir / "asked") == "1\n");
    CHECK(asked("lost server", "1000") == 0);
    CHECK(read_file(dir / "asked") == "6\n");
}

TEST_CASE_METHOD(TmuxFixture, "a view has the screen joined, and line by line with its attributes") {
    const auto pane =
        opened(window("demo/b1", "w", "printf '%0500d\\nprompt> \\033[2ma suggestion\\033[0m said'; exec cat"));
    PaneView view;
    REQUIRE(eventually([&] {
        view = go(tmux.view_pane(pane.pane_id)).value();
        return view.screen.find("said") != std::string::npos;
    }));
    CHECK_THAT(view.styled, Holds("prompt> \x1b[2ma suggestion\x1b[0m"));
    CHECK(view.screen.find(std::string(500, '0')) != std::string::npos);
    CHECK(view.styled.find(std::string(500, '0')) == std::string::npos);
    CHECK_FALSE(view.touched_at);
    REQUIRE(go(tmux.paste(pane.pane_id, "Orange's own")));
    CHECK_FALSE(go(tmux.view_pane(pane.pane_id)).value().touched_at);
}

TEST_CASE_METHOD(TmuxFixture, "an attached terminal is listed with its session, and shows a line unchanged") {
    CHECK(go(tmux.clients()).value().empty());
    opened(window("demo/b1", "worker"));
    CHECK(go(tmux.clients()).value().empty());
    TmuxFixture terminal;
    const auto attach = "unset TMUX; TERM=screen exec tmux -S " + (dir / "tmux.sock").string() + " attach -t =demo/b1";
    const auto pane = terminal.opened(terminal.window("terminal", "shell", attach));
    REQUIRE(eventually([&] { return go(tmux.clients()).value().size() == 1; }));
    const auto client = go(tmux.clients()).value().front();
    CHECK(client.session_name == "demo/b1");
    const auto mark = (dir / "mark").string();
    const std::string text = "look #(touch " + mark + ") #{pid} 100% now;";
    REQUIRE(go(tmux.display_message(client.name, text)));
    CHECK(eventually(
        [&] { return terminal.go(terminal.tmux.capture(pane.pane_id, 0)).value().find(text) != std::string::npos; }));
    CHECK_FALSE(std::filesystem::exists(mark));
    CHECK(eventually([&] {
        return terminal.plain({"display-message", "-p", "-t", "terminal", "#{window_bell_flag}"}).starts_with("1");
    }));
}
