#include "client/connection/supervisor.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "client/connection/child.hpp"
#include "common/base/system.hpp"
#include "common/config/home_lock.hpp"

namespace orange::connection {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t k_crashes = 5;
constexpr std::chrono::seconds k_window{60};
constexpr milliseconds k_first_delay{100};
/// A daemon that exits with a status of its own this early has said what is wrong (its settings, its folder); starting
/// it again would only say it again.
constexpr milliseconds k_early{1000};
constexpr int k_another_daemon = 75;

sigset_t watched_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGCHLD, SIGTERM, SIGINT}) sigaddset(&set, signal);
    return set;
}

/// Descriptors that the client was given by its caller (a script's pipe) must not be held for as long as a daemon runs.
void close_inherited() {
    std::vector<int> open;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/dev/fd", error)) {
        const int fd = std::atoi(entry.path().filename().c_str());
        if (fd > 3) open.push_back(fd);
    }
    for (const int fd : open) ::close(fd);
    ::fcntl(3, F_SETFD, FD_CLOEXEC);
}

void report(const std::string& text) {
    std::fprintf(stderr, "orange: %s\n", text.c_str());
    std::fflush(stderr);
}

std::string how_it_ended(int status) {
    if (WIFSIGNALED(status)) return std::string("was ended by signal ") + ::strsignal(WTERMSIG(status));
    return "exited with status " + std::to_string(WEXITSTATUS(status));
}

/// Waits for the daemon's end; a SIGTERM for us is one for it, and then `stopping`.
int wait_for(pid_t daemon, bool& stopping) {
    const sigset_t signals = watched_signals();
    for (;;) {
        int status = 0;
        if (::waitpid(daemon, &status, WNOHANG) == daemon) return status;
        int signal = 0;
        if (::sigwait(&signals, &signal) != 0) continue;
        if (signal != SIGCHLD) {
            stopping = true;
            ::kill(daemon, SIGTERM);
        }
    }
}

/// False: a SIGTERM came meanwhile.
bool sleep_unless_stopped(milliseconds time) {
    sigset_t signals = watched_signals();
    sigdelset(&signals, SIGCHLD);
    return system::wait_for_signal(signals, time) < 0;
}

}  // namespace

std::optional<milliseconds> CrashBudget::delay_after_crash(Clock::time_point now) {
    while (!recent_.empty() && now - recent_.front() > k_window) recent_.pop_front();
    recent_.push_back(now);
    if (recent_.size() >= k_crashes) return std::nullopt;
    return k_first_delay * (1 << (recent_.size() - 1));
}

int supervise(const std::filesystem::path& oranged, const std::filesystem::path& socket) {
    close_inherited();
    if (::chdir("/") != 0) report(std::string("cannot change to /: ") + std::strerror(errno));
    const sigset_t signals = watched_signals();
    ::sigprocmask(SIG_BLOCK, &signals, nullptr);
    CrashBudget budget;
    for (bool first = true, stopping = false;; first = false) {
        const auto started = steady_clock::now();
        ChildOptions options;
        options.out = STDOUT_FILENO;
        options.err = STDERR_FILENO;
        auto daemon = start_child({oranged.string()}, options);
        if (!daemon) {
            report(daemon.error().message);
            return 1;
        }
        const int status = wait_for(*daemon, stopping);
        if (stopping || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) return 0;
        // The other one may have ended since; then this one is needed after all.
        const bool found_another = WIFEXITED(status) && WEXITSTATUS(status) == k_another_daemon;
        if (found_another && is_listening(socket)) return 0;
        report("oranged " + how_it_ended(status));
        const bool is_refusal = WIFEXITED(status) && !found_another;
        if (first && is_refusal && steady_clock::now() - started < k_early) return 1;
        const auto delay = budget.delay_after_crash(steady_clock::now());
        if (!delay) {
            report(
                "oranged crashed five times within a minute and is not restarted again. To start it: orange daemon "
                "start");
            return 1;
        }
        if (!sleep_unless_stopped(*delay)) return 0;
    }
}

}  // namespace orange::connection
