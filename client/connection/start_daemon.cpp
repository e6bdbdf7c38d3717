#include "client/connection/start_daemon.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string>

#include "client/connection/child.hpp"
#include "client/connection/needed_programs.hpp"
#include "client/connection/service_unit.hpp"
#include "common/base/system.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/config/home_check.hpp"
#include "common/config/program_path.hpp"
#include "common/posix/fd.hpp"

namespace orange::connection {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Longer than a daemon waits for the end of the previous one.
constexpr std::chrono::seconds k_start_deadline{20};
constexpr std::size_t k_shown_lines = 10;

/// A started supervisor. `alive` is the reading end of a pipe that only the supervisor holds, so that its end is
/// noticed at once.
struct Supervisor {
    pid_t pid = 0;
    UniqueFd alive;
    bool ended = false;
    int status = 0;

    /// Sleeps for `time`, or until the supervisor has ended.
    void watch(milliseconds time) {
        pollfd gone{alive.get(), POLLIN, 0};
        if (::poll(&gone, 1, static_cast<int>(time.count())) <= 0) return;
        ended = ::waitpid(pid, &status, 0) == pid;
    }
    bool failed() const { return ended && !(WIFEXITED(status) && WEXITSTATUS(status) == 0); }
};

/// The file of the daemon's output, and its size before this start.
struct Output {
    fs::path file;
    UniqueFd fd;
    off_t from = 0;

    explicit Output(fs::path path)
        : file(std::move(path)),
          fd(::open(file.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)),
          from(fd ? ::lseek(fd.get(), 0, SEEK_END) : 0) {}
    std::string last_words() const;
};

/// Returns the last lines that were appended since the start.
std::string Output::last_words() const {
    constexpr off_t k_most = 16384;
    struct stat info {};
    const off_t begin = ::fstat(fd.get(), &info) == 0 ? std::max(from, info.st_size - k_most) : from;
    std::string text(static_cast<std::size_t>(k_most), '\0');
    const auto size = ::pread(fd.get(), text.data(), text.size(), begin);
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    const auto lines = split_lines(text);
    std::string last;
    for (std::size_t i = lines.size() > k_shown_lines ? lines.size() - k_shown_lines : 0; i < lines.size(); ++i) {
        last += "\n" + std::string(lines[i]);
    }
    return last;
}

/// Starts `orange daemon supervise`, detached.
Result<Supervisor> start_supervisor(const fs::path& oranged, const Output& output) {
    TRY(auto self, program_path());
    if (auto client = find_program("orange")) self = std::move(*client);  // this process may be the dashboard
    int ends[2];
    if (system::make_pipe(ends) != 0) return io_error("making a pipe", errno);
    UniqueFd alive(ends[0]);
    const UniqueFd held(ends[1]);
    ChildOptions options;
    options.out = options.err = output.fd.get();
    options.extra = held.get();
    options.new_session = true;
    TRY(const auto pid, start_child({self.string(), "daemon", "supervise", oranged.string()}, options));
    return Supervisor{pid, std::move(alive)};
}

/// Waits for the daemon's socket. Nothing if the supervisor left the home to another daemon, which has ended since.
std::optional<Result<Connection>> wait_for_socket(const Paths& paths, Supervisor& supervisor, const Output& output,
                                                  steady_clock::time_point until) {
    for (;;) {
        auto tried = Connection::open(paths.socket(), k_connect_deadline);
        if (tried || tried.error().code != ErrorCode::unavailable) return tried;
        if (supervisor.failed()) {
            return Error(ErrorCode::unavailable, "the daemon could not start:" + output.last_words());
        }
        if (steady_clock::now() >= until) {
            return Error(ErrorCode::timeout,
                         "the daemon was started, but did not answer within 20 s. Its output is in " +
                             output.file.string() + output.last_words());
        }
        if (supervisor.ended) return std::nullopt;
        supervisor.watch(k_look_again);
    }
}

}  // namespace

Result<fs::path> find_oranged() {
    if (auto found = find_program("oranged")) return std::move(*found);
    return {ErrorCode::not_found, "the daemon's program, oranged, was not found beside orange or on PATH"};
}

Result<Connection> start_daemon(const Paths& paths) {
    // A supervisor beside an enabled unit would prevent the unit's start. If systemd cannot start it (no user manager
    // in this session, or the daemon fails), the supervisor works, or shows the daemon's own error.
    if (is_service_of(paths) && systemctl({"start", "oranged.service"}, false) == 0) {
        auto started = Connection::open(paths.socket(), k_connect_deadline);
        if (started || started.error().code != ErrorCode::unavailable) return started;
    }
    TRY(check_programs());
    TRY(auto oranged, find_oranged());
    TRY(make_home(paths.home));
    const Output output(paths.home / "oranged.out");
    if (!output.fd) return io_error("opening " + output.file.string(), errno);
    const auto until = steady_clock::now() + k_start_deadline;
    for (;;) {
        TRY(auto supervisor, start_supervisor(oranged, output));
        auto connection = wait_for_socket(paths, supervisor, output, until);
        if (connection) return std::move(*connection);
    }
}

}  // namespace orange::connection
