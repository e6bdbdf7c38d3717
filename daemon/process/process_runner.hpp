#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.hpp"
#include "common/posix/fd.hpp"
#include "daemon/async/awaitable.hpp"

/// Runs programs and watches processes. All children of the daemon start through ProcessRunner: git, tmux, gh, the
/// login shell, setup commands and checks. A command has a deadline, an output limit and no shell, and ends together
/// with the processes that it started. Failures are Errors; no child is left behind.
///
/// The other files find facts of processes (proc_info.hpp), stray processes (stray_processes.hpp), and the control
/// groups of agents (group.hpp, scopes.hpp). Files that end in _linux or _macos have what differs between the systems.
namespace orange {

/// Ends a child before its deadline. The caller of the runner and the code that may stop the child share it.
class Stop {
  public:
    void request() {
        requested_ = true;
        if (end_) end_();
    }
    bool requested() const { return requested_; }

    /// Sets the function that ends the running child; null once it has ended. Only the runner calls it.
    void set_end(std::function<void()> end) { end_ = std::move(end); }

  private:
    bool requested_ = false;
    std::function<void()> end_;
};

/// A child to run. There is never a shell, and always a deadline.
struct Command {
    std::vector<std::string> argv;                     ///< argv[0] without a slash is looked up in the PATH of `env`
    std::string cwd;                                   ///< must exist; empty: "/"
    std::shared_ptr<const UniqueFd> folder = nullptr;  ///< an open folder to start in instead of `cwd`
    std::optional<std::map<std::string, std::string>> env;  ///< the whole environment; unset: the daemon's scrubbed one
    std::optional<int> umask = {};                          ///< unset: that of this process
    std::string input;                                      ///< for its stdin; empty: /dev/null
    std::chrono::milliseconds deadline{30'000};
    std::size_t output_limit = 1 << 20;  ///< bytes kept of each stream; further bytes are read and dropped
    bool as_log = false;  ///< merges both streams into `out`, and keeps the last bytes instead of the first
    /// Gets the child's stdout as it is written; `out` stays empty then.
    std::function<void(std::string_view)> on_output = nullptr;
    std::shared_ptr<Stop> stop = nullptr;
    std::string shown;  ///< how errors show the command; empty: by its words
};

/// The result of a child. The result is complete when the child's exit was seen, not when the pipes have ended.
struct Completed {
    int exit_status = -1;  ///< as a shell shows it: 128 + n for signal n
    std::string out;
    std::string err;

    bool ok() const { return exit_status == 0; }
};

/// Runs children. Only its implementation calls posix_spawn and waitpid. Children get descriptors 0–2 only, their own
/// process group, and default signals. At the deadline the whole group gets TERM, then KILL; so does what has the mark
/// of the command, if that is its own (stray_processes.hpp).
class ProcessRunner {
  public:
    virtual ~ProcessRunner() = default;
    /// Runs a command to its end. Errors: not_found (no such program), invalid_argument (cwd missing), timeout,
    /// conflict (stopped by `stop`), io. A non-zero exit status is no error here.
    virtual Awaitable<Result<Completed>> run(Command command) = 0;
};

/// Returns the words as a vector: g++ 12 takes no braced list in a co_await expression.
template <class... Words>
std::vector<std::string> words(Words&&... all) {
    std::vector<std::string> list;
    list.reserve(sizeof...(all));
    (list.emplace_back(std::forward<Words>(all)), ...);
    return list;
}

/// Returns why a program failed, from its output. If there are lines "fatal: …", as git prints them, the reason is one
/// line that begins with the last of them, without git's advice. Empty if it printed nothing.
std::string reason_in(const Completed& completed);

/// Makes the error external_failed for a non-zero exit status that is a failure, with command, exit_status and stderr
/// in its details. The message begins with the reason; its last line names the command.
Error command_failed(const std::vector<std::string>& argv, const Completed& completed);

}  // namespace orange
