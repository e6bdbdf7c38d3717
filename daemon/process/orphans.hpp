#pragma once

#include <sys/types.h>

#include <memory>
#include <set>

#include "common/base/result.hpp"
#include "daemon/async/async.hpp"

namespace orange {

/// The children of this process that nobody here has started: orphans of what it ran, which come to it where it is a
/// child subreaper. They are reaped; those that somebody waits for are left to him.
class Orphans {
  public:
    /// For as long as it lives, a child that somebody waits for. `reaped()` ends it before, once the child has no
    /// number any more.
    class Spared {
      public:
        Spared(std::shared_ptr<Orphans> orphans, pid_t pid);
        Spared(const Spared&) = delete;
        Spared& operator=(const Spared&) = delete;
        ~Spared() { reaped(); }
        void reaped();

      private:
        std::shared_ptr<Orphans> orphans_;
        pid_t pid_;
    };

    /// Makes this process a child subreaper, and reaps from then on. Blocks SIGCHLD. Does nothing where the system has
    /// no such thing (macOS). An error leaves everything as it was.
    static Result<void> adopt(const async::Executor& executor, std::shared_ptr<Orphans> self);

  private:
    static Awaitable<void> reap_always(std::shared_ptr<Orphans> self, int signals);
    void reap();

    std::set<pid_t> spared_;
    bool adopting_ = false;
};

}  // namespace orange
