#include "client/commands/service.hpp"

#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "client/commands/files.hpp"
#include "client/connection/child.hpp"
#include "client/connection/ending.hpp"
#include "client/connection/service_unit.hpp"
#include "client/connection/start_daemon.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange::commands {
namespace {

namespace fs = std::filesystem;
using connection::is_own_unit;
using connection::systemctl;

constexpr const char* k_unit = "oranged.service";

/// Refuses to replace or remove a unit that the user wrote or changed.
Result<void> check_unit(const std::string& unit, const std::string& then) {
    if (is_own_unit(unit) && !connection::is_edited_unit(unit)) return {};
    const auto file = connection::unit_file().string();
    const auto why = is_own_unit(unit) ? " was changed after `orange service install` wrote it, so it stays. (Changes "
                                         "in a drop-in are kept: systemctl --user edit oranged.) "
                                       : " was not written by `orange service install`, so it stays. ";
    return Error(ErrorCode::conflict,
                 file + why + then + "\n  mv " + shell_word(file) + " " + shell_word(file + ".mine"));
}

/// Refuses to take the service away from another home: a user has one service.
Result<void> check_home(const Paths& paths) {
    const auto other = connection::home_of_service();
    if (!other || *other == paths.home) return {};
    const bool named = std::getenv("ORANGE_HOME") != nullptr;
    return {ErrorCode::conflict, "the service runs the daemon of " + other->string() +
                                     ", and a user has one service. To let it run the daemon of " +
                                     paths.home.string() + " instead:\n  orange service uninstall\n  " +
                                     (named ? "ORANGE_HOME=" + shell_word(paths.home.string()) + " " : "") +
                                     "orange service install"};
}

/// Returns the user's name if systemd ends the user's services at logout; nothing if it does not, or for root.
std::optional<std::string> user_without_linger() {
    if (::geteuid() == 0) return std::nullopt;
    const char* named = std::getenv("USER");
    const auto asked = named && *named ? std::nullopt : connection::output_of({"id", "-un"});
    const std::string user(asked ? trim(*asked) : named ? named : "");
    std::error_code error;
    if (user.empty() || fs::exists(fs::path("/var/lib/systemd/linger") / user, error)) return std::nullopt;
    return user;
}

std::string linger_text() {
    const auto user = user_without_linger();
    if (!user) return {};
    return "Without lingering, the service and the agents end when you log out everywhere. To keep them:\n  sudo "
           "loginctl enable-linger " +
           shell_word(*user) + "\n";
}

Result<void> asked_of_systemd(const std::vector<std::string>& words) {
    if (systemctl(words, false) == 0) return {};
    return {ErrorCode::unavailable,
            "systemd refused a command. Run it to see why:\n  systemctl --user " + join(words, " ")};
}

Result<void> install(const Paths& paths) {
    const auto before = text_of_file(connection::unit_file());
    if (before) TRY(check_unit(*before, "To replace it, move it away and install again:"));
    TRY(check_home(paths));
    if (systemctl({"show-environment"}, false) != 0) {
        return {ErrorCode::unavailable,
                "systemd does not answer here (systemctl --user show-environment). Orange works without a service: the "
                "daemon starts with the first command that needs it"};
    }
    TRY(const auto oranged, connection::find_oranged());
    const char* path = std::getenv("PATH");
    TRY(const auto unit, connection::unit_for(oranged, paths, path ? path : ""));
    TRY(replace_file(connection::unit_file(), unit));
    TRY(asked_of_systemd({"daemon-reload"}));
    TRY(asked_of_systemd({"enable", k_unit}));
    // A running daemon would prevent the service's start, because a home has one daemon.
    TRY(connection::end_daemon(paths));
    // "restart", because a daemon of the previous unit may run. Agents continue.
    if (systemctl({"restart", k_unit}, false) == 0) return {};
    return {ErrorCode::unavailable,
            "the service is installed, but could not start. Its output:\n  journalctl --user -u oranged"};
}

Result<bool> uninstall() {
    const auto unit = text_of_file(connection::unit_file());
    if (!unit) return false;
    TRY(check_unit(*unit, "To disable it, run: systemctl --user disable --now oranged. To move it away:"));
    std::error_code error;
    if (systemctl({"disable", "--now", k_unit}, false) != 0) fs::remove(connection::enabled_link(), error);
    TRY(remove_file(connection::unit_file()));
    (void)systemctl({"daemon-reload"}, false);
    return true;
}

}  // namespace

Status service_install(const Context& context) {
    TRY(install(context.paths));
    const auto file = connection::unit_file().string();
    if (context.json) return put_json({{"file", file}, {"linger", !user_without_linger()}});
    output::put("The daemon now runs as a service, " + file + ".\n" + linger_text());
    return 0;
}

Status service_uninstall(const Context& context) {
    const auto home = connection::home_of_service();
    TRY(const auto done, uninstall());
    if (context.json) return put_json({{"removed", done}});
    const auto whose = home && *home != context.paths.home ? " of " + home->string() : "";
    output::put(done ? "The service" + whose +
                           " is removed. Agents keep running; the next command that needs the daemon starts it.\n"
                     : "`orange service install` has installed no service.\n");
    return 0;
}

Status service_status(const Context& context) {
    const auto unit = text_of_file(connection::unit_file());
    const bool active = systemctl({"is-active", "--quiet", k_unit}, false) == 0;
    std::error_code error;
    const bool enabled = fs::is_symlink(connection::enabled_link(), error);
    const bool this_home = connection::is_service_of(context.paths);
    const auto file = connection::unit_file().string();
    if (context.json) {
        return put_json({{"file", unit ? Json(file) : Json(nullptr)},
                         {"own", unit && is_own_unit(*unit)},
                         {"enabled", enabled},
                         {"active", active},
                         {"this_home", this_home},
                         {"linger", !user_without_linger()}});
    }
    if (!unit && !enabled && !active) {
        output::put("The daemon does not run as a service. To let systemd run it:\n  orange service install\n");
        return 0;
    }
    output::put("service   " + std::string(active ? "running" : "not running") +
                (enabled ? ", starts by itself\n" : ", does not start by itself\n"));
    if (unit)
        output::put("unit      " + file +
                    (is_own_unit(*unit) ? connection::is_edited_unit(*unit) ? ", changed since Orange wrote it\n" : "\n"
                                        : ", not written by Orange\n"));
    if (const auto home = connection::home_of_service(); home && *home != context.paths.home)
        output::put("! Its daemon has the home " + home->string() + ", not " + context.paths.home.string() + ".\n");
    output::put(linger_text());
    return 0;
}

}  // namespace orange::commands
