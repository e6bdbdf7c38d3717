#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "tests/catch.hpp"
#include "tests/unit/shim/shim_fixture.hpp"

using namespace orange;
using namespace orange::test;
using namespace std::chrono_literals;

namespace {

/// Starts the shim, waits for a file with a pid, does something to the shim, and lets it end.
struct Fixture : ShimFixture {
    Completed run_shim_with(const RunSpec& spec, std::function<void(std::int64_t shim)> act) {
        Command shim;
        shim.argv = command(spec);
        std::optional<Result<Completed>> result;
        asio::co_spawn(io, into(result, runner.run(std::move(shim))), [](std::exception_ptr) {});
        io.restart();
        REQUIRE(eventually([&] {
            io.poll();
            return read_file(dir / "pid").ends_with('\n');
        }));
        act(process::parent_of(pid_in("pid")).value());
        io.run();
        return result->value();
    }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "the exit status is recorded and passed on, and the shim adds no word of its own") {
    const auto before = SystemClock().now();
    const auto done = run_shim(script("echo out; exit 7"));
    CHECK(done.exit_status == 7);
    CHECK(done.out == "out\n");
    CHECK(done.err.empty());
    const auto record = exit_record();
    CHECK(record.run.value == "run123456789");
    CHECK(record.exit_status == 7);
    CHECK(record.signal == 0);
    CHECK(record.error.empty());
    CHECK(record.ended_at >= before);
}

TEST_CASE_METHOD(Fixture, "the pid of the agent's program is told once it runs, but not that of an executor") {
    auto spec = script("echo $$ > \"$OUT/pid\"");
    SECTION("an agent") {
        run_shim(spec);
        CHECK(read_file(begun_file(spec.exit_file)) == read_file(dir / "pid"));
        CHECK(begun_from_text(read_file(dir / "pid")) == pid_in("pid"));
    }
    SECTION("an executor") {
        spec.inner_folder = (dir / "inner").string();
        run_shim(spec);
        CHECK_FALSE(std::filesystem::exists(begun_file(spec.exit_file)));
    }
    for (const char* wrong : {"", "1", "0\n", "-1\n", "1 2\n", "x\n"}) CHECK_FALSE(begun_from_text(wrong));
}

TEST_CASE_METHOD(Fixture, "if memory is used up, the kernel ends the agent before the shim") {
    const auto own = std::stoi(read_file("/proc/self/oom_score_adj"));
    CHECK(run_shim(script("cat /proc/self/oom_score_adj /proc/$PPID/oom_score_adj")).out ==
          std::to_string(std::max(500, own)) + "\n" + std::to_string(own) + "\n");
}

TEST_CASE_METHOD(Fixture, "without a control group the limit of memory holds for each process of the agent") {
    auto spec = script("ulimit -d; sh -c 'ulimit -d'");
    spec.memory_limit = std::int64_t{512} << 20;
    CHECK(run_shim(spec).out == "524288\n524288\n");
    CHECK_FALSE(exit_record().use);
}

TEST_CASE_METHOD(Fixture, "no file of an agent grows beyond the limit of its disk") {
    auto spec = script("cd \"$OUT\"; head -c 3000000 /dev/zero >big; echo $?; wc -c <big; head -c 9 /dev/zero | wc -c");
    spec.disk_limit = std::int64_t{1} << 20;
    CHECK(run_shim(spec).out == "153\n1048576\n9\n");  // SIGXFSZ
}

TEST_CASE_METHOD(Fixture, "an agent is held to its limit of processes only where that counts nothing but its box") {
    const auto own = process::user_namespace_of(::getpid()).value();
    auto spec = script("sed -n 's/^Max processes  *\\([0-9a-z]*\\).*/\\1/p' /proc/self/limits");
    const auto usual = run_shim(spec).out;
    rlimit most{};
    REQUIRE(::getrlimit(RLIMIT_NPROC, &most) == 0);
    const auto limit = std::min<rlim_t>(most.rlim_max, 60'123) - 1;
    spec.processes_limit = static_cast<std::int64_t>(limit);
    CHECK(run_shim(spec).out == usual);  // no executor
    spec.user_namespace = own;
    CHECK(run_shim(spec).out == usual);  // an executor with the namespace of the daemon
    spec.user_namespace = "user:[1]";
    CHECK(run_shim(spec).out == std::to_string(limit) + "\n");
}

TEST_CASE_METHOD(Fixture, "an agent whose scope is refused starts without one, and says nothing of it in its window") {
    write_file(dir / "refuse",
               "#!/bin/sh\necho \"$1\" >" + (dir / "asked").string() + "\necho refused\necho refused >&2\nexit 1\n");
    std::filesystem::permissions(dir / "refuse", std::filesystem::perms::owner_all);
    auto spec = script("echo \"$PPID\"; exit 3");
    spec.scope = {(dir / "refuse").string()};
    const auto done = run_shim(spec);
    CHECK(done.exit_status == 3);
    CHECK(done.out == read_file(dir / "asked"));  // the shim itself is to be moved
    CHECK(done.err.empty());
    CHECK_FALSE(exit_record().use);
    spec.scope = {(dir / "missing").string()};
    CHECK(run_shim(spec).exit_status == 3);
}

TEST_CASE_METHOD(Fixture, "an agent ended by a signal is recorded with it") {
    CHECK(run_shim(script("kill -KILL $$")).exit_status == 137);
    CHECK(exit_record().signal == 9);
    CHECK(exit_record().exit_status == 137);
}

TEST_CASE_METHOD(Fixture, "environment, directory and arguments are exactly the spec's") {
    auto spec = script("env | grep -v -e ^PWD= -e ^SHLVL= -e ^_= | sort; pwd; printf '%s|' \"$@\"");
    spec.argv.insert(spec.argv.end(), {"sh", "$(id)", "a b", "", "x;"});
    spec.env["TERM"] = "t";
    CHECK(run_shim(spec).out ==
          "OUT=" + dir.path.string() + "\nPATH=" + tests::tools() + "\nTERM=t\n" + spec.cwd + "\n$(id)|a b||x;|");
}

TEST_CASE_METHOD(Fixture, "an agent has the umask of its spec, whatever its tmux server has") {
    auto spec = script("umask");
    spec.umask = "0027";
    CHECK(run_shim(spec).out == "0027\n");
    spec.umask = "0002";
    CHECK(run_shim(spec).out == "0002\n");
}

TEST_CASE_METHOD(Fixture, "a program that does not exist, or cannot be run, is said in the pane and recorded") {
    auto spec = script("");
    int expected = 127;
    SECTION("not on PATH") {
        spec.argv = {"no-such-agent"};
    }
    SECTION("no such file") {
        spec.argv = {"/no/such/agent"};
    }
    SECTION("not executable") {
        write_file(dir / "plain", "x");
        spec.argv = {(dir / "plain").string()};
        expected = 126;
    }
    const auto done = run_shim(spec);
    CHECK(done.exit_status == expected);
    CHECK(done.out.empty());
    CHECK_THAT(done.err, Tells(spec.argv[0]));
    CHECK(exit_record().exit_status == expected);
    CHECK_THAT(exit_record().error, Tells(spec.argv[0]));
}

TEST_CASE_METHOD(Fixture, "a missing directory, or one outside the worktree, is refused") {
    auto spec = script("touch $OUT/ran");
    SECTION("missing") {
        std::filesystem::remove(dir / "tree");
    }
    SECTION("a file") {
        std::filesystem::remove(dir / "tree");
        write_file(dir / "tree", "");
    }
    SECTION("elsewhere") {
        spec.cwd = dir.path.string();
    }
    SECTION("a link to elsewhere") {
        std::filesystem::create_directory_symlink(dir.path, dir / "tree/link");
        spec.cwd = (dir / "tree/link").string();
    }
    CHECK(run_shim(spec).exit_status == 126);
    CHECK(exit_record().exit_status == 126);
    CHECK_FALSE(exit_record().error.empty());
    CHECK_FALSE(std::filesystem::exists(dir / "ran"));
}

TEST_CASE_METHOD(Fixture, "a broken or missing spec is an error, and so is a wrong call") {
    write_file(dir / "bad.json", "{}");
    Command shim;
    for (const std::string file : {"bad.json", "none.json"}) {
        shim.argv = {ORANGE_BINARY_DIR "/bin/orange-agent", (dir / file).string()};
        const auto done = run(io, runner.run(shim)).value();
        CHECK(done.exit_status == 126);
        CHECK(done.err.starts_with("orange-agent: "));
    }
    shim.argv = {ORANGE_BINARY_DIR "/bin/orange-agent"};
    CHECK(run(io, runner.run(shim))->exit_status == 2);
}

TEST_CASE_METHOD(Fixture, "a spec that vanishes while the agent runs is no matter") {
    const auto done = run_shim(script("rm $OUT/spec.json; exit 3"));
    CHECK(done.exit_status == 3);
    CHECK(exit_record().exit_status == 3);
    CHECK(exit_record().passed_on == 0);
}

TEST_CASE_METHOD(Fixture, "signals to the shim reach the agent, which may end in its own way") {
    for (const int signal : {SIGTERM, SIGHUP, SIGINT}) {
        std::filesystem::remove(dir / "pid");
        std::filesystem::remove(dir / "exit.json");
        const auto spec = script("trap 'exit 42' TERM HUP INT; echo $$ > $OUT/pid; while :; do sleep 0.05; done");
        const auto done = run_shim_with(spec, [&](std::int64_t shim) { ::kill(static_cast<pid_t>(shim), signal); });
        INFO(signal);
        CHECK(done.exit_status == 42);
        CHECK(exit_record().exit_status == 42);
        CHECK(exit_record().passed_on == signal);
    }
}

TEST_CASE_METHOD(Fixture, "an agent that ignores the signal is killed five seconds later", "[slow]") {
    const auto spec = script("trap '' TERM HUP INT; echo $$ > $OUT/pid; while :; do sleep 0.05; done");
    const auto before = std::chrono::steady_clock::now();
    const auto done = run_shim_with(spec, [](std::int64_t shim) { ::kill(static_cast<pid_t>(shim), SIGTERM); });
    const auto took = std::chrono::steady_clock::now() - before;
    CHECK(done.exit_status == 137);
    CHECK(exit_record().signal == SIGKILL);
    CHECK(took > 4s);
}

TEST_CASE_METHOD(Fixture, "a killed shim takes its agent with it") {
    const auto spec = script("trap '' TERM HUP; echo $$ > $OUT/pid; while :; do sleep 0.05; done");
    run_shim_with(spec, [](std::int64_t shim) { ::kill(static_cast<pid_t>(shim), SIGKILL); });
    CHECK(soon_gone(pid_in("pid")));
    CHECK_FALSE(std::filesystem::exists(dir / "exit.json"));
}

TEST_CASE_METHOD(Fixture, "a stopped agent is continued") {
    const auto done = run_shim(script("kill -STOP $$; exit 5"));
    CHECK(done.exit_status == 5);
}

TEST_CASE_METHOD(Fixture, "what stays behind in its session or in the worktree is ended, after the record", "[slow]") {
    // One that ignores everything in the shim's session, one with a session of its own but in the worktree, one
    // double-forked; and one that has gone elsewhere, which is nobody's business.
    const auto loop = std::string("while :; do sleep 0.05; done");
    const auto done = run_shim(script("(trap '' TERM HUP; sh -c 'echo $$ > $OUT/session; " + loop +
                                      "') & "
                                      "setsid sh -c 'trap \"\" TERM; echo $$ > $OUT/inside; " +
                                      loop +
                                      "' & "
                                      "setsid -f sh -c '(sh -c \"echo \\$\\$ > $OUT/forked; exec sleep 60\" &)'; "
                                      "setsid sh -c 'cd /; echo $$ > $OUT/elsewhere; exec sleep 60' & "
                                      "for f in session inside forked elsewhere; do while ! grep -q . $OUT/$f "
                                      "2>/dev/null; do sleep 0.02; done; done; "
                                      "exit 4"));
    CHECK(done.exit_status == 4);
    CHECK(exit_record().exit_status == 4);
    for (const auto* name : {"session", "inside", "forked"}) {
        INFO(name);
        CHECK(gone(pid_in(name)));
    }
    const auto elsewhere = pid_in("elsewhere");
    CHECK_FALSE(gone(elsewhere));
    ::kill(static_cast<pid_t>(elsewhere), SIGKILL);
}

TEST_CASE_METHOD(Fixture, "whatever the agent starts stays below the shim") {
    const auto spec = script(
        "echo $$ > $OUT/own; setsid -f sh -c '(sh -c \"echo \\$\\$ > $OUT/pid; exec sleep 60\" &) '; "
        "trap 'exit 0' TERM; while :; do sleep 0.05; done");
    Command shim;
    shim.argv = command(spec);
    std::optional<Result<Completed>> result;
    asio::co_spawn(io, into(result, runner.run(std::move(shim))), [](std::exception_ptr) {});
    REQUIRE(eventually([&] {
        io.poll();
        return read_file(dir / "own").ends_with('\n') && read_file(dir / "pid").ends_with('\n');
    }));
    const auto shim_pid = process::parent_of(pid_in("own")).value();
    CHECK(process::name_of(shim_pid) == "orange-agent");
    CHECK(eventually([&] { return process::parent_of(pid_in("pid")) == shim_pid; }));
    ::kill(static_cast<pid_t>(shim_pid), SIGTERM);
    io.run();
    CHECK(gone(pid_in("pid")));
}

TEST_CASE_METHOD(Fixture, "the agent starts with default signals and only descriptors 0 to 2") {
    auto spec = script("");
    spec.argv = {"ls", "/proc/self/fd"};
    CHECK(run_shim(spec).out == "0\n1\n2\n3\n");  // 3 is the folder that it lists
    spec.argv = {"grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"};
    const auto out = run_shim(spec).out;
    CHECK(out.starts_with("SigBlk:\t0000000000000000"));
    const auto ignored = std::stoull(out.substr(out.find("SigIgn:") + 8), nullptr, 16);
    CHECK((ignored & 0x7fffffff) == 0);  // 32 and 33 are the C library's own
}
