#include "client/commands/daemon.hpp"
#include "client/arguments/command.hpp"
#include "client/arguments/watch.hpp"
#include "client/commands/definitions.hpp"
#include "client/commands/demo.hpp"

namespace orange::arguments {
namespace {

Action supervise(CLI::App& app) {
    auto program = std::make_shared<std::string>();
    app.add_option("ORANGED", *program, "The daemon's program")->required();
    return [program](Context& context) { return commands::daemon_supervise(context, *program); };
}

Action restart(CLI::App& app) {
    auto force = std::make_shared<bool>(false);
    app.add_flag("--force", *force, "Kill a daemon that does not answer, or does not end within 10 seconds");
    app.footer(
        "Agents go on in their tmux sessions; the new daemon adopts them. If the daemon runs as a service,\n"
        "use the service manager: systemctl --user restart oranged");
    return [force](Context& context) { return commands::daemon_restart(context, *force); };
}

Action demo(CLI::App& app) {
    auto options = std::make_shared<commands::DemoOptions>();
    app.add_flag("--keep", options->keep, "Leave repository, project and task for a look around");
    app.add_flag("--crash", options->crash, "Let the agent crash once");
    app.add_option("--timeout", options->timeout_seconds, "Seconds until the review must have passed")
        ->check(CLI::Range(1, 3600))
        ->capture_default_str();
    return [options](Context& context) { return commands::demo(context, *options); };
}

Action doctor(CLI::App& app) {
    auto params = std::make_shared<rpc::DaemonDoctor>();
    text(app, "--project", params->project, "Repository and tasks of this project alone");
    return [params](Context& context) { return commands::doctor(context, *params); };
}

Action version(CLI::App&) {
    return [](Context& context) { return commands::version(context); };
}

constexpr Command k_daemon_commands[] = {
    {"daemon", "start", "Start the daemon (other commands do so by themselves)", bare<commands::daemon_start>},
    {"daemon", "stop", "End the daemon; agents go on", bare<commands::daemon_stop>},
    {"daemon", "restart", "End the daemon and start a new one; agents go on", restart},
    {"daemon", "status", "What the daemon does", bare<commands::daemon_status>},
    {"daemon", "reload", "Read settings, workflows, harnesses anew", bare<commands::daemon_reload>},
    {"daemon", "supervise", "Run oranged and start it again when it crashes", supervise, true},
    {"", "events", "What happens, as it happens with --follow", events},
    {"", "log", "The daemon's log", log},
    {"", "doctor", "What is wrong, and what mends it", doctor},
    {"", "demo", "One task from create to done in a scratch repository", demo},
    {"", "version", "The client's version", version},
};

}  // namespace

std::span<const Command> daemon_commands() {
    return k_daemon_commands;
}

}  // namespace orange::arguments
