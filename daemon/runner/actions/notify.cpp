#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/runner/actions/actions.hpp"

namespace orange::actions {

/// Tells the human: an event for whoever listens, and the user's own command (config.yml `notify`), where there is one.
Awaitable<Result<void>> notify(Context& context, const Action& action) {
    const auto& task = context.record.task;
    auto message = action.param("message");
    if (message.empty()) message = "is " + task.status;
    const auto sentence = task.project + "/" + task.branch + " " + message;
    std::map<std::string, Scalar> fields = {{"message", sentence}, {"tx", context.tx}};
    // The event comes once; the command below once more where the daemon died in it.
    CO_TRY(context.world.journal.write_once(context.record, "notification", std::move(fields)));
    if (context.world.settings.notify_command.empty()) co_return Result<void>{};

    Command command;
    command.argv = context.world.settings.notify_command;
    command.argv.push_back(printable(sentence));
    command.env = context.world.base_environment;
    command.deadline = std::chrono::seconds(10);
    const auto argv = command.argv;
    auto done = co_await context.world.processes.run(std::move(command));
    if (!done) co_return in_context("the notify command of config.yml", done.error());
    if (!done->ok()) co_return command_failed(argv, *done);
    co_return Result<void>{};
}

}  // namespace orange::actions
