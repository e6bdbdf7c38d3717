#include "daemon/process/posix_process_runner.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <asio/buffer.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/this_coro.hpp>
#include <asio/write.hpp>
#include <cerrno>
#include <csignal>
#include <memory>
#include <system_error>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/async/async.hpp"
#include "daemon/async/use_tuple.hpp"
#include "daemon/process/child.hpp"
#include "daemon/process/signal_process.hpp"
#include "daemon/process/stray_processes.hpp"

namespace orange {
namespace {

using namespace std::chrono_literals;

constexpr auto k_kill_after = 2s;
constexpr auto k_give_up_after = 5s;
constexpr auto k_pipe_grace = 200ms;

/// The state that a running child, its readers and its timer share. The coroutines that read and write own it, so none
/// of them outlives it; it is destroyed after the descriptors were closed and they have returned.
struct Running {
    Running(const asio::any_io_executor& executor, std::shared_ptr<Orphans> orphans, Child started,
            std::size_t output_limit)
        : spared(std::move(orphans), started.pid()),
          child(std::move(started)),
          exited(executor),
          in(executor),
          out(executor),
          err(executor),
          timer(executor),
          pipes_closed(executor),
          limit(output_limit) {}

    /// Sends TERM now and KILL later, and then stops waiting for a process that the kernel does not end.
    static void terminate(const std::shared_ptr<Running>& self) {
        if (self->ending) return;
        self->ending = true;
        self->child.signal_group(SIGTERM);
        self->timer.expires_after(k_kill_after);
        self->timer.async_wait([self](std::error_code error) {
            if (error || self->finished) return;
            self->child.signal_group(SIGKILL);
            self->timer.expires_after(k_give_up_after);
            self->timer.async_wait([self](std::error_code failed) {
                if (failed || self->finished) return;
                self->given_up = true;
                self->exited.cancel();
            });
        });
    }

    static void start_deadline(const std::shared_ptr<Running>& self, std::chrono::milliseconds deadline) {
        self->timer.expires_after(deadline);
        self->timer.async_wait([self](std::error_code error) {
            if (error || self->finished || self->ending) return;
            self->timed_out = true;
            terminate(self);
        });
    }

    /// Lets `stop` end the child.
    static void obey(const std::shared_ptr<Running>& self, std::shared_ptr<Stop> stop) {
        if (!stop) return;
        stop->set_end([weak = std::weak_ptr(self)] {
            const auto running = weak.lock();
            if (!running || running->finished) return;
            running->stopped = true;
            terminate(running);
        });
        self->stop = std::move(stop);
    }

    void close() {
        finished = true;
        if (stop) stop->set_end(nullptr);
        std::error_code ignored;  // an error when closing a pipe loses nothing
        timer.cancel();
        in.close(ignored);
        out.close(ignored);
        err.close(ignored);
        exited.release();  // the Child owns this descriptor
    }

