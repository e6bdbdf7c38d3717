#include "daemon/agents/remains.hpp"

#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/process/proc_info.hpp"
#include "tests/catch.hpp"
#include "tests/support/os_fixture.hpp"

using namespace orange;
using namespace orange::test;

namespace {

/// A process with `run` in its environment.
class Left {
  public:
    explicit Left(const std::string& run) {
        std::string variable = "ORANGE_RUN=" + run, sleep = "sleep", time = "600";
        char* argv[] = {sleep.data(), time.data(), nullptr};
        char* environment[] = {variable.data(), nullptr};
        if (::posix_spawnp(&pid_, "sleep", nullptr, nullptr, argv, environment) != 0) throw std::runtime_error("sleep");
        while (!process::environ_of(pid_, "ORANGE_RUN")) ::sched_yield();  // the kernel shows it a moment later
    }
    ~Left() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    Left(const Left&) = delete;
    Left& operator=(const Left&) = delete;
    pid_t pid() const { return pid_; }

  private:
    pid_t pid_ = 0;
};

}  // namespace

TEST_CASE("what many runs have left is found with one look at all processes, however few these are") {
    asio::io_context io;
    agents::Remains remains;
    const Left one("remains-one"), two("remains-two"), also("remains-two");
    std::size_t found = 0;
    const auto ask = [&](std::string run) -> Awaitable<void> {
        const auto left = co_await remains.of_run(std::move(run));
        found += left.size();
    };
    for (int i = 0; i < 20; ++i) {
        for (const char* run : {"remains-one", "remains-two", "remains-none"}) {
            async::spawn(io.get_executor(), "test", ask(run));
        }
    }
    io.run();
    CHECK(found == 20 * 3);
    CHECK(remains.looks() == 1);
}

TEST_CASE("what was started after an answer is in the next one") {
    asio::io_context io;
    agents::Remains remains;
    CHECK(run(io, remains.of_run("remains-late")).empty());
    const Left late("remains-late");
    const auto left = run(io, remains.of_run("remains-late"));
    REQUIRE(left.size() == 1);
    CHECK(left[0].pid == late.pid());
}
