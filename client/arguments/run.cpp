#include "client/commands/run.hpp"
#include "client/arguments/command.hpp"

namespace orange::arguments {
namespace {

Action run(CLI::App& app) {
    auto a = std::make_shared<commands::RunOptions>();
    app.add_option("SUMMARY", a->words, "What is to be done, one line");
    text(app, "-c,--context", a->params.context, "Markdown for the agent; - reads standard input");
    text(app, "--harness", a->params.harness, "Else the project's, else the first one there is");
    text(app, "--review-harness", a->params.review_harness, "Which agent reviews");
    text(app, "--effort", a->params.effort, "The worker's effort, as its harness names it");
    text(app, "--review-effort", a->params.review_effort, "The reviewer's effort");
    text(app, "--workflow", a->params.workflow, "Else the project's, else default");
    text(app, "-b,--branch", a->params.branch, "Branch to work on; else named after the summary");
    text(app, "--base", a->params.base, "Where a new branch begins: a branch, tag or commit");
    auto* wait = app.add_flag("--wait", a->wait, "Show what happens until it is ready, or needs you");
    app.add_flag("--attach", a->attach, "Sit down at the agent's terminal at once")->excludes(wait);
    app.footer(
        "In any git repository: registers it where it is not a project yet, names the\n"
        "branch, starts an agent on it. --wait ends with status 0 when the task can be\n"
        "merged and with 1 when it needs you; Ctrl-C only ends the waiting. With --json\n"
        "it prints one line, with --wait at the end: task, notes, ready, reason.\n\n"
        "Examples:\n"
        "  orange run \"Fix the login redirect\"\n"
        "  orange run --harness demo try it out\n"
        "  gh issue view 12 | orange run --context - \"Fix issue 12\"\n"
        "  orange run --wait \"Update the changelog\" && orange task list");
    return [a](Context& context) { return commands::run(context, *a); };
}

constexpr Command k_run_commands[] = {
    {"", "run", "In any repository: an agent starts on a task", run},
};

}  // namespace

std::span<const Command> run_commands() {
    return k_run_commands;
}

}  // namespace orange::arguments