    Orphans::Spared spared;  // destroyed after the Child, whose destructor waits for it
    Child child;
    asio::posix::stream_descriptor exited, in, out, err;
    async::Alarm timer;
    async::Wakeup pipes_closed;
    std::size_t limit;
    bool as_log = false;
    std::function<void(std::string_view)> on_output;
    int open_pipes = 2;
    bool ending = false, timed_out = false, stopped = false, given_up = false, finished = false;
    std::shared_ptr<Stop> stop;
    Completed completed;
};

/// Appends to `kept`. With `last` the newest bytes stay; they are moved only when `kept` has twice the limit.
void keep(std::string& kept, std::size_t limit, bool last, const char* data, std::size_t size) {
    if (!last) size = std::min(size, limit - std::min(limit, kept.size()));
    kept.append(data, size);
    if (last && kept.size() > 2 * limit) kept.erase(0, kept.size() - limit);
}

void take(Running& running, std::string& into, const char* data, std::size_t size) {
    if (running.on_output && &into == &running.completed.out) {
        running.on_output({data, size});
    } else {
        keep(into, running.limit, running.as_log, data, size);
    }
}

/// After so many reads that filled the buffer, a log is read with pauses: what prints without end waits for the daemon,
/// and not the daemon for it. That is 3 MiB in a second.
constexpr int k_full_reads = 64;
constexpr std::chrono::milliseconds k_pause_of_reading{5};

Awaitable<void> read_all(std::shared_ptr<Running> self, asio::posix::stream_descriptor& from, std::string& into) {
    std::array<char, 16 * 1024> buffer;
    for (int full = 0;;) {
        const auto [error, size] = co_await from.async_read_some(asio::buffer(buffer), use_tuple);
        take(*self, into, buffer.data(), size);
        if (error) break;
        full = size == buffer.size() ? full + 1 : 0;
        if (self->as_log && full >= k_full_reads) co_await async::sleep(k_pause_of_reading);
    }
    if (--self->open_pipes == 0) self->pipes_closed.notify();
}

Awaitable<void> feed(std::shared_ptr<Running> self, std::string input) {
    // A child may end without reading its input. An early end is no failure: the exit status counts.
    co_await asio::async_write(self->in, asio::buffer(input), use_tuple);
    std::error_code ignored;
    self->in.close(ignored);
}

/// Reads what is in a pipe when the child has ended. Such data belongs to the output even if the grace period was too
/// short.
void read_rest(asio::posix::stream_descriptor& from, std::string& into, Running& running) {
    std::array<char, 16 * 1024> buffer;
    if (!from.is_open()) return;
    for (int rounds = 0; rounds < 64; ++rounds) {
        const auto size = ::read(from.native_handle(), buffer.data(), buffer.size());
        if (size <= 0) return;
        take(running, into, buffer.data(), static_cast<std::size_t>(size));
    }
}

Result<void> check(const Command& command) {
    if (command.argv.empty()) return Error(ErrorCode::invalid_argument, "running a command: it has no words");
    for (const auto& word : command.argv) {
        if (word.find('\0') != std::string::npos) {
            return Error(ErrorCode::invalid_argument, "running " + command.argv[0] + ": an argument holds a NUL");
        }
    }
    struct stat status {};
    if (command.folder) return {};
    if (!command.cwd.empty() && (::stat(command.cwd.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))) {
        return Error(ErrorCode::invalid_argument,
                     "running " + command.argv[0] + ": there is no directory " + printable(command.cwd));
    }
    return {};
}

/// Starts the child and connects its three streams.
Result<std::shared_ptr<Running>> start(const asio::any_io_executor& executor, std::shared_ptr<Orphans> orphans,
                                       const Command& command) {
    Child::Start how;
    how.env = command.env ? *command.env : scrubbed_environment();
    how.argv = command.argv;
    how.cwd = command.cwd.empty() ? "/" : command.cwd;
    if (command.folder) how.folder = command.folder->get();
    how.umask = command.umask;
    how.program = find_program(command.argv[0], path_in(how.env));
    if (how.program.empty()) {
        return Error(ErrorCode::not_found, "there is no program " + printable(command.argv[0]) + " on PATH");
    }
    auto in = make_pipe(), out = make_pipe(), err = make_pipe();
    if (!in || !out || !err) return (!in ? in : !out ? out : err).error();
    if (command.input.empty()) {
        TRY(in->read, open_null());
    }
    how.in = in->read.get(), how.out = out->write.get(), how.err = (command.as_log ? out : err)->write.get();
    TRY(auto child, Child::start(how));
    auto running = std::make_shared<Running>(executor, std::move(orphans), std::move(child), command.output_limit);
    running->as_log = command.as_log;
    running->on_output = command.on_output;
    running->exited.assign(running->child.pidfd());
    running->in.assign(in->write.release());
    running->out.assign(out->read.release());
    running->err.assign(err->read.release());
    return running;
}

/// Kills what is left of a command with a mark of its own. Behind a wall it may be the child of another process: that
/// of a container outlives the program that has started it.
void end_marked(const Command& command) {
    if (!command.env) return;
    const auto mark = command.env->find(process::k_daemon_variable);
    const bool is_own =
        mark != command.env->end() && mark->second.find('/', mark->second.rfind('@')) != mark->second.npos;
    if (!is_own) return;
    for (const auto& left : process::of_command(mark->second)) signal_process(left.pid, left.start_time, SIGKILL);
}

}  // namespace

PosixProcessRunner::PosixProcessRunner() {
    std::signal(SIGPIPE, SIG_IGN);
}

Awaitable<Result<Completed>> PosixProcessRunner::run(Command command) {
    CO_TRY(check(command));
    const auto what =
        "`" + ellipsized(printable(command.shown.empty() ? join(command.argv, " ") : command.shown), 200) + "`";
    if (command.stop && command.stop->requested()) co_return Error(ErrorCode::conflict, what + " was not begun");
    const auto executor = co_await asio::this_coro::executor;
    CO_TRY(const auto running, start(executor, orphans_, command));
    async::spawn(executor, "reading stdout", read_all(running, running->out, running->completed.out));
    async::spawn(executor, "reading stderr", read_all(running, running->err, running->completed.err));
    async::spawn(executor, "writing stdin", feed(running, std::move(command.input)));
    Running::start_deadline(running, command.deadline);
    Running::obey(running, command.stop);

    // If the coroutine is destroyed while suspended here, nothing is left behind: closing ends the readers, and with
    // the last reader the Child is destroyed, which kills the group.
    struct Closer {
        Running& running;
        ~Closer() { running.close(); }
    } closer{*running};

    bool cancelled = false;
    for (;;) {
        const auto [error] = co_await running->exited.async_wait(asio::posix::descriptor_base::wait_read, use_tuple);
        if (running->given_up || (!error && running->child.ended())) break;
        if (!error) continue;  // a wake-up without a reason
        if (cancelled) break;  // waiting is impossible; the Child's destructor kills the group
        cancelled = true;
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        Running::terminate(running);
    }
    // Kill what ignored TERM or started after it, before the reap: until then the group's number cannot be reused.
    if (running->ending) {
        co_await async::sleep(k_pipe_grace);
        running->child.signal_group(SIGKILL);
        end_marked(command);
    }
    const auto status = running->child.reap();
    if (status) running->spared.reaped();
    if (running->open_pipes > 0) co_await running->pipes_closed.wait(k_pipe_grace);
    auto& completed = running->completed;
    read_rest(running->out, completed.out, *running);
    read_rest(running->err, completed.err, *running);
    if (running->as_log && completed.out.size() > running->limit) {
        completed.out.erase(0, completed.out.size() - running->limit);
    }
    if (cancelled) throw std::system_error(asio::error::operation_aborted);
    if (running->stopped) co_return Error(ErrorCode::conflict, what + " was stopped");
    if (running->timed_out || !status) {
        const auto seconds = std::to_string(static_cast<double>(command.deadline.count()) / 1000);
        co_return Error(ErrorCode::timeout,
                        what + " did not end within " + seconds.substr(0, seconds.find('.') + 2) + " s",
                        {{"stderr", running->as_log ? completed.out : completed.err}});
    }
    running->completed.exit_status = *status;
    co_return std::move(running->completed);
}

}  // namespace orange
