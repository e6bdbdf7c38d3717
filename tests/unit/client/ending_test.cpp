#include "client/connection/ending.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <thread>

#include "tests/catch.hpp"
#include "tests/unit/client/fake_daemon.hpp"

using namespace orange;
using namespace orange::test;
using namespace std::chrono_literals;

namespace {

/// Plays a daemon that ends when it is told to, and whose process needs a while after it has released the home's lock.
[[noreturn]] void play_slow_daemon(const Paths& paths, int ready) {
    ::prctl(PR_SET_NAME, "oranged");
    const int lock = ::open(paths.lock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    const auto pid = std::to_string(::getpid());
    if (::flock(lock, LOCK_EX) != 0 || ::write(lock, pid.data(), pid.size()) < 0) ::_exit(1);
    std::atomic<bool> asked = false;
    std::optional<FakeDaemon> daemon;
    daemon.emplace(paths.socket(), [&](const Json& request) {
        asked = true;
        return std::vector<std::string>{FakeDaemon::reply(request, Json::object()), ""};
    });
    if (::write(ready, "r", 1) != 1) ::_exit(1);
    while (!asked) std::this_thread::sleep_for(1ms);
    daemon.reset();
    ::close(lock);
    std::this_thread::sleep_for(500ms);
    ::_exit(0);
}

}  // namespace

TEST_CASE("a daemon has been ended when its process has ended, not when its home is free") {
    TemporaryFolder folder;
    const Paths paths{folder.path()};
    int ready[2];
    REQUIRE(::pipe2(ready, O_CLOEXEC) == 0);
    const pid_t pid = ::fork();
    REQUIRE(pid >= 0);
    if (pid == 0) play_slow_daemon(paths, ready[1]);
    ::close(ready[1]);
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    ::close(ready[0]);
    const auto ended = connection::end_daemon(paths);
    const auto reaped = ::waitpid(pid, nullptr, WNOHANG);
    if (reaped == 0) ::waitpid(pid, nullptr, 0);
    REQUIRE(ended);
    CHECK(*ended == connection::Ended::by_itself);
    CHECK(reaped == pid);
}
