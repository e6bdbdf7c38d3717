#pragma once

#include <sys/types.h>

#include <memory>
#include <set>

#include "common/base/result.hpp"
#include "daemon/async/async.hpp"

namespace orange {

/// Reaps orphans: processes that a child left behind and that the kernel made children of this process, if it is a
/// child subreaper. Children are not reaped whose exit status is awaited.
class Orphans {
  public:
    /// Protects a child from being reaped here while its exit status is awaited: until reaped() is called after the
    /// child was reaped, or until destruction.
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

    /// Makes this process a child subreaper, and reaps orphans from now on. Blocks SIGCHLD. Does nothing on systems
    /// without subreapers (macOS). An error leaves everything unchanged.
    static Result<void> adopt(const async::Executor& executor, std::shared_ptr<Orphans> self);

  private:
    static Awaitable<void> reap_always(std::shared_ptr<Orphans> self, int signals);
    void reap();

    std::set<pid_t> spared_;
    bool adopting_ = false;
};

}  // namespace orange
