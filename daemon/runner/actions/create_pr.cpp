#include "common/base/try.hpp"
#include "daemon/runner/actions/actions.hpp"
#include "daemon/runner/pulls/pull_requests.hpp"

namespace orange::actions {

Awaitable<Result<void>> create_pr(Context& context, const Action&) {
    pulls::PullText text;
    CO_TRY(const auto opened, co_await pulls::open(context.world, context.record, std::move(text)));
    if (!opened.pull) context.notes.push_back(pulls::pushed_only(context.record, opened.url));
    co_return Result<void>{};
}

}  // namespace orange::actions
