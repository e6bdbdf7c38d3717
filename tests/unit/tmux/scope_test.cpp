// The scope of the user manager in which the tmux server starts.
#include "daemon/process/scopes.hpp"

#include "tests/catch.hpp"
#include "tests/unit/tmux/tmux_fixture.hpp"

using namespace orange;
using namespace orange::test;

namespace {

/// A folder with a stand-in for systemd-run in front of PATH, and a runtime folder as a user manager makes it.
struct ManagerWorld {
    explicit ManagerWorld(const std::string& script) {
        write_file(dir / "bin/systemd-run", "#!/bin/sh\n" + script);
        std::filesystem::permissions(dir / "bin/systemd-run", std::filesystem::perms::owner_all);
        write_file(dir / "runtime/systemd/private", "");
        env = scrubbed_environment();
        env["PATH"] = (dir / "bin").string() + ":" + env["PATH"];
        env["XDG_RUNTIME_DIR"] = (dir / "runtime").string();
        env["RECORD"] = (dir / "record").string();
    }
    ~ManagerWorld() {
        CliTmux tmux(runner, dir / "tmux.sock", env);
        const auto state = run(io, tmux.list());
        if (!state || state->server_pid <= 0) return;
        const auto pid = state->server_pid;
        ::kill(static_cast<pid_t>(pid), SIGTERM);
        eventually([&] { return !process::start_time(pid); });
    }

    Result<PaneRef> open(std::string& note) {
        CliTmux tmux(runner, dir / "tmux.sock", env);
        tmux.on_note([&](const std::string& what) { note += what; });
        WindowSpec spec;
        spec.session = "demo/b1";
        spec.window = "worker";
        spec.argv = {"sleep", "600"};
        return run(io, tmux.open(std::move(spec)));
    }

    TempDir dir;
    asio::io_context io;
    PosixProcessRunner runner;
    Environment env;
};

}  // namespace

TEST_CASE("the tmux server starts in a scope of the user manager, and only the server does") {
    // The stand-in writes down its words and then does what systemd-run --scope does: it becomes the command.
    ManagerWorld world(
        "here=$(dirname \"$0\")\nprintf '%s\\n' \"$@\" >>\"$here/../record\"\n"
        "while [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n");
    std::string note;
    const auto first = world.open(note);
    REQUIRE(first);
    CHECK(note.empty());
    const auto record = read_file(world.dir / "record");
    INFO(record);
    CHECK(record.starts_with("--user\n--scope\n--collect\n--quiet\n--unit=orange-tmux-"));
    CHECK(record.find("\n--\n") < record.find("/tmux\n-S\n"));
    CHECK_THAT(record, Tells("\nstart-server\n"));
    CHECK_THAT(record, !Holds("new-session"));
    // The server is there now: nothing is wrapped again.
    CHECK(world.open(note).error().code == ErrorCode::conflict);
    CHECK(read_file(world.dir / "record") == record);
}

TEST_CASE("a user manager that refuses leaves a note and a server without a scope") {
    ManagerWorld world("echo 'Failed to connect to bus' >&2\nexit 1\n");
    std::string note;
    REQUIRE(world.open(note));
    CHECK_THAT(note, Holds("Failed to connect to bus"));
}

TEST_CASE("a systemd that does not know the policy for scopes starts the server in a scope all the same") {
    ManagerWorld world(
        "case \"$*\" in *OOMPolicy*) exit 1 ;; esac\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n");
    std::string note;
    REQUIRE(world.open(note));
    CHECK(note.empty());
}

TEST_CASE("without a user manager or its systemd-run there are no words in front of tmux") {
    ManagerWorld world("exit 1\n");
    const auto words_in = [](const Environment& env) { return process::scope_words(env, "a.scope", {}); };
    const auto words = words_in(world.env);
    REQUIRE(words.size() > 3);
    CHECK(words.front() == (world.dir / "bin/systemd-run").string());
    CHECK(words.back() == "--");

    auto env = world.env;
    env["PATH"] = (world.dir / "nowhere").string();
    CHECK(words_in(env).empty());
    env = world.env;
    env["XDG_RUNTIME_DIR"] = (world.dir / "nowhere").string();
    CHECK(words_in(env).empty());
    env.erase("XDG_RUNTIME_DIR");
    CHECK(words_in(env).empty());
}
