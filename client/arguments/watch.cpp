#include "client/arguments/watch.hpp"

#include "client/commands/wait_any.hpp"
#include "client/commands/watch.hpp"

namespace orange::arguments {

Action task_history(CLI::App& app) {
    struct Arguments {
        rpc::TaskHistory params;
        bool follow = false;
        bool verify = false;
    };
    auto a = std::make_shared<Arguments>();
    id(app, a->params.id);
    auto* lines = app.add_option("-n,--lines", a->params.limit, "Show only the last N events; 0 shows all")
                      ->check(between(0, 1'000'000));
    auto* follow = app.add_flag("-f,--follow", a->follow, "Show new events until Ctrl-C");
    app.add_flag("--verify", a->verify, "Check that no line of history.jsonl was changed, removed, put in or moved")
        ->excludes(lines)
        ->excludes(follow);
    app.footer("--verify exits with 1 if the chain of the lines does not hold.");
    return [a](Context& context) {
        return a->verify ? commands::verify_history(context, a->params)
                         : commands::task_history(context, a->params, a->follow);
    };
}

Action task_wait(CLI::App& app) {
    auto params = std::make_shared<rpc::TaskWait>();
    auto tasks = std::make_shared<std::vector<std::string>>();
    id(app, params->id);
    app.add_option("--any", *tasks, "Wait for the first of these tasks, on this machine or others (box:4f2a)")
        ->delimiter(',')
        ->option_text("ID[,ID...]")
        ->excludes("ID");
    app.add_option("--for", params->until, "Statuses to wait for, or ended, attention or human; default: human")
        ->delimiter(',')
        ->option_text("WHAT[,WHAT...]");
    app.add_option_function<std::int64_t>(
           "--timeout", [params](const std::int64_t& seconds) { params->timeout = seconds; },
           "Stop waiting after this time")
        ->check(between(0, 1'000'000))
        ->type_name("SECONDS");
    app.footer(
        "Waits and prints the status. --for also takes:\n"
        "  human      the task has ended, or needs a review, an answer or help\n"
        "  attention  the task needs you and has a notice\n"
        "  ended      the task is done or cancelled\n\n"
        "Exit status: 0 if the task has reached the status, 1 if it can no longer reach it, 3 after --timeout.\n\n"
        "--any prints the id and the status of the task that was first. The exit status is 1 if no task can reach "
        "the status any more. A host that cannot be reached, or is lost, is not waited for any more.\n\n"
        "Examples:\n"
        "  orange wait 4f2a && orange merge 4f2a\n"
        "  orange wait 4f2a --for ended --timeout 3600\n"
        "  orange wait --any 4f2a,7b1c,box:nura");
    return [params, tasks](Context& context) {
        return tasks->empty() ? commands::task_wait(context, *params)
                              : commands::task_wait_any(context, *tasks, *params);
    };
}

Action task_log(CLI::App& app) {
    auto params = std::make_shared<rpc::TaskLog>();
    id(app, params->id);
    text(app, "--role", params->role, "worker or reviewer: the last window of that agent");
    text(app, "--window", params->window, "Name (review-1) or run id of a window, as --list shows them");
    app.add_flag("--list", params->list, "List the windows, newest first");
    app.add_option("-n,--lines", params->lines, "Number of lines, 1 to 5000")
        ->check(between(1, 5000))
        ->capture_default_str();
    return [params](Context& context) { return commands::task_log(context, *params); };
}

Action events(CLI::App& app) {
    struct Arguments {
        rpc::EventsList params;
        bool follow = false;
    };
    auto a = std::make_shared<Arguments>();
    app.add_flag("-f,--follow", a->follow, "Show new events until Ctrl-C");
    text(app, "-t,--task", a->params.task, "Only this task");
    text(app, "-p,--project", a->params.project, "Only this project");
    app.add_option("--types", a->params.types, "Only these types, such as status.changed; agent means all of agent.*")
        ->delimiter(',')
        ->option_text("TYPE[,TYPE...]");
    text(app, "--since", a->params.since, "Only events after this cursor (from --json)");
    app.add_option("-n,--lines", a->params.limit, "Number of events, 1 to 4096")
        ->check(between(1, 4096))
        ->capture_default_str();
    app.footer(
        "Times are local. --json prints one object per line, with times in UTC. To continue after an event, pass "
        "its \"cursor\" to --since.");
    return [a](Context& context) { return commands::events(context, a->params, a->follow); };
}

Action log(CLI::App& app) {
    struct Arguments {
        rpc::LogTail params;
        bool follow = false;
    };
    auto a = std::make_shared<Arguments>();
    app.add_flag("-f,--follow", a->follow, "Show new lines until Ctrl-C");
    app.add_option("-n,--lines", a->params.lines, "Number of lines to show")
        ->check(between(1, 1'000'000))
        ->capture_default_str();
    text(app, "-l,--level", a->params.level, "Only lines of this level or a higher one: debug, info, warn, error");
    text(app, "-c,--component", a->params.component, "Only one part of the daemon, such as rpc, runner or journal");
    text(app, "-g,--grep", a->params.grep, "Only lines that contain this text, in upper or lower case");
    text(app, "--since", a->params.since,
         "Only lines after this time (2026-01-02T03:04:05Z) or age (90s, 10m, 3h, 2d)");
    app.footer("Reads orange.log and its older files; the daemon does not have to run. Times are local.");
    return [a](Context& context) { return commands::log(context, a->params, a->follow); };
}

}  // namespace orange::arguments
