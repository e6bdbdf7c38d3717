#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "common/base/system.hpp"
#include "daemon/process/child.hpp"
#include "daemon/process/child_platform.hpp"
#include "daemon/process/umask.hpp"

namespace orange {
namespace {

/// Owns the C structures of posix_spawn.
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

    /// Uses a session rather than only a group, so that there is no controlling terminal on which a password prompt
    /// could open.
    int prepare(const Child::Start& start) {
        sigset_t all, none;
        sigfillset(&all);
        sigemptyset(&none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setsigmask(&attributes, &none);
        const int flags = POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | k_close_others;
        int error = posix_spawnattr_setflags(&attributes, static_cast<short>(flags));
        const int from[] = {start.in, start.out, start.err};
        for (int to = 0; to < 3 && !error; ++to) {
            error = posix_spawn_file_actions_adddup2(&actions, from[to], to);
        }
        if (!error) {
            error = start.folder < 0 ? posix_spawn_file_actions_addchdir_np(&actions, start.cwd.c_str())
                                     : posix_spawn_file_actions_addfchdir_np(&actions, start.folder);
        }
        return error ? error : close_others(actions);
    }

    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
};

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
    const int own_umask = start.umask ? process::current_umask() : 0;
    if (start.umask) process::use_umask(*start.umask);  // posix_spawn has no attribute for the umask
    const int error = ::posix_spawn(&pid, start.program.c_str(), &how.actions, &how.attributes,
                                    pointers_to(start.argv).data(), pointers_to(env).data());
    if (start.umask) process::use_umask(own_umask);
    if (error == ENOENT) return Error(ErrorCode::not_found, doing + ": no such program");
    if (error == EACCES || error == ENOEXEC) {
        return Error(ErrorCode::not_found, doing + ": this is not a program: " + std::strerror(error));
    }
    if (error) return io_error(doing, error);
    int pidfd_error = 0;
    // The pid cannot have been reused, because it is an unreaped child of this process.
    Child child(pid, open_pidfd(pid, pidfd_error));
    if (child.pidfd_) return child;
    // Without a pidfd there is no deadline and no notice of its end. Kill it, because the caller will take it for not
    // started.
    child.signal_group(SIGKILL);
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return io_error("watching " + start.program, pidfd_error);
}

Child::~Child() {
    // pidfd_ is empty in a Child that was moved from.
    if (!pidfd_ || reaped_) return;
    signal_group(SIGKILL);
    (void)wait_for(pid_, pidfd_.get(),
                   true);  // a killed process ends at once; unreaped, it would stay a zombie as long as the daemon runs
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
    const auto status = wait_for(pid_, pidfd_.get(), false);
    reaped_ = status.has_value();
    return status;
}

Result<Pipe> make_pipe() {
    int ends[2];
    if (system::make_pipe(ends) != 0) return io_error("making a pipe", errno);
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
