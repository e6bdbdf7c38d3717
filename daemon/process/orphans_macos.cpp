// Compiled by scripts/check-macos, but never run.
#include "daemon/process/orphans.hpp"

namespace orange {

/// macOS has no child subreaper; launchd adopts orphans.
Result<void> Orphans::adopt(const async::Executor&, std::shared_ptr<Orphans>) {
    return {};
}

Awaitable<void> Orphans::reap_always(std::shared_ptr<Orphans>, int) {
    co_return;
}

}  // namespace orange
