#include "client/commands/daemon.hpp"
#include "client/arguments/command.hpp"
#include "client/arguments/usage.hpp"
#include "client/arguments/watch.hpp"
#include "client/commands/definitions.hpp"
#include "client/commands/demo.hpp"
#include "client/commands/rpc.hpp"

namespace orange::arguments {
namespace {

Action supervise(CLI::App& app) {
    auto program = std::make_shared<std::string>();
    app.add_option("ORANGED", *program, "Path of the oranged program")->required();
    return [program](Context& context) { return commands::daemon_supervise(context, *program); };
}

Action restart(CLI::App& app) {
    auto force = std::make_shared<bool>(false);
    app.add_flag("--force", *force,
                 "Kill the daemon if it does not end within 10 seconds; do not check config.yml first");
    app.footer(
        "Agents keep running in their tmux sessions, and the new daemon adopts them. "
        "If config.yml has an error, the daemon is not restarted. "
        "If the service is enabled (orange service status), the new daemon is the service.");
    return [force](Context& context) { return commands::daemon_restart(context, *force); };
}

Action demo(CLI::App& app) {
    auto options = std::make_shared<commands::DemoOptions>();
    app.add_flag("--keep", options->keep, "Keep the repository, project and task afterwards");
    auto* delegate = app.add_flag("--delegate", options->delegate, "Make the agent split its task into three");
    app.add_flag("--crash", options->crash, "Make the agent crash once; not with --delegate")->excludes(delegate);
    app.add_option("--timeout", options->timeout_seconds, "Fail if the review has not passed after this many seconds")
        ->check(between(1, 3600))
        ->capture_default_str();
    return [options](Context& context) { return commands::demo(context, *options); };
}

Action doctor(CLI::App& app) {
    auto params = std::make_shared<rpc::DaemonDoctor>();
    text(app, "--project", params->project, "Check only this project's repository and tasks");
    app.add_flag("--histories", params->histories, "Also verify the chain of every task's history");
    return [params](Context& context) { return commands::doctor(context, *params); };
}

Action speak(CLI::App& app) {
    auto options = std::make_shared<commands::RpcOptions>();
    app.add_flag("--stdio", options->stdio, "Use standard input and output; there is no other way yet");
    app.add_flag("--read-only", options->read_only, "Refuse every method that changes something");
    app.add_option("--ping", options->ping_seconds,
                   "Ping a client that sent nothing for this time, and end after three times as long")
        ->check(between(1, 3600))
        ->type_name("SECONDS")
        ->capture_default_str();
    app.footer(
        "For programs, such as the dashboard of another machine, which starts it through ssh. The first line is a "
        "hello with protocol, version and name; docs/protocol.md describes the lines.\n\n"
        "A key that may only look has this in front of it in ~/.ssh/authorized_keys:\n"
        "  restrict,command=\"orange rpc --stdio --read-only\"");
    return [options](Context& context) { return commands::rpc_stdio(context, *options); };
}

Action version(CLI::App& app) {
    app.footer(
        "--json also prints the commit, the build and the libraries. `orange daemon status` shows the daemon's "
        "version.");
    return [](Context& context) { return commands::version(context); };
}

constexpr Command k_daemon_commands[] = {
    {"daemon", "start", "Start the daemon (other commands start it if needed)", bare<commands::daemon_start>},
    {"daemon", "stop", "Stop the daemon; agents keep running", bare<commands::daemon_stop>},
    {"daemon", "restart", "Restart the daemon; agents keep running", restart},
    {"daemon", "status", "Show the daemon's version, home and number of tasks", bare<commands::daemon_status>},
    {"daemon", "reload", "Reload settings, workflows and harnesses", bare<commands::daemon_reload>},
    {"daemon", "supervise", "Run oranged and restart it if it crashes", supervise, true, true},
    {"", "events", "Show recent events; --follow shows new ones", events},
    {"", "usage", "Show the tokens and the time that tasks used", usage},
    {"", "log", "Show the daemon's log; with a task, the log of the task", log},
    {"", "doctor", "Find problems and show how to fix them", doctor},
    {"", "demo", "Run one task from create to merge in a scratch repository", demo, false, true},
    {"", "rpc", "Speak the daemon's protocol over standard input and output", speak},
    {"", "version", "Show the version of this program", version},
};

}  // namespace

std::span<const Command> daemon_commands() {
    return k_daemon_commands;
}

}  // namespace orange::arguments
