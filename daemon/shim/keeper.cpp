#include "daemon/shim/keeper.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "common/base/system.hpp"
#include "common/posix/fd.hpp"

namespace orange::shim {
namespace {

constexpr int k_failed = 126, k_not_found = 127;
constexpr int k_ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE};

/// Sets how the keeper handles signals. It ignores them and ends when the server has ended; a hangup or the stop of a
/// scope is for the server to answer.
void set_signals(void (*handler)(int)) {
    for (const int signal : k_ignored) ::signal(signal, handler);
    ::signal(SIGCHLD, SIG_DFL);
}

pid_t start(char* const command[]) {
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    set_signals(SIG_DFL);
    ::execvp(command[0], command);
    std::perror(command[0]);
    ::_exit(k_not_found);
}

/// Returns the exit status of the child `wanted`, as a shell shows it; reaps other children meanwhile.
int wait_for(pid_t wanted) {
    for (;;) {
        int status = 0;
        const pid_t pid = ::waitpid(-1, &status, 0);
        if (pid < 0 && errno != EINTR) return k_failed;
        if (pid == wanted) return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
}

/// Releases the keeper's pipes and folder: a reader must not wait for a pipe because the keeper holds it, and the
/// keeper must not keep a folder in use.
void detach() {
    ::setsid();
    (void)!::chdir("/");
    const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    for (int fd = 0; null && fd < 3; ++fd) ::dup2(null.get(), fd);
}

[[noreturn]] void keep(char* const command[], UniqueFd told) {
    set_signals(SIG_IGN);
    system::adopt_orphans();
    const pid_t pid = start(command);
    const int status = pid < 0 ? k_failed : wait_for(pid);
    detach();
    (void)!::write(told.get(), &status, sizeof status);
    told.reset();
    while (::waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
    }
    ::_exit(0);
}

}  // namespace

int run_below_keeper(char* const command[]) {
    int ends[2];
    if (system::make_pipe(ends) != 0) {
        std::perror("orange-agent: making a pipe");
        return k_failed;
    }
    UniqueFd told(ends[0]), tell(ends[1]);
    const pid_t keeper = ::fork();
    if (keeper < 0) std::perror("orange-agent: starting the keeper");
    if (keeper == 0) keep(command, std::move(tell));
    tell.reset();
    int status = k_failed;
    while (::read(told.get(), &status, sizeof status) < 0 && errno == EINTR) {
    }
    return status;
}

}  // namespace orange::shim
