#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "daemon/process/environment.hpp"
#include "daemon/process/unique_fd.hpp"

namespace orange {

/// A started child: the leader of a session and process group of its own, with descriptors 0–2 only, an empty signal
/// mask and default signals. Destroyed before it was reaped, the group is killed.
class Child {
  public:
    /// What start() needs; all resolved and checked by the caller.
    struct Start {
        std::string program;  ///< absolute, or relative to cwd where it has a slash
        std::vector<std::string> argv;
        Environment env;
        std::string cwd;
        int folder = -1;                  ///< where it starts instead of cwd; an open folder, which the caller keeps
        std::optional<int> umask = {};    ///< unset: this process's
        int in = -1, out = -1, err = -1;  ///< become 0, 1 and 2; the caller keeps its own
    };
    /// An error leaves no child behind, also where it had begun and cannot be watched.
    static Result<Child> start(const Start& start);

    Child(Child&&) noexcept = default;
    Child& operator=(Child&&) = delete;
    ~Child();

    pid_t pid() const { return pid_; }

    /// Readable once the child has ended. Valid for as long as the Child.
    int pidfd() const { return pidfd_.get(); }

    /// To every process of the group. Safe until reap() succeeded: the unreaped leader keeps the number from being
    /// reused.
    void signal_group(int signal);

    /// True once it has ended, reaped or not.
    bool ended() const;

    /// Takes the exit status, as a shell shows it; nothing while it runs.
    std::optional<int> reap();

  private:
    Child(pid_t pid, UniqueFd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}

    pid_t pid_ = 0;
    UniqueFd pidfd_;
    bool reaped_ = false;
};

/// True where that descriptor is readable now: for a pidfd, where its process has ended. A wake-up alone says nothing:
/// Asio 1.22 recycles its records of descriptors, and one that was just closed may still wake its successor.
bool is_readable(int descriptor);

/// A pidfd of any process, CLOEXEC; the errno where there is none (ESRCH: no such process). On macOS a kqueue that
/// becomes readable at the end of that process, and is no other use.
UniqueFd open_pidfd(pid_t pid, int& error);

/// A pipe, both ends CLOEXEC and numbered 3 or above: with 0–2 among them, dup2 in the child would overwrite one end
/// with another.
struct Pipe {
    UniqueFd read, write;
};
Result<Pipe> make_pipe();

/// /dev/null for reading, numbered 3 or above.
Result<UniqueFd> open_null();

}  // namespace orange
