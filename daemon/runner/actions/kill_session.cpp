#include "daemon/runner/actions/actions.hpp"

namespace orange::actions {

Awaitable<Result<void>> kill_session(Context& context, const Action&) {
    return context.agents.end_session(context.record);
}

Awaitable<Result<void>> kill_reviewer(Context& context, const Action&) {
    return context.agents.end(context.record, Role::reviewer);
}

}  // namespace orange::actions
