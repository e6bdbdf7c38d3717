#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <asio/steady_timer.hpp>
#include <set>
#include <sstream>

#include "daemon/async/async.hpp"
#include "daemon/process/child.hpp"
#include "daemon/process/environment.hpp"
#include "daemon/process/proc_info.hpp"
#include "daemon/process/stray_processes.hpp"
#include "tests/catch.hpp"
#include "tests/support/advanced_time.hpp"
#include "tests/support/os_fixture.hpp"

using namespace orange;
using namespace orange::test;
using namespace std::chrono_literals;

namespace {

struct Fixture {
    asio::io_context io;
    PosixProcessRunner runner;
    TempDir dir;

    Result<Completed> run_command(Command command) { return run(io, runner.run(std::move(command))); }
    /// Lets the command's deadline pass once it has written the file.
    Result<Completed> run_past_deadline(Command command, const std::string& name) {
        TestTime time;
        command.deadline = 1h;
        async::spawn(io.get_executor(), "advancing",
                     advance_when(time, 1h, [this, name] { return read_file(dir / name).ends_with('\n'); }));
        return run_command(std::move(command));
    }

    /// A script's text is a fixed word of the test; the product has no shell.
    Command script(const std::string& text) {
        Command command;
        command.argv = {"sh", "-c", text};
        command.cwd = dir.path.string();
        return command;
    }

    /// Waits until the file holds a pid.
    std::int64_t pid_in(const std::string& name) {
        REQUIRE(eventually([&] { return read_file(dir / name).ends_with('\n'); }));
        return std::stoll(read_file(dir / name));
    }
};

bool gone(std::int64_t pid) {
    return !process::start_time(pid);
}

/// Also those that have ended and are not reaped.
std::set<std::int64_t> children() {
    std::set<std::int64_t> found;
    for (const auto pid : process::all_pids()) {
        if (process::parent_of(pid) == ::getpid()) found.insert(pid);
    }
    return found;
}

/// What adopt_orphans() changes of the test program.
class Adopting {
  public:
    Adopting() { ::sigprocmask(SIG_BLOCK, nullptr, &before_); }
    ~Adopting() {
        ::prctl(PR_SET_CHILD_SUBREAPER, 0);
        ::sigprocmask(SIG_SETMASK, &before_, nullptr);
    }
    Adopting(const Adopting&) = delete;

