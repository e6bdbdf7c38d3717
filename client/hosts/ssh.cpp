#include "client/hosts/ssh.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "client/connection/child.hpp"
#include "client/hosts/file_stream.hpp"
#include "client/hosts/ssh_program.hpp"
#include "common/base/system.hpp"
#include "common/base/try.hpp"
#include "common/posix/fd.hpp"
#include "common/posix/write.hpp"

namespace orange::hosts {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int k_link_lost = 255;
constexpr std::size_t k_most_output = 256u << 20;
constexpr milliseconds k_look_again{10}, k_longest_pause{3'600'000};
/// The time in which an answer may come after its deadline.
constexpr milliseconds k_late{30'000};

/// Resets everything that a remote program may have switched on: mouse, focus events, bracketed paste, application
/// keys, key protocols, the scrolling region, the alternate screen, a hidden cursor, colours.
constexpr std::string_view k_terminal_reset =
    "\033[?1000l\033[?1002l\033[?1003l\033[?1006l\033[?1004l\033[?2004l\033[?1l\033>\033[<u\033[>4;0m\033[r"
    "\033[?1049l\033[?25h\033[0m\r\n";

volatile std::sig_atomic_t g_ssh = 0;

void pass_on(int signal) {
    if (g_ssh > 0) ::kill(g_ssh, signal);
}

/// While ssh is in the foreground, ignores the terminal's signals, which ssh gets itself, and forwards other ones to
/// it.
class SignalsForChild {
  public:
    explicit SignalsForChild(pid_t child) {
        g_ssh = child;
        struct sigaction ignore {
        }, pass{};
        ignore.sa_handler = SIG_IGN;
        pass.sa_handler = pass_on;
        pass.sa_flags = SA_RESTART;
        for (const int signal : {SIGINT, SIGQUIT}) ::sigaction(signal, &ignore, nullptr);
        for (const int signal : {SIGTERM, SIGHUP}) ::sigaction(signal, &pass, nullptr);
    }
    ~SignalsForChild() { g_ssh = 0; }
    SignalsForChild(const SignalsForChild&) = delete;
    SignalsForChild& operator=(const SignalsForChild&) = delete;
};

/// Waits for ssh, and returns its wait status. Stops when ssh stops (its `~^Z`), and continues together with it.
int wait_for(pid_t child) {
    for (int status = 0;;) {
        if (::waitpid(child, &status, WUNTRACED) < 0) {
            if (errno != EINTR) return k_link_lost << 8;
        } else if (WIFSTOPPED(status)) {
            ::raise(SIGSTOP);
            ::kill(child, SIGCONT);
        } else {
            return status;
        }
    }
}

/// Explains an ssh with that wait status.
std::optional<Error> trouble_with(const Host& host, int wait_status, std::string_view messages) {
    const bool was_killed = WIFSIGNALED(wait_status) && WTERMSIG(wait_status) != SIGINT;  // a Ctrl-C is the person's
    if (was_killed) return link_ended(host);
    return trouble_of(host, connection::exit_status(wait_status), messages);
}

/// An ssh whose output is read.
struct SshCall {
    Messages messages;
    pid_t pid = -1;
    int out = -1;
    steady_clock::time_point began{}, until{};
    Answer answer;
    bool is_told = false;
    bool goes_on = false;  ///< in the background
    UniqueFd late_lock;

    bool is_over() const { return pid <= 0 || goes_on; }
    /// Reads once, and closes the descriptor at the end of the output.
    void read_some() {
        char chunk[65536];
        const auto size = ::read(out, chunk, sizeof chunk);
        if (size < 0 && errno == EINTR) return;
        if (size > 0 && answer.out.size() < k_most_output) {
            answer.out.append(chunk, static_cast<std::size_t>(size));
        } else {
            ::close(std::exchange(out, -1));
        }
    }
    bool is_late() const { return steady_clock::now() >= until; }
    /// Returns false if another process waits for a late answer to the same question.
    bool lock_late(const std::filesystem::path& file) {
        if (file.empty()) return true;
        late_lock.reset(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
        return late_lock && ::flock(late_lock.get(), LOCK_EX | LOCK_NB) == 0;
    }
    Error no_answer(const Host& host) const {
        const auto seconds = std::chrono::ceil<std::chrono::seconds>(until - began).count();
        return {ErrorCode::timeout,
                host.name + ": no answer within " + std::to_string(seconds) + " s",
                {{"host", host.name}}};
    }
    /// Reaps ssh if it has ended; kills it at the deadline.
    void look(const Host& host) {
        const bool late = is_late();
        if (out >= 0 && !late) return;
        if (late) ::kill(pid, SIGKILL);
        int status = 0;
        if (::waitpid(pid, &status, late ? 0 : WNOHANG) != pid) return;
        if (out >= 0) ::close(std::exchange(out, -1));
        pid = -1;
        answer.took = std::chrono::duration_cast<milliseconds>(steady_clock::now() - began);
        answer.status = connection::exit_status(status);
        const bool killed = late && WIFSIGNALED(status);
        answer.trouble = killed ? no_answer(host) : trouble_with(host, status, messages.text());
    }
};

void start(SshCall& asked, const Question& question) {
    asked.began = steady_clock::now();
    asked.until = asked.began + question.deadline;
    int ends[2];
    if (system::make_pipe(ends) != 0) {
        asked.answer.trouble = io_error("making a pipe", errno);
        return;
    }
    connection::ChildOptions options;
    options.out = ends[1];
    const auto argv =
        question.argv.empty() ? ssh_argv(question.host, question.command, false, asked.messages) : question.argv;
    const auto pid = connection::start_child(argv, options);
    ::close(ends[1]);
    asked.out = ends[0];
    if (pid) {
        asked.pid = *pid;
    } else {
        asked.answer.trouble = cannot_start(pid.error());
        ::close(std::exchange(asked.out, -1));
    }
}

/// Reads the calls that go on, and reports each that ends. The calls are children of another process, so none can be
/// ended: its pid may be that of another program by then.
void read_late(std::vector<SshCall>& all, const IsLate& is_late) {
    const auto end = steady_clock::now() + k_late;
    for (;;) {
        std::vector<pollfd> readable;
        std::vector<std::size_t> whose;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (!all[i].goes_on || all[i].out < 0) continue;
            readable.push_back({all[i].out, POLLIN, 0});
            whose.push_back(i);
        }
        const auto left = std::chrono::ceil<milliseconds>(end - steady_clock::now());
        if (readable.empty() || left <= milliseconds(0)) break;
        if (::poll(readable.data(), readable.size(), static_cast<int>(left.count())) <= 0) continue;
        for (std::size_t i = 0; i < readable.size(); ++i) {
            auto& call = all[whose[i]];
            if (readable[i].revents != 0) call.read_some();
            if (call.out >= 0) continue;
            is_late(whose[i], call.answer.out);
            call.late_lock.reset();
        }
    }
}

/// Leaves the calls that go on to a process in the background. Without one, they are killed.
void leave_to_background(std::vector<SshCall>& all, const IsLate& is_late) {
    if (std::ranges::none_of(all, &SshCall::goes_on)) return;
    const pid_t reader = ::fork();
    if (reader == 0) {
        ::setsid();
        const int nothing = ::open("/dev/null", O_RDWR);
        for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, fd);
        std::vector<int> kept;
        for (const auto& call : all) {
            if (call.goes_on) kept.insert(kept.end(), {call.out, call.late_lock.get()});
        }
        connection::close_others(kept);
        read_late(all, is_late);
        ::_exit(0);
    }
    for (auto& call : all) {
        if (!call.goes_on) continue;
        if (reader < 0) ::kill(call.pid, SIGKILL);
        ::close(std::exchange(call.out, -1));
        call.late_lock.reset();
    }
}

/// Puts a word in single quotes, and escapes characters that a shell replaces even there: `!` in csh, `\` in fish, `'`
/// in all.
std::string remote_word(std::string_view word) {
    std::string quoted = "'";
    for (const char c : word) {
        if (c == '\'' || c == '\\' || c == '!') {
            quoted += std::string("'\\") + c + "'";
        } else {
            quoted += c;
        }
    }
    return quoted + "'";
}

/// Gives ssh the files, and then what comes from standard input, until that or ssh ends. An ssh that ends early
/// explains itself; the error is about what happened here.
std::optional<Error> feed(const UniqueFd& ssh, const std::vector<connection::GivenFile>& files) {
    if (const auto sent = send_files(ssh.get(), files); !sent) {
        return sent.error().code == ErrorCode::unavailable ? std::nullopt : std::optional(sent.error());
    }
    if (::isatty(STDIN_FILENO) == 1) return std::nullopt;
    char chunk[65536];
    for (;;) {
        pollfd ready[] = {{STDIN_FILENO, POLLIN, 0}, {ssh.get(), 0, 0}};
        if (::poll(ready, 2, -1) < 0 && errno != EINTR) return std::nullopt;
        if (ready[1].revents != 0) return std::nullopt;
        if (ready[0].revents == 0) continue;
        const auto size = ::read(STDIN_FILENO, chunk, sizeof chunk);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0 || posix::write_all(ssh.get(), {chunk, static_cast<std::size_t>(size)}) != 0) return std::nullopt;
    }
}

}  // namespace

