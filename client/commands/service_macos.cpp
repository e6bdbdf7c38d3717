// Compiled by scripts/check-macos, but never run.
#include <unistd.h>

#include <cstdlib>

#include "client/commands/files.hpp"
#include "client/commands/service.hpp"
#include "client/connection/child.hpp"
#include "client/connection/ending.hpp"
#include "client/connection/launch_agent.hpp"
#include "client/connection/start_daemon.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange::commands {
namespace {

std::string domain() {
    return "gui/" + std::to_string(::getuid());
}

std::string service() {
    return domain() + "/" + connection::k_launch_agent;
}

bool launchctl(std::vector<std::string> words) {
    words.insert(words.begin(), "launchctl");
    return connection::status_of(words, {}) == 0;
}

Result<void> check_agent(const std::string& text) {
    if (connection::is_own_launch_agent(text)) return {};
    const auto file = connection::launch_agent_file().string();
    return {ErrorCode::conflict,
            file + " is not as `orange service install` writes it, so it stays. To move it away:\n  mv " +
                shell_word(file) + " " + shell_word(file + ".mine")};
}

Result<void> install(const Paths& paths) {
    if (const auto before = text_of_file(connection::launch_agent_file())) {
        TRY(check_agent(*before));
        if (!connection::is_launch_agent_of(*before, paths)) {
            return {ErrorCode::conflict,
                    "the service runs the daemon of another ORANGE_HOME, and a user has one service. To let it run the "
                    "daemon of " +
                        paths.home.string() + " instead:\n  orange service uninstall\n  orange service install"};
        }
    }
    TRY(const auto oranged, connection::find_oranged());
    const char* path = std::getenv("PATH");
    TRY(const auto text, connection::launch_agent_for(oranged, paths, path ? path : ""));
    TRY(replace_file(connection::launch_agent_file(), text));
    (void)launchctl({"bootout", service()});
    TRY(connection::end_daemon(paths));  // a home has one daemon; agents continue
    if (launchctl({"bootstrap", domain(), connection::launch_agent_file().string()})) return {};
    return {ErrorCode::unavailable,
            "the launch agent is written, but launchd refused it. Run it to see why:\n  launchctl "
            "bootstrap " +
                domain() + " " + shell_word(connection::launch_agent_file().string())};
}

Result<bool> uninstall() {
    const auto text = text_of_file(connection::launch_agent_file());
    if (!text) return false;
    TRY(check_agent(*text));
    (void)launchctl({"bootout", service()});
    TRY(remove_file(connection::launch_agent_file()));
    return true;
}

}  // namespace

Status service_install(const Context& context) {
    TRY(install(context.paths));
    const auto file = connection::launch_agent_file().string();
    if (context.json) return put_json({{"file", file}});
    output::put("The daemon now runs as a service, " + file + ".\n");
    return 0;
}

Status service_uninstall(const Context& context) {
    TRY(const auto done, uninstall());
    if (context.json) return put_json({{"removed", done}});
    output::put(done ? "The service is removed. Agents keep running.\n"
                     : "`orange service install` has installed no service.\n");
    return 0;
}

Status service_status(const Context& context) {
    const auto text = text_of_file(connection::launch_agent_file());
    const bool own = text && connection::is_own_launch_agent(*text), active = launchctl({"print", service()});
    const auto file = connection::launch_agent_file().string();
    if (context.json) return put_json({{"file", text ? Json(file) : Json(nullptr)}, {"own", own}, {"active", active}});
    if (!text && !active) {
        output::put("The daemon does not run as a service. To let launchd run it:\n  orange service install\n");
        return 0;
    }
    output::put("service   " + std::string(active ? "known to launchd\n" : "not running\n"));
    if (text) output::put("agent     " + file + (own ? "\n" : ", not as Orange writes it\n"));
    return 0;
}

}  // namespace orange::commands
