#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/posix/fd.hpp"
#include "daemon/process/environment.hpp"

namespace orange {

/// A child process: the leader of its own session and process group, with descriptors 0–2 only, an empty signal mask
/// and default signals. If it was not reaped, the destructor kills the group.
class Child {
  public:
    /// The arguments of start(), resolved and checked by the caller.
    struct Start {
        std::string program;  ///< absolute; or with a slash, relative to cwd
        std::vector<std::string> argv;
        Environment env;
        std::string cwd;
        int folder = -1;                  ///< an open folder to start in instead of cwd; the caller keeps it
        std::optional<int> umask = {};    ///< unset: this process's
        int in = -1, out = -1, err = -1;  ///< become 0, 1 and 2; the caller keeps its own descriptors
    };
    /// Starts a child. An error leaves no child behind, even if it ran already and could not be watched.
    static Result<Child> start(const Start& start);

    Child(Child&&) noexcept = default;
    Child& operator=(Child&&) = delete;
    ~Child();

    pid_t pid() const { return pid_; }

    /// Returns a descriptor that is readable once the child has ended. Owned by the Child.
    int pidfd() const { return pidfd_.get(); }

    /// Signals every process of the group. Safe until reap() succeeds, because the unreaped leader keeps the kernel
    /// from reusing the group's number.
    void signal_group(int signal);

    /// Returns true once the child has ended, reaped or not.
    bool ended() const;

    /// Reaps the child and returns its exit status, as a shell shows it; nothing while it runs.
    std::optional<int> reap();

  private:
    Child(pid_t pid, UniqueFd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}

    pid_t pid_ = 0;
    UniqueFd pidfd_;
    bool reaped_ = false;
};

/// Returns true if the descriptor is readable now; for a pidfd, if its process has ended. Check it after each wake-up:
/// Asio 1.22 recycles its records of descriptors, so a descriptor that was just closed may still wake its successor.
bool is_readable(int descriptor);

/// Opens a pidfd of any process, CLOEXEC; on failure `error` is the errno (ESRCH: no such process). On macOS it is a
/// kqueue that becomes readable when the process ends, and can be used for nothing else.
UniqueFd open_pidfd(pid_t pid, int& error);

/// A pipe, both ends CLOEXEC and numbered 3 or above: with a number of 0 to 2, dup2 in the child would overwrite one
/// end with another.
struct Pipe {
    UniqueFd read, write;
};
Result<Pipe> make_pipe();

/// Opens /dev/null for reading, numbered 3 or above.
Result<UniqueFd> open_null();

}  // namespace orange
