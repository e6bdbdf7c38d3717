#include "client/arguments/command.hpp"
#include "client/commands/service.hpp"
#include "client/commands/skill.hpp"

namespace orange::arguments {
namespace {

void harness_names(CLI::App& app, std::vector<std::string>& into, const char* doc) {
    app.add_option("--harness", into, doc)->type_name("NAME");
}

Action install(CLI::App& app) {
    struct Arguments {
        std::vector<std::string> harnesses;
        bool dry_run = false;
    };
    auto a = std::make_shared<Arguments>();
    harness_names(app, a->harnesses, "Only for these agents; default: all that are installed");
    app.add_flag("--dry-run", a->dry_run, "Only show what would be written");
    app.footer(
        "Writes a page that teaches agents how to use Orange, SKILL.md, into the folder in which "
        "each agent program looks for skills. Ask an agent to \"use orange\" in your own terminal, "
        "and it splits the work into tasks.\n\n"
        "A file that you have changed, or that Orange did not write, stays. After an upgrade of "
        "Orange run the command again.\n\n"
        "Examples:\n"
        "  orange install\n"
        "  orange install --harness claude codex");
    return [a](Context& context) { return commands::install_skill(context, a->harnesses, a->dry_run); };
}

Action uninstall(CLI::App& app) {
    auto harnesses = std::make_shared<std::vector<std::string>>();
    harness_names(app, *harnesses, "Only of these agents; default: of all");
    app.footer(
        "Removes the files and folders that `orange install` created, and nothing else. A file that "
        "you have changed stays. The program itself stays installed.");
    return [harnesses](Context& context) { return commands::uninstall_skill(context, *harnesses); };
}

Action service_install(CLI::App& app) {
    app.footer(
        "Writes the unit ~/.config/systemd/user/oranged.service, with the PATH of this terminal, enables it and starts "
        "it. A daemon that runs is stopped first; agents keep running. From then on, commands that need the daemon "
        "start "
        "the service. Run the command again after your PATH or the place of Orange has changed.");
    return [](Context& context) { return commands::service_install(context); };
}

constexpr Command k_install_commands[] = {
    {"service", "install", "Let systemd run the daemon", service_install, false, true},
    {"service", "uninstall", "Remove the service; agents keep running", bare<commands::service_uninstall>, false, true},
    {"service", "status", "Show whether the daemon runs as a service", bare<commands::service_status>},
    {"skill", "install", "Teach the installed agents to use Orange; the same as orange install", install, false, true},
    {"skill", "remove", "Remove what `orange install` wrote; the same as orange uninstall", uninstall, false, true},
    {"", "install", "Teach the installed agents to use Orange", install, false, true},
    {"", "uninstall", "Remove what `orange install` wrote", uninstall, false, true},
};

}  // namespace

std::span<const Command> install_commands() {
    return k_install_commands;
}

}  // namespace orange::arguments
