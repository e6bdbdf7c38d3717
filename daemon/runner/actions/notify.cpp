#include "common/base/try.hpp"
#include "daemon/runner/actions/actions.hpp"

namespace orange::actions {

/// Writes the event and the text into the record. The human is notified when the transition is over.
Awaitable<Result<void>> notify(Context& context, const Action& action) {
    const auto& task = context.record.task;
    auto message = action.param("message");
    if (message.empty()) message = "the status is " + task.status;
    std::map<std::string, Scalar> fields = {{"message", message}, {"tx", context.tx}};
    CO_TRY(context.world.journal.write_once(context.record, "notification", std::move(fields)));
    context.record.to_tell = std::move(message);
    co_return Result<void>{};
}

}  // namespace orange::actions
