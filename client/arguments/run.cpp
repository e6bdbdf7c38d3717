#include "client/commands/run.hpp"
#include "client/arguments/command.hpp"
#include "client/commands/dashboard.hpp"
#include "client/commands/task.hpp"

namespace orange::arguments {
namespace {

Action run(CLI::App& app) {
    auto a = std::make_shared<commands::RunOptions>();
    app.add_option("SUMMARY", a->words, "What to do, in one line");
    text(app, "-c,--context", a->params.context, "More text for the agent (Markdown); - reads standard input");
    files(app, a->files);
    text(app, "--harness", a->params.harness,
         "Agent that does the work; default: the project's, or the first installed one");
    agent_options(app, a->params);
    text(app, "--workflow", a->params.workflow, "Workflow; default: the project's, or \"default\"");
    text(app, "-b,--branch", a->params.branch, "Branch to work on; default: a name made from the summary");
    text(app, "--base", a->params.base, "Branch, tag or commit that a new branch starts from");
    text(app, "--on", a->params.on,
         "Build it on this task: it starts when that is in review, from its reviewed commit, and is merged after it")
        ->type_name("ID");
    auto* wait = app.add_flag("--wait", a->wait, "Wait until the task can be merged or needs you");
    wait->option_text(" ");
    app.add_flag("--attach", a->attach, "Open the agent's terminal; not with --wait")->excludes(wait)->option_text(" ");
    app.footer(
        "Creates a task in the git repository of this directory and starts an agent on it. "
        "If the repository is not a project yet, it becomes one.\n\n"
        "--wait shows the events of the task. The exit status is 0 if the task can be merged, and 1 if it "
        "needs you for anything else. Ctrl-C ends the wait, not the task. With --json, --wait prints one line at "
        "the end, with task, notes, ready and reason.\n\n"
        "Examples:\n"
        "  orange run \"Fix the login redirect\"\n"
        "  orange run --harness demo try it out\n"
        "  orange run --file ~/shot.png \"The total is cut off, see the picture\"\n"
        "  gh issue view 12 | orange run --context - \"Fix issue 12\"\n"
        "  orange run --attempts claude,codex,claude:high \"Speed up the import\"\n"
        "  orange run --wait \"Update the changelog\" && orange list");
    return [a](Context& context) { return commands::run(context, *a); };
}

Action inbox(CLI::App& app) {
    auto a = std::make_shared<commands::InboxOptions>();
    text(app, "-p,--project", a->project, "Only tasks of this project");
    auto* formed = form(app, a->form);
    auto* everywhere =
        app.add_flag("-e,--everywhere", a->everywhere, "Also ask your other machines (orange host list)");
    auto* count =
        app.add_flag("--count", a->count, "Print only how many tasks need you")->excludes(formed)->excludes(everywhere);
    count->option_text(" ");
    app.add_flag("--line", a->line, "Print \"2 need you\", or nothing if no task does: for a prompt")
        ->excludes(formed)
        ->excludes(count)
        ->excludes(everywhere)
        ->option_text(" ");
    auto* watch = app.add_flag("-w,--watch", a->watch, "Show the list again after each change, until Ctrl-C")
                      ->excludes(everywhere)
                      ->excludes(count);
    app.add_flag_callback(
           "--no-bell", [a] { a->rings = false; }, "With --watch: do not ring when a task begins to need you")
        ->needs(watch);
    app.footer(
        std::string("Each entry ends with the command to run next. --watch rings the terminal's bell when a task "
                    "begins to need you, and shows in its title how many do.\n\n"
                    "--count and --line start no daemon. If none runs, they print nothing, and the exit "
                    "status is 0.\n\n") +
        k_form_help);
    return [a](Context& context) { return commands::inbox(context, *a); };
}

Action dashboard(CLI::App& app) {
    struct Arguments {
        Text project;
        bool everywhere = false, read_only = false, no_mouse = false, no_bell = false;
    };
    auto a = std::make_shared<Arguments>();
    text(app, "-p,--project", a->project, "Only tasks of this project");
    app.add_flag(
        "--everywhere", a->everywhere,
        "Tasks of all projects on all your machines (orange host list); default: of the project that you are in");
    app.add_flag("--read-only", a->read_only, "Look, but change nothing");
    app.add_flag("--no-mouse", a->no_mouse, "Leave the mouse to the terminal");
    app.add_flag("--no-bell", a->no_bell, "Do not ring when a task needs you");
    app.footer("On a terminal, `orange` alone does the same. In it, ? shows all keys.");
    return [a](Context& context) {
        std::vector<std::string> words;
        if (a->project) words.push_back("--project=" + *a->project);
        if (a->everywhere) words.emplace_back("--everywhere");
        if (a->read_only) words.emplace_back("--read-only");
        if (a->no_mouse) words.emplace_back("--no-mouse");
        if (a->no_bell) words.emplace_back("--no-bell");
        return commands::dashboard(context, words);
    };
}

constexpr Command k_run_commands[] = {
    {"", "dashboard", "Show your tasks on one screen, and do all that they need", dashboard, false, true},
    {"", "inbox", "Show what needs you, most urgent first", inbox},
    {"", "run", "Create a task in this repository and start an agent on it", run},
};

}  // namespace

std::span<const Command> run_commands() {
    return k_run_commands;
}

}  // namespace orange::arguments