  private:
    sigset_t before_;
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a child's output, errors and exit status come back") {
    const auto done = run_command(script("echo out; echo err >&2; exit 7"));
    REQUIRE(done);
    CHECK(done->out == "out\n");
    CHECK(done->err == "err\n");
    CHECK(done->exit_status == 7);
    CHECK_FALSE(done->ok());
}

TEST_CASE_METHOD(Fixture, "a signal shows as 128 and its number") {
    CHECK(run_command(script("kill -9 $$"))->exit_status == 137);
}

TEST_CASE_METHOD(Fixture, "arguments reach the program unchanged, without a shell") {
    Command command;
    command.argv = {"printf", "%s|", "$(id)", "a b", ";", "", "'\"\\"};
    CHECK(run_command(command)->out == "$(id)|a b|;||'\"\\|");
}

TEST_CASE_METHOD(Fixture, "input is written to stdin, and a child that ignores a large one still ends") {
    auto command = script("cat");
    command.input = std::string(300'000, 'x');
    CHECK(run_command(command)->out == command.input);
    command.argv = {"true"};
    CHECK(run_command(command)->ok());
}

TEST_CASE_METHOD(Fixture, "without input stdin is at its end") {
    CHECK(run_command(script("cat; echo end"))->out == "end\n");
}

TEST_CASE_METHOD(Fixture, "output beyond the limit is read and dropped") {
    auto command = script("head -c 5000000 /dev/zero; echo done >&2");
    command.output_limit = 1000;
    const auto done = run_command(command);
    REQUIRE(done);
    CHECK(done->ok());
    CHECK(done->out.size() == 1000);
    CHECK(done->err == "done\n");
}

TEST_CASE_METHOD(Fixture, "as a log both streams are one, in their order, and the end of it is kept") {
    auto command = script("echo one; echo two >&2; echo three");
    command.as_log = true;
    auto done = run_command(command);
    REQUIRE(done);
    CHECK(done->out == "one\ntwo\nthree\n");
    CHECK(done->err.empty());
    command = script("seq 1 100000 >&2; echo the end");
    command.as_log = true;
    command.output_limit = 100;
    done = run_command(command);
    REQUIRE(done);
    CHECK(done->out.size() == 100);
    CHECK(done->out.ends_with("99999\n100000\nthe end\n"));
    command = script("head -c 2000000 /dev/zero; echo the end");  // so much is read with pauses
    command.as_log = true;
    command.output_limit = 3'000'000;
    done = run_command(command);
    REQUIRE(done);
    CHECK(done->out.size() == 2'000'008);
    CHECK(done->out.ends_with("the end\n"));
    command = script("echo so far; echo >begun; exec sleep 60");
    command.as_log = true;
    done = run_past_deadline(command, "begun");
    REQUIRE_FALSE(done);
    CHECK(done.error().details.at("stderr") == "so far\n");
}

TEST_CASE_METHOD(Fixture, "a missing program and a missing directory are named errors") {
    Command command;
    command.argv = {"no-such-program-anywhere"};
    CHECK(run_command(command).error().code == ErrorCode::not_found);
    command.argv = {"/no/such/file"};
    CHECK(run_command(command).error().code == ErrorCode::not_found);
    command.argv = {"true"};
    command.cwd = "/no/such/dir";
    CHECK(run_command(command).error().code == ErrorCode::invalid_argument);
    command.argv.clear();
    CHECK(run_command(command).error().code == ErrorCode::invalid_argument);
}

TEST_CASE_METHOD(Fixture, "a child starts in the folder that was opened, whatever has its name by then") {
    std::filesystem::create_directory(dir / "here");
    auto command = script("pwd -P; touch made");
    command.cwd = (dir / "here").string();
    command.folder = std::make_shared<UniqueFd>(::open(command.cwd.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    std::filesystem::rename(dir / "here", dir / "there");
    std::filesystem::create_directory(dir / "here");
    CHECK(run_command(std::move(command)).value().out == (dir / "there").string() + "\n");
    CHECK(std::filesystem::exists(dir / "there/made"));
    CHECK(std::filesystem::is_empty(dir / "here"));
}

TEST_CASE_METHOD(Fixture, "the program is looked up in the command's own PATH, and gets the command's environment") {
    Command command;
    command.argv = {"env"};
    command.env = Environment{{"PATH", "/nowhere"}};
    CHECK(run_command(command).error().code == ErrorCode::not_found);
    command.env = Environment{{"PATH", "/usr/bin:/bin"}, {"A", "1"}};
    CHECK(run_command(command)->out == "A=1\nPATH=/usr/bin:/bin\n");
}

TEST_CASE_METHOD(Fixture, "a child gets descriptors 0 to 2 only, a session of its own and default signals") {
    const int leaked = ::open("/dev/null", O_RDONLY);  // without CLOEXEC, as a library might
    ::signal(SIGUSR1, SIG_IGN);
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    ::sigprocmask(SIG_BLOCK, &blocked, &before);
    Command command;
    command.argv = {"ls", "/proc/self/fd"};
    const auto fds = run_command(command);
    command.argv = {"cat", "/proc/self/stat", "/proc/self/status"};
    const auto done = run_command(command);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    ::signal(SIGUSR1, SIG_DFL);
    ::close(leaked);
    REQUIRE(done);
    INFO(done->out);
    CHECK(fds->out == "0\n1\n2\n3\n");  // 3 is the folder that it lists
    std::istringstream fields(done->out);
    std::string pid, name, state, parent, group, session;
    fields >> pid >> name >> state >> parent >> group >> session;
    CHECK(group == pid);
    CHECK(session == pid);
    CHECK_THAT(done->out, Tells("SigBlk:\t0000000000000000"));
    const auto ignored = std::stoull(done->out.substr(done->out.find("SigIgn:") + 8), nullptr, 16);
    CHECK((ignored & 0x7fffffff) == 0);  // 32 and 33 are the C library's own
}

TEST_CASE_METHOD(Fixture, "a grandchild that holds the pipes does not hold up the result") {
    const auto done = run_command(script("sleep 600 & echo $! > pid; echo started"));
    REQUIRE(done);
    CHECK(done->out == "started\n");
    const auto sleeper = pid_in("pid");
    CHECK_FALSE(gone(sleeper));  // it still holds them
    ::kill(static_cast<pid_t>(sleeper), SIGKILL);
}

TEST_CASE_METHOD(Fixture, "at the deadline the whole group ends, one that ignores TERM included", "[slow]") {
    const auto done = run_past_deadline(
        script("trap '' TERM; sh -c 'trap \"\" TERM; echo $$ > pid; while :; do sleep 1; done'"), "pid");
    REQUIRE_FALSE(done);
    CHECK(done.error().code == ErrorCode::timeout);
    const auto grandchild = pid_in("pid");
    CHECK(eventually([&] { return gone(grandchild); }));
}

TEST_CASE_METHOD(Fixture, "a leader that obeys TERM does not save a group member that ignores it") {
    const auto done =
        run_past_deadline(script("(trap '' TERM; sh -c 'echo $$ > pid; exec sleep 60') & sleep 60"), "pid");
    REQUIRE_FALSE(done);
    CHECK(done.error().code == ErrorCode::timeout);
    const auto member = pid_in("pid");
    CHECK(eventually([&] { return gone(member); }));
}

TEST_CASE_METHOD(Fixture,
                 "at the deadline what has the command's own mark ends, wherever it is, and nothing else does") {
    const auto own = process::mark_of_command("/home@daemon");
    for (const auto& [mark, ends] : {std::pair{own, true}, std::pair{std::string("/a/home@daemon"), false}}) {
        auto command = script("setsid sh -c 'echo $$ >pid.new; mv pid.new pid; trap \"\" TERM; exec sleep 600' & wait");
        command.env = scrubbed_environment();
        (*command.env)[process::k_daemon_variable] = mark;
        const auto done = run_past_deadline(std::move(command), "pid");
        REQUIRE_FALSE(done);
        const auto pid = pid_in("pid");
        if (ends) CHECK(eventually([&] { return gone(pid); }));
        if (!ends) CHECK_FALSE(gone(pid));
        ::kill(static_cast<pid_t>(pid), SIGKILL);
        std::filesystem::remove(dir / "pid");
    }
}

TEST_CASE_METHOD(Fixture, "whoever has the stop ends the group, and it is said so") {
    auto command = script("echo $$ >outer; sh -c 'echo $$ >inner; sleep 100' & wait");
    command.stop = std::make_shared<Stop>();
    const auto stop = command.stop;
    async::spawn(io.get_executor(), "stopping", [](std::shared_ptr<Stop> end, std::string file) -> Awaitable<void> {
        const std::chrono::milliseconds moment = 5ms;
        while (!read_file(file).ends_with('\n')) co_await async::sleep(moment);
        end->request();
        end->request();
    }(stop, dir / "inner"));
    const auto stopped = run_command(command);
    REQUIRE_FALSE(stopped);
    CHECK(stopped.error().code == ErrorCode::conflict);
    CHECK(eventually([&] { return gone(pid_in("inner")) && gone(pid_in("outer")); }));

    command = script("echo begun >never");
    command.stop = stop;
    const auto refused = run_command(command);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::conflict);
    CHECK(read_file(dir / "never").empty());
}

TEST_CASE_METHOD(Fixture, "cancelling the caller ends the group") {
    asio::cancellation_signal cancel;
    bool aborted = false;
    std::optional<Result<Completed>> result;
    asio::co_spawn(io, into(result, runner.run(script("echo $$ > pid; exec sleep 60"))),
                   asio::bind_cancellation_slot(cancel.slot(), [&](std::exception_ptr thrown) {
                       try {
                           if (thrown) std::rethrow_exception(thrown);
                       } catch (const std::system_error& error) {
                           aborted = error.code() == asio::error::operation_aborted;
                       }
                   }));
    asio::steady_timer timer(io, 10ms);
    std::function<void(std::error_code)> look = [&](std::error_code) {
        if (read_file(dir / "pid").ends_with('\n')) {
            cancel.emit(asio::cancellation_type::terminal);
            return;
        }
        timer.expires_after(5ms);
        timer.async_wait(look);
    };
    timer.async_wait(look);
    io.run();
    CHECK(aborted);
    CHECK(gone(pid_in("pid")));
}

TEST_CASE_METHOD(Fixture, "a loop that is torn down under a running child leaves no child behind") {
    std::optional<Result<Completed>> result;
    {
        asio::io_context other;
        asio::co_spawn(other, into(result, runner.run(script("echo $$ > pid; exec sleep 60"))),
                       [](std::exception_ptr) {});
        REQUIRE(eventually([&] {
            other.poll();
            return read_file(dir / "pid").ends_with('\n');
        }));
    }
    CHECK(eventually([&] { return gone(pid_in("pid")); }));
}

TEST_CASE_METHOD(Fixture, "many children at once do not disturb each other, and no descriptor is lost") {
    const auto count_fds = [] {
        return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                             std::filesystem::directory_iterator{});
    };
    run_command(script("true")).value();
    const auto before = count_fds();
    std::vector<std::optional<Result<Completed>>> results(30);
    for (std::size_t i = 0; i < results.size(); ++i) {
        asio::co_spawn(io, into(results[i], runner.run(script("echo " + std::to_string(i)))),
                       [](std::exception_ptr) {});
    }
    io.restart();
    io.run();
    for (std::size_t i = 0; i < results.size(); ++i) CHECK((*results[i])->out == std::to_string(i) + "\n");
    CHECK(count_fds() == before);
}

TEST_CASE("a failed command's error tells command, status and stderr") {
    Completed completed;
    completed.exit_status = 3;
    completed.err = "fatal: no\x1b[31m\n";
    const auto error = command_failed({"git", "push"}, completed);
    CHECK(error.code == ErrorCode::external_failed);
    CHECK_THAT(error.message, Tells("git push") && Tells("3") && Holds("no\\x1b[31m"));
    CHECK(error.details.at("exit_status") == "3");
    CHECK(error.details.at("command") == "git push");
    CHECK(error.details.at("stderr") == completed.err);
}

TEST_CASE_METHOD(Fixture, "a child that cannot be watched is ended, and an error") {
    const auto null = open_null().value();
    Child::Start start;
    start.program = "/bin/sh";
    start.argv = {"sh", "-c", "exec sleep 600"};
    start.cwd = dir.path.string();
    start.in = start.out = start.err = null.get();
    const auto before = children();
    const auto code = [&] {
        const NoDescriptors none;
        const auto child = Child::start(start);
        return child ? ErrorCode::internal : child.error().code;
    }();
    CHECK(code == ErrorCode::io);
    CHECK(children() == before);  // neither running nor a zombie
}

TEST_CASE_METHOD(Fixture, "orphans come to this process and are reaped, and no status is taken from who waits for it") {
    const Adopting adopting;
    asio::io_context loop;
    PosixProcessRunner own;
    const auto before = children();
    REQUIRE(own.adopt_orphans(loop.get_executor()));
    std::vector<std::optional<Result<Completed>>> results(50);
    for (std::size_t i = 0; i < results.size(); ++i) {
        auto command = script("setsid -f true; (true &); setsid -f sh -c 'exit 9'; exit " + std::to_string(i));
        asio::co_spawn(loop, into(results[i], own.run(std::move(command))), [](std::exception_ptr) {});
    }
    CHECK(eventually(
        [&] {
            loop.poll();
            return std::all_of(results.begin(), results.end(), [](const auto& result) { return result.has_value(); });
        },
        60s));
    for (std::size_t i = 0; i < results.size(); ++i) CHECK((*results[i])->exit_status == static_cast<int>(i));

    std::optional<Result<Completed>> result;
    auto command = script("mkfifo stay; setsid -f sh -c 'echo $$ >pid; read word <stay'");
    asio::co_spawn(loop, into(result, own.run(std::move(command))), [](std::exception_ptr) {});
    CHECK(eventually([&] {
        loop.poll();
        return result && read_file(dir / "pid").ends_with('\n') && process::parent_of(pid_in("pid")) == ::getpid();
    }));
    write_file(dir / "stay", "\n");
    CHECK(eventually([&] {
        loop.poll();
        const auto left = children();
        return std::includes(before.begin(), before.end(), left.begin(), left.end());
    }));
}

TEST_CASE("the reason of a failure comes before the command, with the last fatal line first") {
    Completed done;
    done.exit_status = 128;
    done.err = "error: filter failed\nhint: advice\nfatal: first\nfatal: last\n";
    CHECK(reason_in(done) == "last (filter failed; first)");
    const auto error = command_failed({"git", "checkout"}, done);
    CHECK(error.message.starts_with(reason_in(done) + "\n"));
    CHECK_THAT(error.message, Tells("git checkout") && Tells("128"));
    done.err = "one\ntwo\n";
    CHECK(reason_in(done) == "one\ntwo");
    done.err.clear();
    CHECK(reason_in(done).empty());
    CHECK_THAT(command_failed({"git", "checkout"}, done).message, Tells("git checkout"));
}
