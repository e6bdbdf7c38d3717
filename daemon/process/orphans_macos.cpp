// Not tried on a machine yet.
#include "daemon/process/orphans.hpp"

namespace orange {

/// There is no child subreaper here: orphans go to launchd.
Result<void> Orphans::adopt(const async::Executor&, std::shared_ptr<Orphans>) {
    return {};
}

Awaitable<void> Orphans::reap_always(std::shared_ptr<Orphans>, int) {
    co_return;
}

}  // namespace orange
