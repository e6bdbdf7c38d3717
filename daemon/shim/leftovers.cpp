#include "daemon/shim/leftovers.hpp"

#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace orange::shim {
namespace {

using namespace std::chrono_literals;

constexpr auto k_grace = 1s;
constexpr int k_kill_rounds = 20;

void reap() {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
}

}  // namespace

void end_leftovers(const std::string& worktree, const RunId& run) {
    reap();
    auto left = leftovers(worktree, run);
    for (const auto pid : left) {
        ::kill(pid, SIGTERM);
        ::kill(pid, SIGCONT);  // a stopped one takes TERM only then
    }
    const auto end = std::chrono::steady_clock::now() + k_grace;
    while (!left.empty() && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(10ms);
        reap();
        left = leftovers(worktree, run);
    }
    // Rounds, for what forks faster than it is killed.
    for (int round = 0; round < k_kill_rounds && !left.empty(); ++round) {
        for (const auto pid : left) ::kill(pid, SIGKILL);
        std::this_thread::sleep_for(10ms);
        reap();
        left = leftovers(worktree, run);
    }
}

}  // namespace orange::shim
