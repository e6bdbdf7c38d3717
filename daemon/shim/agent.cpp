#include "daemon/shim/agent.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "common/base/system.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/posix/fd.hpp"
#include "daemon/process/group.hpp"
#include "daemon/process/stray_processes.hpp"
#include "daemon/process/umask.hpp"
#include "daemon/shim/back_socket.hpp"
#include "daemon/shim/exit_record.hpp"
#include "daemon/shim/harness.hpp"
#include "daemon/shim/scope.hpp"

/// orange-agent: the small process that runs in a pane and owns one agent. tmux reports neither whether a program could
/// be started nor, reliably, how it ended, and when a session is killed, children of the agent remain. This process
/// knows all that, because it is their parent; as a child subreaper even of processes that were started with setsid or
/// a double fork.
///
/// The life of a run: the shim checks the directory and the program, and enters the scope of the run (scope.hpp). It
/// starts the harness in the pane's foreground. While the harness runs, the shim undoes stops (Ctrl-Z would block the
/// pane, where no shell could continue the program), and passes signals on, followed by KILL five seconds later. At the
/// end it first writes the exit record, then ends the processes that are left, and exits with the same status. It has
/// no connection to the daemon, which may stop and start meanwhile.
namespace orange::shim {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

constexpr auto k_kill_after = 5s;
constexpr auto k_before_continue = 100ms;
constexpr auto k_beat = 30s;
constexpr int k_could_not_start = 126, k_no_such_program = 127;

constexpr int k_passed_on[] = {SIGHUP, SIGTERM, SIGINT, SIGQUIT};

/// Blocks every signal for which the loop below waits, so that none is lost between two waits.
sigset_t block_signals() {
    sigset_t awaited;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    for (const int signal : k_passed_on) sigaddset(&awaited, signal);
    ::sigprocmask(SIG_BLOCK, &awaited, nullptr);
    // SIGCHLD must not stay ignored, as it may be inherited: there would be no status to wait for.
    ::signal(SIGCHLD, SIG_DFL);
    for (const int signal : {SIGTTOU, SIGTTIN, SIGTSTP, SIGPIPE}) ::signal(signal, SIG_IGN);
    return awaited;
}

Result<void> check_directory(const RunSpec& spec) {
    namespace fs = std::filesystem;
    std::error_code error;
    if (!fs::is_directory(spec.cwd, error)) {
        return Error(ErrorCode::not_found, "there is no directory " + printable(spec.cwd));
    }
    if (spec.worktree.empty()) return {};
    const auto inside = fs::canonical(spec.cwd, error), worktree = fs::canonical(spec.worktree, error);
    const bool is_below = !error && (inside == worktree || inside.string().starts_with(worktree.string() + "/"));
    if (is_below) return {};
    return Error(ErrorCode::invalid_argument,
                 printable(spec.cwd) + " is not in the worktree " + printable(spec.worktree));
}

/// Shows the daemon on another machine that this one still works, by a file whose text changes. The clocks of the
/// machines may differ, so no time in it counts. A file system of the network may hang for long, so a thread waits for
/// it. The file is written in place: on a full disk, the last text stays. A sign that fails is like one that was not
/// seen. `started_file`: of the shim on the far side; empty: nobody waits for a sign.
void give_signs(const std::string& started_file) {
    if (started_file.empty()) return;
    const auto write = [file = std::filesystem::path(started_file).replace_filename(k_inner_alive)] {
        for (long number = 1;; ++number) {
            if (const UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)); fd) {
                ::dprintf(fd.get(), "%020ld\n", number);  // as long as the last one
            }
            std::this_thread::sleep_for(k_beat);
        }
    };
    try {
        std::thread(write).detach();
    } catch (const std::system_error&) {  // no room for a thread: the agent runs without signs
    }
}

/// Waits for the end of the harness; until then continues it after stops, and passes signals on.
class Watch {
  public:
    Watch(pid_t harness, const sigset_t& awaited) : harness_(harness), awaited_(awaited) {}

    /// Returns the wait status of the harness.
    int until_ended() {
        while (!reap()) {
            const int signal = next_signal();
            if (std::ranges::find(k_passed_on, signal) != std::end(k_passed_on)) pass_on(signal);
            if (kill_at_ && Steady::now() >= *kill_at_) {
                ::kill(-harness_, SIGKILL);
                kill_at_ = Steady::now() + k_kill_after;
            }
        }
        return status_;
    }

