#include "daemon/process/orphans.hpp"

#include <sys/wait.h>

#include <cerrno>
#include <utility>

namespace orange {

Orphans::Spared::Spared(std::shared_ptr<Orphans> orphans, pid_t pid) : orphans_(std::move(orphans)), pid_(pid) {
    orphans_->spared_.insert(pid_);
}

/// What ended behind it can be seen only now.
void Orphans::Spared::reaped() {
    if (pid_ == 0) return;
    orphans_->spared_.erase(std::exchange(pid_, 0));
    if (orphans_->adopting_) orphans_->reap();
}

/// The kernel shows one ended child at a time, the same one until it is reaped. Looked at first: reaped in the same
/// step as it is found, it might be one whose status somebody is about to ask for.
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