std::string remote_command(const Host& host, const std::vector<std::string>& words) {
    const bool in_home = host.program.starts_with("~/") && host.program.size() > 2;
    std::string command =
        in_home ? "~/" + remote_word(std::string_view(host.program).substr(2)) : remote_word(host.program);
    for (const auto& word : words) command += " " + remote_word(word);
    return command;
}

Result<Ended> run_on(const Host& host, const std::vector<std::string>& words, bool terminal,
                     const std::vector<connection::GivenFile>& files) {
    const Messages messages;
    termios modes{};
    const bool has_modes = terminal && ::tcgetattr(STDIN_FILENO, &modes) == 0;
    connection::ChildOptions options;
    int ends[2] = {-1, -1};
    if (!files.empty() && system::make_pipe(ends) != 0) return io_error("making a pipe", errno);
    UniqueFd input(ends[0]), to_ssh(ends[1]);
    options.in = input ? input.get() : STDIN_FILENO;
    options.out = STDOUT_FILENO;
    options.err = STDERR_FILENO;
    const auto child =
        connection::start_child(ssh_argv(host, remote_command(host, words), terminal, messages), options);
    if (!child) return cannot_start(child.error());
    input.reset();
    Ended ended;
    {
        const SignalsForChild signals(*child);
        std::optional<Error> unsent;
        if (to_ssh) unsent = feed(to_ssh, files);
        to_ssh.reset();
        const int status = wait_for(*child);
        ended.status = connection::exit_status(status);
        ended.trouble = unsent ? unsent : trouble_with(host, status, messages.text());
    }
    const bool broken = ended.status == k_link_lost || ended.status > 128;
    if (has_modes && broken) {
        // The terminal may belong to another process group by now, whose SIGTTOU would stop this process.
        ::signal(SIGTTOU, SIG_IGN);
        ::tcsetattr(STDIN_FILENO, TCSADRAIN, &modes);
        (void)!::write(STDOUT_FILENO, k_terminal_reset.data(), k_terminal_reset.size());
    }
    return ended;
}

