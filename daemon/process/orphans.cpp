#include "daemon/process/orphans.hpp"

#include <sys/wait.h>

#include <cerrno>
#include <utility>

namespace orange {

Orphans::Spared::Spared(std::shared_ptr<Orphans> orphans, pid_t pid) : orphans_(std::move(orphans)), pid_(pid) {
    orphans_->spared_.insert(pid_);
}

/// Reaps again, because a protected child hides orphans that ended after it.
void Orphans::Spared::reaped() {
    if (pid_ == 0) return;
    orphans_->spared_.erase(std::exchange(pid_, 0));
    if (orphans_->adopting_) orphans_->reap();
}

/// The kernel shows one ended child at a time, the same one until it is reaped. So look first and reap then: the child
/// may be one whose status is about to be read.
void Orphans::reap() {
    for (;;) {
        siginfo_t ended{};
        if (::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0) {
            if (errno == EINTR) continue;
            return;
        }
        if (ended.si_pid == 0 || spared_.contains(ended.si_pid)) return;
        ::waitid(P_PID, static_cast<id_t>(ended.si_pid), &ended, WEXITED | WNOHANG);
    }
}

}  // namespace orange
