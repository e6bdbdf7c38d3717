#include "client/arguments/watch.hpp"

#include "client/commands/watch.hpp"

namespace orange::arguments {

Action task_history(CLI::App& app) {
    struct Arguments {
        rpc::TaskHistory params;
        bool follow = false;
    };
    auto a = std::make_shared<Arguments>();
    id(app, a->params.id);
    app.add_option("-n,--lines", a->params.limit, "Only the last N events; 0: all")->check(CLI::NonNegativeNumber);
    app.add_flag("-f,--follow", a->follow, "Go on as things happen, until Ctrl-C");
    return [a](Context& context) { return commands::task_history(context, a->params, a->follow); };
}

Action task_wait(CLI::App& app) {
    auto params = std::make_shared<rpc::TaskWait>();
    id(app, params->id);
    app.add_option("--for", params->until, "States, or: ended, attention, human (the default)")
        ->delimiter(',')
        ->type_name("WHAT[,WHAT...]");
    app.add_option_function<std::int64_t>(
           "--timeout", [params](const std::int64_t& seconds) { params->timeout = seconds; },
           "Give up after so many seconds")
        ->check(CLI::NonNegativeNumber)
        ->type_name("SECONDS");
    app.footer(
        "Waits until the task needs a human: it has ended, it is in a state where nobody works or\n"
        "which tells a human, or it wants attention. Prints the status.\n"
        "Exit status: 0 reached, 1 it never will be (standard error says why), 3 the time passed.\n"
        "Examples:\n"
        "  orange task wait 4f2a && orange task merge 4f2a\n"
        "  orange task wait 4f2a --for ended --timeout 3600");
    return [params](Context& context) { return commands::task_wait(context, *params); };
}

Action task_log(CLI::App& app) {
    auto params = std::make_shared<rpc::TaskLog>();
    id(app, params->id);
    text(app, "--role", params->role, "The last window of the worker or of the reviewer");
    text(app, "--window", params->window, "A window by its name (review-1) or its run, from --list");
    app.add_flag("--list", params->list, "Which windows there are, newest first");
    app.add_option("-n,--lines", params->lines, "How many of the last lines, 1 to 5000")
        ->check(CLI::Range(1, 5000))
        ->capture_default_str();
    return [params](Context& context) { return commands::task_log(context, *params); };
}

Action events(CLI::App& app) {
    struct Arguments {
        rpc::EventsList params;
        bool follow = false;
    };
    auto a = std::make_shared<Arguments>();
    app.add_flag("-f,--follow", a->follow, "Go on as things happen, until Ctrl-C");
    text(app, "-t,--task", a->params.task, "Only this task's");
    text(app, "-p,--project", a->params.project, "Only this project's");
    app.add_option("--types", a->params.types, "Only these: status.changed, or agent for all of agent.*")
        ->delimiter(',')
        ->type_name("TYPE[,TYPE...]");
    text(app, "--since", a->params.since, "Everything after this cursor (--json shows them)");
    app.add_option("-n,--lines", a->params.limit, "How many of the last ones, 1 to 4096")
        ->check(CLI::Range(1, 4096))
        ->capture_default_str();
    app.footer("Times are UTC. With --json one object a line; its \"cursor\" is where --since goes on.");
    return [a](Context& context) { return commands::events(context, a->params, a->follow); };
}

Action log(CLI::App& app) {
    struct Arguments {
        rpc::LogTail params;
        bool follow = false;
    };
    auto a = std::make_shared<Arguments>();
    app.add_flag("-f,--follow", a->follow, "Go on as lines are written, until Ctrl-C");
    app.add_option("-n,--lines", a->params.lines, "How many of the last ones")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    text(app, "-l,--level", a->params.level, "debug, info, warn or error: this or more severe");
    text(app, "-c,--component", a->params.component, "One part of the daemon: rpc, runner, journal ...");
    text(app, "-g,--grep", a->params.grep, "Lines with this text, literally, whatever its case");
    text(app, "--since", a->params.since, "90s, 10m, 3h, 2d ago, or a time as 2026-01-02T03:04:05Z");
    app.footer("Reads ~/orange/orange.log and the older ones itself: no daemon is needed. Times are UTC.");
    return [a](Context& context) { return commands::log(context, a->params, a->follow); };
}

}  // namespace orange::arguments