    /// Returns the first signal from outside that was passed on; 0 if there was none. A signal for the shim and its
    /// agent together may end the agent before the shim has looked at it.
    int passed_on() const {
        sigset_t pending;
        ::sigpending(&pending);
        for (const int signal : k_passed_on) {
            if (passed_on_ == 0 && sigismember(&pending, signal) == 1) return signal;
        }
        return passed_on_;
    }

  private:
    int next_signal() {
        if (!kill_at_) return system::wait_for_signal(awaited_, std::nullopt);
        const auto left = std::max<Steady::duration>(*kill_at_ - Steady::now(), Steady::duration::zero());
        return system::wait_for_signal(awaited_, left);
    }

    /// Reaps all children, which include orphans of the agent. Returns true if the harness has ended.
    bool reap() {
        for (;;) {
            int status = 0;
            const pid_t pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED);
            if (pid < 0 && errno == EINTR) continue;
            if (pid <= 0) return false;
            if (pid != harness_) continue;
            if (WIFSTOPPED(status)) {
                continue_harness();
            } else if (!WIFCONTINUED(status)) {
                status_ = status;
                return true;
            }
        }
    }

    /// Pauses first, so that a program that stops again and again does not use the whole processor.
    void continue_harness() {
        std::this_thread::sleep_for(k_before_continue);
        give_terminal_to(harness_);
        ::kill(-harness_, SIGCONT);
    }

    void pass_on(int signal) {
        if (passed_on_ == 0) passed_on_ = signal;
        ::kill(-harness_, signal);
        ::kill(-harness_, SIGCONT);
        if (!kill_at_) kill_at_ = Steady::now() + k_kill_after;
    }

    pid_t harness_;
    sigset_t awaited_;
    int status_ = 0;
    int passed_on_ = 0;
    std::optional<Steady::time_point> kill_at_;
};

/// Writes the exit record. Tries several times, because a full disk may soon have room again. Without the record, the
/// daemon does not know the exit status.
void record(const RunSpec& spec, ExitRecord& ended) {
    ended.run = spec.run;
    ended.ended_at = SystemClock().now();
    Result<void> written;
    for (int attempt = 0; attempt < 5; ++attempt) {
        written = write_exit_record(spec.exit_file, ended);
        if (written) return;
        std::this_thread::sleep_for(200ms);
    }
    std::fprintf(stderr, "orange-agent: %s\r\n", printable(written.error().message).c_str());
}

int refuse(const RunSpec& spec, const Error& error, int status) {
    ExitRecord ended;
    ended.exit_status = status;
    ended.error = error.message;
    ended.not_started = !spec.inner_folder.empty();
    std::fprintf(stderr, "orange-agent: the agent could not be started: %s\n", printable(error.message).c_str());
    record(spec, ended);
    return status;
}

/// Replaces `ended`, the end of the executor, by that of the agent, which the shim below the executor has recorded.
void take_inner_end(const RunSpec& spec, ExitRecord& ended) {
    if (spec.inner_folder.empty()) return;
    const std::filesystem::path folder = spec.inner_folder;
    const auto use = ended.use;
    std::error_code error;
    if (auto inner = read_exit_record(folder / k_inner_exit); inner && inner->run == spec.run) {
        ended = std::move(*inner);
        ended.use = use;  // an agent can write the record of the far side, too
        ended.not_started = false;
    } else if (!std::filesystem::exists(folder / k_inner_started, error)) {
        ended.not_started = true;
    }
}

/// Gives the agent a socket of its own if the daemon's sockets are on another machine.
Result<void> open_back_socket(RunSpec& spec, std::optional<BackSocket>& back) {
    if (spec.token.empty()) return {};
    TRY(auto opened, BackSocket::open(spec));
    spec.env["ORANGE_SOCKET"] = opened.path().string();
    back.emplace(std::move(opened));
    return {};
}

