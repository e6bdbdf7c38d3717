#pragma once

#include <memory>

#include "daemon/async/async.hpp"
#include "daemon/process/orphans.hpp"
#include "daemon/process/process_runner.hpp"

namespace orange {

/// The real ProcessRunner, with posix_spawn, pidfd and waitid. The life of one child:
///
/// - It starts in its own session, so that a signal to its group also reaches the processes that it starts (git's ssh
///   and remote helpers outlive a git that is killed alone).
/// - Both streams are read all the time, so that the child never blocks on a full pipe.
/// - It is finished when its exit is seen. The pipes then get only a short grace period, because a grandchild (gc, a
///   credential cache) may hold them open for ever.
/// - At the deadline, or when the awaiting coroutine is cancelled, the group gets TERM, and KILL 2 s later. run()
///   returns only when the child has ended: with timeout, or by throwing operation_aborted for a cancellation.
///
/// Ignores SIGPIPE in this process: a child may close its stdin early.
class PosixProcessRunner final : public ProcessRunner {
  public:
    PosixProcessRunner();
    Awaitable<Result<Completed>> run(Command command) override;

    /// Makes orphans of the commands children of this process, and reaps them. Only for a process whose other children
    /// all come from this runner.
    Result<void> adopt_orphans(const async::Executor& executor) { return Orphans::adopt(executor, orphans_); }

  private:
    std::shared_ptr<Orphans> orphans_ = std::make_shared<Orphans>();
};

}  // namespace orange
