#include "client/connection/supervisor.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

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

constexpr int k_most_crashes = 5;
constexpr std::chrono::seconds k_window{60};
constexpr milliseconds k_first_delay{100};
/// A first daemon that exits this early has a problem with its settings or its folder, and so would the next one.
constexpr milliseconds k_early{1000};
constexpr int k_another_daemon = 75;
constexpr int k_pipe_of_starter = 3;

/// Closes inherited descriptors: a daemon must not keep those of the client's caller open (a script's pipe).
void close_inherited() {
    close_others({k_pipe_of_starter});
    ::fcntl(k_pipe_of_starter, F_SETFD, FD_CLOEXEC);
}

void report(const std::string& text) {
    std::fprintf(stderr, "orange: %s\n", text.c_str());
    std::fflush(stderr);
}

/// Waits for the daemon's end. Forwards the signal that stops this process, and sets `stopping` then.
int wait_for(pid_t daemon, const sigset_t& signals, bool& stopping) {
    for (int status = 0;;) {
        if (::waitpid(daemon, &status, WNOHANG) == daemon) return status;
        const int signal = system::wait_for_signal(signals, std::nullopt);
        if (signal != SIGTERM && signal != SIGINT) continue;
        stopping = true;
        ::kill(daemon, SIGTERM);
    }
}

}  // namespace

std::optional<milliseconds> CrashBudget::delay_after_crash(Clock::time_point now) {
    if (crashes_ > 0 && now - first_ > k_window) crashes_ = 0;
    if (crashes_ == 0) first_ = now;
    if (++crashes_ == k_most_crashes) return std::nullopt;
    return k_first_delay * (1 << (crashes_ - 1));
}

int supervise(const std::filesystem::path& oranged, const Paths& paths) {
    close_inherited();
    if (::chdir("/") != 0) report(std::string("cannot change to /: ") + std::strerror(errno));
    sigset_t signals, ends;
    sigemptyset(&ends);
    for (const int signal : {SIGTERM, SIGINT}) sigaddset(&ends, signal);
    signals = ends;
    sigaddset(&signals, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &signals, nullptr);
    CrashBudget budget;
    for (bool first = true, stopping = false;; first = false) {
        const auto started = CrashBudget::Clock::now();
        ChildOptions options;
        options.out = STDOUT_FILENO;
        options.err = STDERR_FILENO;
        const auto daemon = start_child({oranged.string()}, options);
        if (!daemon) {
            report(daemon.error().message);
            return 1;
        }
        const int status = wait_for(*daemon, signals, stopping);
        const int exited = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        // The other daemon may have ended since; then this one is needed after all.
        if (stopping || exited == 0 || (exited == k_another_daemon && is_listening(paths.socket()))) return 0;
        report("oranged " + (exited < 0 ? std::string("was ended by signal ") + ::strsignal(WTERMSIG(status))
                                        : "exited with status " + std::to_string(exited)));
        const auto now = CrashBudget::Clock::now();
        const bool may_soon_start = exited == k_another_daemon && !is_of_other_namespace(paths);
        if (first && exited > 0 && !may_soon_start && now - started < k_early) return 1;
        const auto delay = budget.delay_after_crash(now);
        if (!delay) {
            report(
                "oranged crashed five times within a minute and is not restarted again. To start it: orange daemon "
                "start");
            return 1;
        }
        if (system::wait_for_signal(ends, *delay) >= 0) return 0;
    }
}

}  // namespace orange::connection
