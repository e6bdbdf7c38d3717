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
    app.add_option("NAME", a->params.name,
                   "Name of the harness, or .orange/setup, .orange/teardown, .orange/dev or core.sshCommand")
        ->required();
    auto* path = app.add_option("PATH", a->params.cwd, "Directory in the repository; default: this one");
    text(app, "--project", a->params.project, "Project, instead of PATH")->excludes(path)->option_text("TEXT");
    app.add_flag("-y,--yes", a->yes, "Do not ask for confirmation");
    app.footer(
        "Asks for confirmation and stores the answer with the project. Orange then starts the "
        "agent with the options that make it trust the repository. If the agent takes no such "
        "option, this command shows the lines to add to the agent's own file.\n\n"
        "With .orange/setup, .orange/teardown or .orange/dev, it shows this file of the repository, and stores "
        "that you agree to its text. Orange then runs it in the worktrees of tasks. With "
        "core.sshCommand, it does the same with this value of the repository's configuration, with "
        "which git then reaches the remotes.\n\n"
        "Exit status: 0 if the answer is yes, 1 if it is not.\n\n"
        "Example:\n"
        "  orange harness trust claude --project shop\n"
        "  orange harness trust .orange/setup");
    return [a](Context& context) { return commands::harness_trust(context, a->params, a->yes); };
}

Action harness_new(CLI::App& app) {
    auto options = std::make_shared<commands::HarnessNew>();
    app.add_option("NAME", options->name, "Name of the new harness: a-z, 0-9, - and _")->required();
    app.add_option("--from", options->from, "Harness to start from; default: claude")->option_text("NAME");
    app.add_flag("--force", options->force, "Replace an existing file");
    app.footer(
        "Writes a file with a comment for each key to harnesses/ in Orange's home. With the name of a "
        "shipped harness, the new file replaces that one.\n\n"
        "Example:\n"
        "  orange harness new mine --from claude");
    return [options](Context& context) { return commands::harness_new(context, *options); };
}

Action harness_test(CLI::App& app) {
    auto options = std::make_shared<commands::HarnessTest>();
    app.add_option("NAME", options->name, "Name of the harness")->required();
    app.add_option("--permissions", options->permissions, "full (default) or reduced")
        ->check(one_of({"full", "reduced"}))
        ->option_text("WORD");
    app.add_option("--timeout", options->timeout_seconds, "Seconds for its work; default: 300")
        ->check(between(1, 86400))
        ->option_text("SECONDS");
    app.add_flag("--trust", options->trust, "Let the agent trust the scratch repository");
    app.add_flag("--keep", options->keep, "Keep the scratch repository and its Orange");
    app.add_flag("-y,--yes", options->yes, "Do not ask for confirmation");
    app.footer(
        "Starts the agent in a scratch repository, below an Orange of its own that ends afterwards. The demo agent "
        "reviews. Each step is PASS, FAIL or UNKNOWN (Orange could not see it). After a FAIL, the keys of the "
        "definition to look at follow. The agent calls its model, which may cost money.\n\n"
        "If the agent asks a question, for example whether it may trust the repository, the test does not answer it. "
        "On "
        "a terminal it waits for your answer in the agent's window.\n\n"
        "Exit status: 0 if no step failed, 1 if one did.\n\n"
        "Example:\n"
        "  orange harness test mine --yes");
    return [options](Context& context) { return commands::harness_test(context, *options); };
}

Action harness_explain(CLI::App& app) {
    auto options = std::make_shared<commands::HarnessExplainOptions>();
    app.add_option("TASK", options->what, "Task; with --harness: file with a saved screen, or - for standard input")
        ->option_text("TASK|FILE");
    app.add_option("--harness", options->params.harness, "Definition to use for the saved screen")->option_text("NAME");
    text(app, "--role", options->params.role, "worker or reviewer; default: the active agent");
    text(app, "--title", options->params.title, "Title of the window of a saved screen");
    app.add_option("--save", options->save, "Also write the title and the screen to this new file")
        ->option_text("FILE");
    app.footer(
        "Prints what Orange takes the agent to be doing, the line that says so, and every text that the definition "
        "looks for. To fix a definition, save the screen, edit the definition, and look at the file again.\n\n"
        "Examples:\n"
        "  orange harness explain 4f2a --save screen.txt\n"
        "  orange harness explain screen.txt --harness mine");
    return [options](Context& context) { return commands::harness_explain(context, *options); };
}

constexpr Command k_harness_commands[] = {
    {"harness", "list", "List the agents and what each needs to run", harness_list},
    {"harness", "show", "Show how an agent is started", harness_show},
    {"harness", "new", "Write a definition for your own agent", harness_new, false, true},
    {"harness", "test", "Play one short life with an agent, and say what works", harness_test, false, true},
    {"harness", "explain", "Show why an agent is taken for busy, idle or waiting", harness_explain},
    {"harness", "trust", "Trust a repository: for an agent, or to run its setup", harness_trust},
};

}  // namespace

std::span<const Command> harness_commands() {
    return k_harness_commands;
}

}  // namespace orange::arguments
