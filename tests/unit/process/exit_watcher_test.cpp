#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <asio/steady_timer.hpp>

#include "daemon/process/pidfd_exit_watcher.hpp"
#include "tests/catch.hpp"
#include "tests/support/os_fixture.hpp"

using namespace orange;
using namespace orange::test;
using namespace std::chrono_literals;

namespace {

pid_t start_sleeper() {
    const pid_t pid = ::fork();
    if (pid == 0) {
        for (;;) ::pause();
    }
    return pid;
}

Awaitable<bool> wait_for(PidfdExitWatcher& watcher, std::int64_t pid, std::int64_t start) {
    const auto done = co_await watcher.wait(pid, start);
    co_return done.has_value();
}

}  // namespace

TEST_CASE("waiting ends when the process does, reaped or not") {
    asio::io_context io;
    PidfdExitWatcher watcher;
    const pid_t pid = start_sleeper();
    const auto start = watcher.start_time(pid);
    REQUIRE(start);
    bool killed = false;
    asio::steady_timer timer(io, 50ms);
    timer.async_wait([&](std::error_code) {
        killed = true;
        ::kill(pid, SIGKILL);
    });
    CHECK(run(io, wait_for(watcher, pid, *start)));
    CHECK(killed);
    CHECK_FALSE(watcher.start_time(pid));  // a zombie
    CHECK(run(io, wait_for(watcher, pid, *start)));
    ::waitpid(pid, nullptr, 0);
    CHECK(run(io, wait_for(watcher, pid, *start)));
}

TEST_CASE("a pid with another start time is somebody else: the one asked for has gone") {
    asio::io_context io;
    PidfdExitWatcher watcher;
    CHECK(run(io, wait_for(watcher, ::getpid(), *watcher.start_time(::getpid()) - 1)));
}

TEST_CASE("waiting can be cancelled") {
    asio::io_context io;
    PidfdExitWatcher watcher;
    asio::cancellation_signal cancel;
    bool aborted = false;
    asio::co_spawn(io, wait_for(watcher, ::getpid(), *watcher.start_time(::getpid())),
                   asio::bind_cancellation_slot(cancel.slot(),
                                                [&](std::exception_ptr thrown, bool) { aborted = thrown != nullptr; }));
    asio::steady_timer timer(io, 20ms);
    timer.async_wait([&](std::error_code) { cancel.emit(asio::cancellation_type::terminal); });
    io.run();
    CHECK(aborted);
}
