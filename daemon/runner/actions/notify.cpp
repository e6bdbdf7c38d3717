#include "common/base/try.hpp"
#include "daemon/runner/actions/actions.hpp"

namespace orange::actions {

/// Only the event: Notifier takes the text from it, and delivers it when the transition is over.
Awaitable<Result<void>> notify(Context& context, const Action& action) {
    const auto& task = context.record.task;
    auto message = action.param("message");
    if (message.empty()) message = "the status is " + task.status;
    const auto sentence = task.project + "/" + task.branch + ": " + message;
    std::map<std::string, Scalar> fields = {{"message", sentence}, {"tx", context.tx}};
    co_return context.world.journal.write_once(context.record, "notification", std::move(fields));
}

}  // namespace orange::actions
