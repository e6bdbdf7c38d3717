#include "daemon/runner/agents/run_processes.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "tests/catch.hpp"
#include "tests/support/advanced_time.hpp"
#include "tests/support/os_fixture.hpp"

using namespace orange;
using namespace orange::test;

namespace {

/// A process that waits for its end, and starts others if told to.
class Parent {
  public:
    Parent() {
        int told[2], pids[2];
        if (::pipe(told) != 0 || ::pipe(pids) != 0) throw std::runtime_error("pipe");
        pid_ = ::fork();
        if (pid_ == 0) {
            for (char word = 0; ::read(told[0], &word, 1) == 1;) {
                const pid_t child = ::fork();
                if (child == 0) {
                    for (;;) ::pause();
                }
                if (::write(pids[1], &child, sizeof child) != sizeof child) ::_exit(1);
            }
            ::_exit(0);
        }
        told_ = told[1];
        pids_ = pids[0];
        ::close(told[0]);
        ::close(pids[1]);
    }
    ~Parent() {
        for (const auto child : children_) ::kill(child, SIGKILL);
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        ::close(told_);
        ::close(pids_);
    }
    Parent(const Parent&) = delete;
    Parent& operator=(const Parent&) = delete;

    pid_t pid() const { return pid_; }
    pid_t start_child() {
        pid_t child = 0;
        if (::write(told_, "x", 1) != 1 || ::read(pids_, &child, sizeof child) != sizeof child) {
            throw std::runtime_error("no child");
        }
        children_.push_back(child);
        return child;
    }

  private:
    pid_t pid_ = 0;
    int told_ = -1, pids_ = -1;
    std::vector<pid_t> children_;
};

}  // namespace

TEST_CASE("the processes of a run are found by asking for the children of its own alone") {
    std::vector<std::int64_t> asked;
    RunProcesses processes([&](std::int64_t pid) {
        asked.push_back(pid);
        return process::children_of(pid);
    });
    Parent parent;
    const auto child = parent.start_child();
    CHECK(processes.family_of(parent.pid()) == std::vector<std::int64_t>{parent.pid(), child});
    CHECK(asked == std::vector<std::int64_t>{parent.pid(), child});
    const auto second = parent.start_child();
    CHECK(processes.family_of(parent.pid()).size() == 3);
    CHECK(std::ranges::count(processes.family_of(parent.pid()), second) == 1);
    CHECK(processes.family_of(second) == std::vector<std::int64_t>{second});
}

TEST_CASE("on a kernel that does not tell children one look serves all runs for two seconds") {
    TestTime time;
    time.stand_still();
    RunProcesses processes([](std::int64_t) { return std::nullopt; });
    Parent one, other;
    const auto child = one.start_child();
    CHECK(processes.family_of(one.pid()) == std::vector<std::int64_t>{one.pid(), child});
    CHECK(processes.family_of(other.pid()) == std::vector<std::int64_t>{other.pid()});
    const auto late = other.start_child();
    CHECK(processes.family_of(other.pid()) == std::vector<std::int64_t>{other.pid()});
    time.advance(std::chrono::seconds(3));
    CHECK(processes.family_of(other.pid()) == std::vector<std::int64_t>{other.pid(), late});
}
