// Not tried on a machine yet.
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/event.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>

#include "daemon/process/child.hpp"

namespace orange {
namespace {

/// The C structures of posix_spawn, destroyed whatever happens.
class Attributes {
  public:
    Attributes() {
        posix_spawnattr_init(&attributes);
        posix_spawn_file_actions_init(&actions);
    }
    Attributes(const Attributes&) = delete;
    Attributes& operator=(const Attributes&) = delete;
    ~Attributes() {
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
    }

    /// A session of its own rather than a group only: no controlling terminal that a password prompt could open.
    int prepare(const Child::Start& start) {
        sigset_t all, none;
        sigfillset(&all);
        sigemptyset(&none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setsigmask(&attributes, &none);
        // CLOEXEC_DEFAULT closes what is not named below, whatever a library opened.
        int error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF |
                                                              POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_CLOEXEC_DEFAULT);
        const int from[] = {start.in, start.out, start.err};
        for (int to = 0; to < 3 && !error; ++to) {
            error = posix_spawn_file_actions_adddup2(&actions, from[to], to);
        }
        if (!error) {
            error = start.folder < 0 ? posix_spawn_file_actions_addchdir_np(&actions, start.cwd.c_str())
                                     : posix_spawn_file_actions_addfchdir_np(&actions, start.folder);
        }
        return error;
    }

    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
};

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (const auto& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

UniqueFd above_stdio(UniqueFd fd) {
    if (!fd || fd.get() > 2) return fd;
    return UniqueFd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 3));
}

}  // namespace

Result<Child> Child::start(const Start& start) {
    const auto doing = "starting " + start.program;
    Attributes how;
    if (const int error = how.prepare(start)) return io_error(doing, error);
    std::vector<std::string> env;
    for (const auto& [name, value] : start.env) env.push_back(name + "=" + value);
    pid_t pid = 0;
    const int error = ::posix_spawn(&pid, start.program.c_str(), &how.actions, &how.attributes,
                                    pointers_to(start.argv).data(), pointers_to(env).data());
    if (error == ENOENT) return Error(ErrorCode::not_found, doing + ": no such program");
    if (error) return io_error(doing, error);
    int pidfd_error = 0;
    // An unreaped child of ours: the pid cannot have been reused.
    Child child(pid, open_pidfd(pid, pidfd_error));
    if (child.pidfd_) return child;
    // Nobody would see its end, nor hold it to a deadline; and it would be there while the caller takes it for failed.
    child.signal_group(SIGKILL);
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return io_error("watching " + start.program, pidfd_error);
}

Child::~Child() {
    // pidfd_ is empty in a Child that was moved from.
    if (!pidfd_ || reaped_) return;
    signal_group(SIGKILL);
    // Waited for: killed processes go at once, and a zombie would stay as long as the daemon.
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

bool Child::ended() const {
    return reaped_ || is_readable(pidfd_.get());
}

bool is_readable(int descriptor) {
    pollfd watched{descriptor, POLLIN, 0};
    return ::poll(&watched, 1, 0) == 1;
}

void Child::signal_group(int signal) {
    if (!reaped_) ::kill(-pid_, signal);
}

std::optional<int> Child::reap() {
    int status = 0;
    pid_t found = 0;
    do {
        found = ::waitpid(pid_, &status, WNOHANG);
    } while (found < 0 && errno == EINTR);
    if (found == 0) return std::nullopt;
    reaped_ = true;
    // ECHILD: somebody reaped it (SIGCHLD ignored in this process). Its status is lost, its end is not.
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
    // There, and not to be watched: a zombie, such as a child of ours that has ended already. Readable at once.
    struct kevent now {};
    EV_SET(&now, 0, EVFILT_USER, EV_ADD, NOTE_TRIGGER, 0, nullptr);
    error = ::kevent(queue.get(), &now, 1, nullptr, 0, nullptr) == 0 ? 0 : errno;
    return error == 0 ? std::move(queue) : UniqueFd();
}

Result<Pipe> make_pipe() {
    int ends[2];
    if (::pipe(ends) != 0) return io_error("making a pipe", errno);
    for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);  // nobody forks in between: one thread
    Pipe pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
    pipe.read = above_stdio(std::move(pipe.read));
    pipe.write = above_stdio(std::move(pipe.write));
    if (!pipe.read || !pipe.write) return io_error("making a pipe", errno);
    return pipe;
}

Result<UniqueFd> open_null() {
    auto null = above_stdio(UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)));
    if (!null) return io_error("opening /dev/null", errno);
    return null;
}

}  // namespace orange
