#pragma once

#include <memory>

#include "daemon/async/async.hpp"
#include "daemon/process/orphans.hpp"
#include "daemon/process/process_runner.hpp"

namespace orange {

/// The real ProcessRunner: posix_spawn, pidfd, waitid. The life of one child:
///
/// - started in a session of its own, so that a signal to its group reaches what it started in turn (git's ssh and
///   remote helpers outlive a git that is killed alone);
/// - both streams are read all the time, whatever is kept of them, so that it never blocks on a full pipe;
/// - finished when its exit is seen. The pipes then get a short grace only: a grandchild (gc, a credential cache) may
///   hold them open for ever;
/// - at the deadline, or when the awaiting coroutine is cancelled, TERM to the group and KILL 2 s later. Only when it
///   has ended does run() return: timeout, or operation_aborted thrown for a cancellation.
///
/// Ignores SIGPIPE in this process: a child may close its stdin early.
class PosixProcessRunner final : public ProcessRunner {
  public:
    PosixProcessRunner();
    Awaitable<Result<Completed>> run(Command command) override;

    /// From here on the orphans of what it runs are this process's children, and reaped; for a process that has no
    /// other children than this runner's.
    Result<void> adopt_orphans(const async::Executor& executor) { return Orphans::adopt(executor, orphans_); }

  private:
    std::shared_ptr<Orphans> orphans_ = std::make_shared<Orphans>();
};

}  // namespace orange
