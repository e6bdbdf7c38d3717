#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "daemon/async/awaitable.hpp"
#include "daemon/process/unique_fd.hpp"

namespace orange {

/// Lets somebody else end a child before its deadline. Shared by the one who runs it and the one who may end it.
class Stop {
  public:
    void request() {
        requested_ = true;
        if (end_) end_();
    }
    bool requested() const { return requested_; }

    /// For the runner: how to end the child that runs now; nothing once it has ended.
    void set_end(std::function<void()> end) { end_ = std::move(end); }

  private:
    bool requested_ = false;
    std::function<void()> end_;
};

/// A child to run: argv only (no shell, ever), a deadline always.
struct Command {
    std::vector<std::string> argv;                     ///< argv[0] is looked up in `env`'s PATH where it has no slash
    std::string cwd;                                   ///< must exist; empty: "/"
    std::shared_ptr<const UniqueFd> folder = nullptr;  ///< where it starts instead: `cwd`, as it was opened
    std::optional<std::map<std::string, std::string>> env;  ///< whole environment; unset: the daemon's scrubbed one
    std::optional<int> umask = {};                          ///< unset: this process's
    std::string input;                                      ///< for its stdin; /dev/null where empty
    std::chrono::milliseconds deadline{30'000};
    std::size_t output_limit = 1 << 20;  ///< bytes kept of each stream; the rest is read and dropped
    bool as_log = false;  ///< both streams are one, in `out`, of which the last bytes are kept instead of the first
    /// Gets what the child writes to its stdout at once; then `out` stays empty.
    std::function<void(std::string_view)> on_output = nullptr;
    std::shared_ptr<Stop> stop = nullptr;
    std::string shown;  ///< what errors call it; empty: its words
};

/// How a child ended. Finished means that its exit was seen, never that a pipe reached its end.
struct Completed {
    int exit_status = -1;  ///< as a shell shows it: 128 + n for a signal
    std::string out;
    std::string err;

    bool ok() const { return exit_status == 0; }
};

/// Runs children: the only caller of posix_spawn and waitpid. Children get descriptors 0–2 only, their own process
/// group, default signals. At the deadline the whole group gets TERM, then KILL.
class ProcessRunner {
  public:
    virtual ~ProcessRunner() = default;
    /// Errors: not_found (no such program), invalid_argument (cwd missing), timeout, conflict (stopped by `stop`), io.
    /// A non-zero exit is no error here.
    virtual Awaitable<Result<Completed>> run(Command command) = 0;
};

/// Why a program failed, by what it printed. If there are lines "fatal: …", as git prints them, the text is one line
/// that begins with the last of them; git's advice is left out. Empty if it printed nothing.
std::string reason_in(const Completed& completed);

/// external_failed with command, exit_status and stderr in its details: for a child whose non-zero exit is a failure.
/// The message begins with the reason; its last line names the command.
Error command_failed(const std::vector<std::string>& argv, const Completed& completed);

}  // namespace orange
