#include "client/commands/harness.hpp"
#include "client/arguments/command.hpp"

namespace orange::arguments {
namespace {

Action harness_list(CLI::App& app) {
    auto params = std::make_shared<rpc::HarnessList>();
    text(app, "--project", params->project, "Project whose repository is checked for trust");
    return [params](Context& context) { return commands::harness_list(context, *params); };
}

Action harness_show(CLI::App& app) {
    struct Arguments {
        rpc::HarnessShow params;
        bool source = false;
    };
    auto a = std::make_shared<Arguments>();
    app.add_option("NAME", a->params.name, "Name of the harness")->required();
    app.add_flag("--source", a->source, "Print the definition file instead of its command lines");
    return [a](Context& context) { return commands::harness_show(context, a->params, a->source); };
}

Action harness_trust(CLI::App& app) {
    struct Arguments {
        rpc::HarnessTrust params;
        bool yes = false;
    };
    auto a = std::make_shared<Arguments>();
    app.add_option("NAME", a->params.name, "Name of the harness")->required();
    auto* path = app.add_option("PATH", a->params.cwd, "Directory in the repository; default: this one");
    text(app, "--project", a->params.project, "Project, instead of PATH")->excludes(path);
    app.add_flag("-y,--yes", a->yes, "Do not ask for confirmation");
    app.footer(
        "Asks for confirmation and stores the answer with the project. Orange then starts the "
        "agent with the options that make it trust the repository. If the agent reads its trust "
        "only from its own file, this command shows the lines to add to that file.\n\n"
        "Exit status: 0 if the agent trusts the repository, 1 if it does not.\n\n"
        "Example:\n"
        "  orange harness trust claude --project shop");
    return [a](Context& context) { return commands::harness_trust(context, a->params, a->yes); };
}

constexpr Command k_harness_commands[] = {
    {"harness", "list", "List the agents, and what is missing to run each", harness_list},
    {"harness", "show", "Show how an agent is started", harness_show},
    {"harness", "trust", "Make an agent trust a repository", harness_trust},
};

}  // namespace

std::span<const Command> harness_commands() {
    return k_harness_commands;
}

}  // namespace orange::arguments
