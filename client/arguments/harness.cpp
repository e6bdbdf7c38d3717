#include "client/commands/harness.hpp"
#include "client/arguments/command.hpp"

namespace orange::arguments {
namespace {

Action harness_list(CLI::App& app) {
    auto params = std::make_shared<rpc::HarnessList>();
    text(app, "--project", params->project, "Whose trust is looked at");
    return [params](Context& context) { return commands::harness_list(context, *params); };
}

Action harness_show(CLI::App& app) {
    struct Arguments {
        rpc::HarnessShow params;
        bool source = false;
    };
    auto a = std::make_shared<Arguments>();
    app.add_option("NAME", a->params.name, "Which harness")->required();
    app.add_flag("--source", a->source, "The file in place of its command lines");
    return [a](Context& context) { return commands::harness_show(context, a->params, a->source); };
}

Action harness_trust(CLI::App& app) {
    struct Arguments {
        rpc::HarnessTrust params;
        bool yes = false;
    };
    auto a = std::make_shared<Arguments>();
    app.add_option("NAME", a->params.name, "Which harness")->required();
    auto* path = app.add_option("PATH", a->params.cwd, "A directory of the repository; this one where absent");
    text(app, "--project", a->params.project, "The project, in place of PATH")->excludes(path);
    app.add_flag("-y,--yes", a->yes, "Record it without asking");
    app.footer(
        "Asks you, and keeps the answer with the project; from then on the program is told so where it is started.\n"
        "One that only looks into a file of its own is left to you: the lines to add are shown.\n"
        "Exit status: 0 the program trusts the repository, 1 it does not yet.\n"
        "  orange harness trust claude --project shop");
    return [a](Context& context) { return commands::harness_trust(context, a->params, a->yes); };
}

constexpr Command k_harness_commands[] = {
    {"harness", "list", "The agents there are, and what they lack", harness_list},
    {"harness", "show", "How an agent is started", harness_show},
    {"harness", "trust", "Let an agent trust a repository", harness_trust},
};

}  // namespace

std::span<const Command> harness_commands() {
    return k_harness_commands;
}

}  // namespace orange::arguments