/// Writes the record for which the daemon waits. Without it, the executor counts as one that has failed.
Result<void> tell_start(const RunSpec& spec) {
    if (spec.started_file.empty()) return {};
    char host[256] = "";
    if (::gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
    return write_start_record(spec.started_file, {spec.run, SystemClock().now(), printable(host)});
}

/// Gives the agent the files that it may replace, as its own. One that exists is not hidden from it, and stays.
Result<void> make_copies(const RunSpec& spec) {
    const auto folder = std::filesystem::path(spec.started_file).parent_path();
    std::error_code error;
    for (std::size_t i = 0; i < spec.copies.size() && !error; ++i) {
        const std::filesystem::path to = spec.copies[i];
        if (std::filesystem::exists(to, error)) continue;
        error.clear();
        std::filesystem::create_directories(to.parent_path(), error);
        if (!error) std::filesystem::copy_file(copy_in(folder, i), to, error);
        if (error) return io_error("making " + to.string(), error.value());
    }
    return {};
}

/// Lets the agent find the programs of the far side, as those of an image, after its own.
void add_path_of_far_side(RunSpec& spec) {
    const char* there = std::getenv("PATH");
    if (spec.started_file.empty() || there == nullptr) return;
    auto& path = spec.env["PATH"];
    for (const auto folder : split(there, ':')) {
        const auto known = split(path, ':');
        if (std::ranges::find(known, folder) == known.end()) path += ":" + std::string(folder);
    }
}

/// Ends the processes that the agent has left. Its orphans became children of this process, so each look reaps them
/// first.
void end_leftovers(const RunSpec& spec) {
    process::Ending ending([&spec] {
        while (::waitpid(-1, nullptr, WNOHANG) > 0) {
        }
        return process::left_by_own_agent(spec.worktree, spec.run.value);
    });
    while (ending.step()) {
        std::this_thread::sleep_for(process::Ending::k_step);
        ending.refresh();
    }
}

/// Returns the limits of each process. If nothing limits all processes of the agent together, each one gets the limit.
/// With an executor, the shim below the executor sets the limits. `group`: of the run; nullopt: it has none.
ProcessLimits limits_of(const RunSpec& spec, const std::optional<std::filesystem::path>& group) {
    if (!spec.inner_folder.empty()) return {};
    const auto limiting = spec.started_file.empty() ? group : process::own_group();
    const auto is_held = [&](std::int64_t most, const char* file) {
        return limiting && process::is_limited_to(*limiting, most, file);
    };
    ProcessLimits limits{spec.memory_limit, spec.processes_limit, spec.disk_limit};
    if (is_held(spec.memory_limit, process::k_most_memory)) limits.data = 0;
    const bool is_held_by_group = is_held(spec.processes_limit, process::k_most_processes);
    if (is_held_by_group || !is_counted_alone(spec.user_namespace)) limits.processes = 0;
    return limits;
}

}  // namespace

int run_agent(const RunSpec& given) {
    auto spec = given;
    const auto awaited = block_signals();
    system::adopt_orphans();
    // This process has the umask of the daemon that started the tmux server, perhaps long ago.
    if (const auto mask = process::umask_from(spec.umask); mask) process::use_umask(*mask);
    add_path_of_far_side(spec);
    std::optional<BackSocket> back;
    auto begun = open_back_socket(spec, back);
    if (begun) begun = make_copies(spec);
    if (begun) begun = tell_start(spec);
    if (!begun) {
        std::fprintf(stderr, "orange-agent: %s\n", printable(begun.error().message).c_str());
        return k_could_not_start;
    }
    if (auto good = check_directory(spec); !good) return refuse(spec, good.error(), k_could_not_start);
    const auto program = find_harness(spec);
    if (!program) return refuse(spec, program.error(), k_no_such_program);
    const auto group = enter_scope(spec);
    const auto harness = start_harness(spec, *program, limits_of(spec, group));
    if (!harness) {
        const bool missing = harness.error().code == ErrorCode::not_found;
        return refuse(spec, harness.error(), missing ? k_no_such_program : k_could_not_start);
    }
    const bool is_local = spec.started_file.empty() && spec.inner_folder.empty();
    if (is_local) (void)write_begun(spec.exit_file, *harness);  // without it, the daemon waits a little longer
    give_signs(spec.started_file);
    Watch watch(*harness, awaited);
    const int status = watch.until_ended();
    ExitRecord ended;
    ended.passed_on = watch.passed_on();
    ended.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    ended.exit_status = ended.signal ? 128 + ended.signal : WEXITSTATUS(status);
    if (group) ended.use = process::use_of(*group);
    take_inner_end(spec, ended);
    record(spec, ended);
    back.reset();
    end_leftovers(spec);
    return ended.exit_status;
}

}  // namespace orange::shim
