#include "client/commands/executor.hpp"

#include "client/arguments/command.hpp"

namespace orange::arguments {
namespace {

Action executor_show(CLI::App& app) {
    struct Arguments {
        rpc::ExecutorShow params;
        bool source = false;
    };
    auto a = std::make_shared<Arguments>();
    app.add_option("NAME", a->params.name, "Name of the executor")->required();
    text(app, "--task", a->params.id, "Task whose values are filled in; default: the task of this workspace");
    app.add_flag("--source", a->source, "Print the definition file instead of its command lines");
    app.footer(
        "Shows the command line that would run, and tries whether the executor can be used here. A placeholder in "
        "braces has its value when an agent is started.\n\n"
        "Example:\n"
        "  orange executor show local --task 4f2a");
    return [a](Context& context) { return commands::executor_show(context, a->params, a->source); };
}

Action executor_test(CLI::App& app) {
    auto options = std::make_shared<commands::HarnessTest>();
    options->name = "demo";
    options->yes = true;
    app.add_option("NAME", options->executor, "Name of the executor")->required();
    app.add_option("--options", options->executor_options, "Words for the executor")->option_text("WORDS");
    app.add_option("--timeout", options->timeout_seconds, "Seconds for the work of the agent; default: 300")
        ->check(between(1, 86400))
        ->option_text("SECONDS");
    app.add_flag("--keep", options->keep, "Keep the scratch repository and its Orange");
    app.footer(
        "Plays one short life of the demo agent in the executor, in a scratch repository, below an Orange of its own "
        "that ends afterwards. Each step is PASS, FAIL or UNKNOWN (Orange could not see it). After a FAIL, the keys of "
        "the definition to look at follow.\n\n"
        "Exit status: 0 if no step failed, 1 if one did.\n\n"
        "Example:\n"
        "  orange executor test local");
    return [options](Context& context) { return commands::harness_test(context, *options); };
}

constexpr Command k_executor_commands[] = {
    {"executor", "list", "List where agents can run", bare<commands::executor_list>},
    {"executor", "show", "Show what an executor runs, and try whether it can be used", executor_show},
    {"executor", "test", "Play one short life of the demo agent in an executor", executor_test, false, true},
};

}  // namespace

std::span<const Command> executor_commands() {
    return k_executor_commands;
}

}  // namespace orange::arguments