std::vector<Answer> ask(const std::vector<Question>& questions, const IsEnough& is_enough, const IsLate& is_late) {
    std::vector<SshCall> all(questions.size());
    for (std::size_t i = 0; i < all.size(); ++i) start(all[i], questions[i]);
    for (;;) {
        std::vector<pollfd> readable;
        std::vector<std::size_t> whose;
        bool closing = false, enough = false;
        auto until = steady_clock::time_point::max();
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (is_late && !enough && !all[i].is_over() && all[i].out >= 0 && all[i].is_late()) {
                all[i].goes_on = all[i].lock_late(questions[i].late_lock);
                if (all[i].goes_on) all[i].answer.trouble = all[i].no_answer(questions[i].host);
            }
            if (!all[i].is_over()) all[i].look(questions[i].host);
            const bool is_new = all[i].is_over() && !std::exchange(all[i].is_told, true);
            enough = enough || (is_new && is_enough && is_enough(i, all[i].answer));
            if (all[i].is_over()) continue;
            until = std::min(until, all[i].until);
            closing = closing || all[i].out < 0;
            if (all[i].out < 0) continue;
            readable.push_back({all[i].out, POLLIN, 0});
            whose.push_back(i);
        }
        if (std::ranges::all_of(all, &SshCall::is_over)) break;
        if (enough) {
            for (auto& asked : all) asked.until = steady_clock::now();
            continue;
        }
        const auto left = std::max(std::chrono::ceil<milliseconds>(until - steady_clock::now()), milliseconds(0));
        const auto pause = std::min(left, closing ? k_look_again : k_longest_pause);
        if (::poll(readable.data(), readable.size(), static_cast<int>(pause.count())) <= 0) continue;
        for (std::size_t i = 0; i < readable.size(); ++i) {
            if (readable[i].revents != 0) all[whose[i]].read_some();
        }
    }
    leave_to_background(all, is_late);
    std::vector<Answer> answers;
    for (auto& asked : all) answers.push_back(std::move(asked.answer));
    return answers;
}

}  // namespace orange::hosts
