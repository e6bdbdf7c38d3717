#include "client/connection/autostart.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "client/connection/agent_ancestor.hpp"
#include "client/connection/child.hpp"
#include "common/base/system.hpp"
#include "common/base/text.hpp"
#include "common/config/home_check.hpp"
#include "common/config/program_path.hpp"
#include "common/rpc/daemon_methods.hpp"

namespace orange::connection {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds k_connect_deadline{5000};
constexpr milliseconds k_start_deadline{10000};
constexpr milliseconds k_wait_inside_agent{5000};
constexpr milliseconds k_wait_for_next{5000};
constexpr milliseconds k_step{10};
constexpr std::size_t k_shown_lines = 10;

bool is_set(const char* name) {
    const char* value = std::getenv(name);
    return value && *value && std::string_view(value) != "0";
}

bool is_absent(const Result<Connection>& tried) {
    return !tried && tried.error().code == ErrorCode::unavailable;
}

Error down(const Paths& paths, const std::string& advice) {
    return {ErrorCode::unavailable, "no Orange daemon answers at " + paths.socket().string() + "; " + advice, {}};
}

Result<Connection> retry_for(const Paths& paths, milliseconds time) {
    const auto until = steady_clock::now() + time;
    for (;;) {
        auto tried = Connection::open(paths.socket(), k_connect_deadline);
        if (!is_absent(tried) || steady_clock::now() >= until) return tried;
        std::this_thread::sleep_for(k_step);
    }
}

/// A started supervisor: `alive` is the reading end of a pipe that only it holds, so that its end is seen at once.
struct Supervisor {
    pid_t pid = 0;
    int alive = -1;
    bool ended = false;
    int status = 0;

    Supervisor(pid_t p, int fd) : pid(p), alive(fd) {}
    Supervisor(const Supervisor&) = delete;
    Supervisor& operator=(const Supervisor&) = delete;
    ~Supervisor() { ::close(alive); }

    /// Sleeps for `time`, or until the supervisor has ended.
    void watch(milliseconds time) {
        if (ended) return std::this_thread::sleep_for(time);
        pollfd gone{alive, POLLIN, 0};
        if (::poll(&gone, 1, static_cast<int>(time.count())) <= 0) return;
        ended = ::waitpid(pid, &status, 0) == pid;
    }
    bool failed() const { return ended && !(WIFEXITED(status) && WEXITSTATUS(status) == 0); }
};

/// What was appended to the daemon's output since `from`: its last lines.
std::string last_words(const fs::path& file, off_t from) {
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return {};
    struct stat info {};
    constexpr off_t k_most = 16384;
    if (::fstat(fd, &info) == 0 && info.st_size - from > k_most) from = info.st_size - k_most;
    std::string text(static_cast<std::size_t>(k_most), '\0');
    const auto size = ::pread(fd, text.data(), text.size(), from);
    ::close(fd);
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    const auto lines = split_lines(text);
    std::string last;
    for (std::size_t i = lines.size() > k_shown_lines ? lines.size() - k_shown_lines : 0; i < lines.size(); ++i) {
        last += "\n  " + std::string(lines[i]);
    }
    return last;
}

/// Starts `orange daemon supervise`, its output going to `out`.
Result<pid_t> start_supervisor(const fs::path& oranged, int out, int alive) {
    auto self = program_path();
    if (!self) return self.error();
    ChildOptions options;
    options.out = options.err = out;
    options.extra = alive;
    options.new_session = true;
    return start_child({self->string(), "daemon", "supervise", oranged.string()}, options);
}

Result<Connection> wait_for_socket(const Paths& paths, Supervisor& supervisor, const fs::path& out, off_t from) {
    const auto until = steady_clock::now() + k_start_deadline;
    for (;;) {
        auto tried = Connection::open(paths.socket(), k_connect_deadline);
        if (!is_absent(tried)) return tried;
        if (supervisor.failed()) {
            return {ErrorCode::unavailable, "the daemon did not start:" + last_words(out, from)};
        }
        if (steady_clock::now() >= until) {
            return {ErrorCode::timeout, "the daemon was started, but does not answer after 10 s; its output is in " +
                                            out.string() + last_words(out, from)};
        }
        supervisor.watch(k_step);
    }
}

}  // namespace

bool inside_agent() {
    return is_set("ORANGE_TASK") || has_agent_ancestor();
}

Result<fs::path> find_oranged() {
    auto self = program_path();
    if (self) {
        const auto beside = self->parent_path() / "oranged";
        if (::access(beside.c_str(), X_OK) == 0) return beside;
    }
    const char* path = std::getenv("PATH");
    for (const auto folder : split(path ? path : "", ':')) {
        const auto candidate = fs::path(folder) / "oranged";
        if (candidate.is_absolute() && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    }
    return {ErrorCode::not_found, "the daemon's program, oranged, is neither beside orange nor on PATH"};
}

Result<Connection> connect(const Paths& paths) {
    auto tried = Connection::open(paths.socket(), k_connect_deadline);
    if (!is_absent(tried)) return tried;
    return down(paths, "start it with `orange daemon start`");
}

Result<Connection> connect_or_start(const Paths& paths) {
    auto tried = Connection::open(paths.socket(), k_connect_deadline);
    if (!is_absent(tried)) return tried;
    if (inside_agent()) {
        tried = retry_for(paths, k_wait_inside_agent);
        if (!is_absent(tried)) return tried;
        return down(paths,
                    "it is down, and an agent cannot start it: ask a human to run `orange daemon start`, then repeat "
                    "this command");
    }
    if (is_set("ORANGE_NO_AUTOSTART")) {
        return down(paths, "ORANGE_NO_AUTOSTART is set, so none was started: run `orange daemon start`");
    }
    return start_daemon(paths);
}

Result<Connection> connect_to_next(const Paths& paths) {
    const auto until = steady_clock::now() + k_wait_for_next;
    while (steady_clock::now() < until) {
        auto tried = Connection::open(paths.socket(), k_connect_deadline);
        if (!tried && !is_absent(tried)) return tried;
        // The one that is dying may have taken the connection still.
        if (tried && tried->call(rpc::DaemonPing{})) return tried;
        std::this_thread::sleep_for(k_step);
    }
    return connect_or_start(paths);
}

Result<Connection> start_daemon(const Paths& paths) {
    auto oranged = find_oranged();
    if (!oranged) return oranged.error();
    if (auto safe = make_home(paths.home); !safe) return safe.error();
    const auto out = paths.home / "oranged.out";
    const int out_fd = ::open(out.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (out_fd < 0) return io_error("opening " + out.string(), errno);
    const auto from = ::lseek(out_fd, 0, SEEK_END);
    int alive[2];
    if (system::make_pipe(alive) != 0) {
        const int number = errno;
        ::close(out_fd);
        return io_error("making a pipe", number);
    }
    auto pid = start_supervisor(*oranged, out_fd, alive[1]);
    ::close(out_fd);
    ::close(alive[1]);
    if (!pid) {
        ::close(alive[0]);
        return pid.error();
    }
    Supervisor supervisor(*pid, alive[0]);
    return wait_for_socket(paths, supervisor, out, from);
}

}  // namespace orange::connection
