// Compiled by scripts/check-macos, but never run.
#include <fcntl.h>
#include <sys/event.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>

#include "daemon/process/child.hpp"
#include "daemon/process/child_platform.hpp"

namespace orange {

const int k_close_others = POSIX_SPAWN_CLOEXEC_DEFAULT;

int close_others(posix_spawn_file_actions_t&) {
    return 0;
}

std::optional<int> wait_for(pid_t pid, int, bool to_its_end) {
    int status = 0;
    pid_t found = 0;
    do {
        found = ::waitpid(pid, &status, to_its_end ? 0 : WNOHANG);
    } while (found < 0 && errno == EINTR);
    if (found == 0) return std::nullopt;
    // ECHILD: another part of this process reaped the child (or SIGCHLD is ignored). Its status is lost.
    if (found < 0) return 255;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

UniqueFd open_pidfd(pid_t pid, int& error) {
    error = 0;
    UniqueFd queue(::kqueue());
    if (!queue || ::fcntl(queue.get(), F_SETFD, FD_CLOEXEC) != 0) {
        error = errno;
        return UniqueFd();
    }
    struct kevent ended {};
    EV_SET(&ended, static_cast<uintptr_t>(pid), EVFILT_PROC, EV_ADD, NOTE_EXIT, 0, nullptr);
    if (::kevent(queue.get(), &ended, 1, nullptr, 0, nullptr) == 0) return queue;
    error = errno;
    if (error != ESRCH || ::kill(pid, 0) != 0) return UniqueFd();
    // A zombie cannot be watched. Make the descriptor readable at once.
    struct kevent now {};
    EV_SET(&now, 0, EVFILT_USER, EV_ADD, NOTE_TRIGGER, 0, nullptr);
    error = ::kevent(queue.get(), &now, 1, nullptr, 0, nullptr) == 0 ? 0 : errno;
    return error == 0 ? std::move(queue) : UniqueFd();
}

}  // namespace orange
