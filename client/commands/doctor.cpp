#include <sys/stat.h>

#include <filesystem>

#include "client/commands/daemon.hpp"
#include "client/commands/skill.hpp"
#include "client/connection/autostart.hpp"
#include "client/connection/child.hpp"
#include "client/connection/needed_programs.hpp"
#include "client/connection/start_daemon.hpp"
#include "client/output/doctor.hpp"
#include "common/base/forges.hpp"
#include "common/base/system.hpp"
#include "common/base/text.hpp"
#include "common/config/disk.hpp"
#include "common/config/home_check.hpp"
#include "common/config/versions.hpp"

/// Prints the daemon's findings; without a daemon, what the client can see, which tells why the daemon does not start.
namespace orange::commands {
namespace {

using Findings = std::vector<rpc::Finding>;

void add(Findings& findings, const char* check, const char* level, std::string text, std::string command = {},
         std::string file = {}) {
    rpc::Finding finding;
    finding.check = check;
    finding.level = level;
    finding.text = std::move(text);
    if (!command.empty()) finding.command = std::move(command);
    if (!file.empty()) finding.file = std::move(file);
    findings.push_back(std::move(finding));
}

/// Returns the command in "…\n  chmod 700 /x"; empty if the message has none.
std::string command_in(const std::string& message) {
    const auto at = message.rfind("\n  ");
    return at == std::string::npos ? std::string() : message.substr(at + 3);
}

std::string text_in(const std::string& message) {
    return message.substr(0, message.rfind("\n  "));
}

/// Reports a clone that an earlier daemon used as its home.
void look_at_repository(Findings& findings, const std::string& home) {
    if (!is_repository(home)) return;
    add(findings, "home", "warning",
        "this folder is also a git repository, so git clean would delete Orange's files. Move the repository to "
        "another folder",
        "mkdir FOLDER && mv " + shell_word(home + "/.git") + " FOLDER && git -C FOLDER restore :/", home);
}

void look_at_home(Findings& findings, const Paths& paths) {
    struct stat info {};
    if (::lstat(paths.home.c_str(), &info) != 0 && errno == ENOENT) {
        add(findings, "home", "ok", paths.home.string() + " does not exist yet; the daemon creates it");
        return;
    }
    const auto safe = check_home(paths.home);
    if (!safe) {
        add(findings, "home", "error", text_in(safe.error().message), command_in(safe.error().message),
            paths.home.string());
        return;
    }
    const bool closed = check_private_folder(paths.home).has_value();
    add(findings, "home", "ok", paths.home.string() + (closed ? " is private" : " will be made private by the daemon"));
    look_at_repository(findings, paths.home.string());
    const auto disk = disk_of(paths.home);
    if (disk && disk->read_only)
        add(findings, "disk", "error", "the disk is mounted read-only", {}, paths.home.string());
    if (disk && !disk->read_only && disk->free_bytes < (std::uint64_t{64} << 20)) {
        add(findings, "disk", "error", "the disk is full", "df -h " + shell_word(paths.home.string()),
            paths.home.string());
    }
    if (disk && !disk->network.empty()) {
        add(findings, "disk", "warning",
            "the home is on a network disk (" + disk->network + "), where locks are not reliable", {},
            paths.home.string());
    }
}

/// Reports problems of config.yml, as the program oranged reports them: the client cannot parse YAML.
void look_at_config(Findings& findings, const Paths& paths) {
    const auto file = paths.config().string();
    struct stat info {};
    if (::lstat(file.c_str(), &info) != 0 && errno == ENOENT) return;
    const auto oranged = connection::find_oranged();
    const auto said = oranged ? connection::output_of({oranged->string(), "--check"}) : std::nullopt;
    auto problem = std::string(trim(said.value_or("")));
    if (problem.empty()) {
        add(findings, "config", "warning",
            "config.yml could not be checked, because oranged is missing or does not answer", {}, file);
        return;
    }
    if (problem == "config.yml is valid") {
        add(findings, "config", "ok", problem);
        return;
    }
    auto place = file;
    if (problem.starts_with(file + ":")) {
        const auto line = problem.find_first_not_of("0123456789", file.size() + 1);
        place = problem.substr(0, line);
        problem = problem.substr(problem.find(": ", file.size()) + 2);
    }
    add(findings, "config", "error", "the daemon cannot use this config.yml: " + problem, "orange daemon reload",
        place);
}

void look_at_program(Findings& findings, const std::vector<std::string>& argv, std::string_view oldest, bool needed) {
    const auto version = connection::version_of(argv, oldest);
    if (version) {
        add(findings, "programs", "ok", argv.front() + " " + *version);
    } else if (!needed) {
        add(findings, "programs", "ok", argv.front() + " is not installed; only pull requests need it");
    } else {
        add(findings, "programs", "error", text_in(version.error().message), command_in(version.error().message));
    }
}

bool has_tasks(const Paths& paths) {
    std::error_code error;
    return std::filesystem::exists(paths.tasks(), error);
}

void look_at_daemon(Findings& findings, const Paths& paths, const Error& no_daemon) {
    if (no_daemon.code == ErrorCode::unavailable && !has_tasks(paths)) {
        add(findings, "daemon", "ok", "not running; it starts with the first command that needs it");
    } else if (no_daemon.code == ErrorCode::unavailable) {
        add(findings, "daemon", "warning", "the daemon is not running, so no task makes progress",
            "orange daemon start");
    } else if (no_daemon.code == ErrorCode::timeout) {
        add(findings, "daemon", "error",
            "doctor ran only the checks that need no daemon: " + text_in(no_daemon.message),
            command_in(no_daemon.message));
    } else {
        add(findings, "daemon", "error", text_in(no_daemon.message), command_in(no_daemon.message));
    }
}

/// Reports agents' programs, and once if there is none. `oranged --agents` reads the harness files and prints a line
/// for each: name, program (empty if not found), command that installs it (empty if untested).
void look_at_agents(Findings& findings) {
    const auto oranged = connection::find_oranged();
    const auto listed = oranged ? connection::output_of({oranged->string(), "--agents"}).value_or("") : std::string();
    bool any = false;
    for (const auto line : split_lines(listed)) {
        const auto cells = split(line, '\t');
        if (cells.size() < 3) continue;
        const std::string name(cells[0]);
        if (cells[1].empty()) continue;
        any = true;
        add(findings, "agents", "ok", name + ", " + std::string(cells[1]));
    }
    if (!any && !listed.empty()) {
        add(findings, "agents", "warning",
            "no agent program was found on your PATH. One is enough; to see how to install one:",
            "orange harness list");
    }
}

Findings look_from_here(const Paths& paths, const Error& no_daemon) {
    Findings findings;
    look_at_home(findings, paths);
    look_at_daemon(findings, paths, no_daemon);
    look_at_config(findings, paths);
    look_at_program(findings, {"tmux", "-V"}, k_oldest_tmux, true);
    look_at_program(findings, {"git", "--version"}, k_oldest_git, true);
    for (const auto* forge : k_forges) look_at_program(findings, {forge->program, "--version"}, {}, false);
    look_at_agents(findings);
    return findings;
}

}  // namespace

Status doctor(Context& context, rpc::DaemonDoctor params) {
    Findings findings;
    auto daemon = connection::connect(context.paths);
    auto reply = daemon ? daemon->call(params) : Result<rpc::DaemonDoctor::Reply>(daemon.error());
    if (reply) {
        add(findings, "home", "ok", context.paths.home.string() + " is private");
        look_at_repository(findings, context.paths.home.string());
        findings.insert(findings.end(), reply->findings.begin(), reply->findings.end());
    } else if (!daemon || reply.error().code == ErrorCode::timeout) {
        findings = look_from_here(context.paths, reply.error());
    } else {
        return reply.error();
    }
    for (auto& finding : skill_findings()) findings.push_back(std::move(finding));
    if (context.json) {
        rpc::DaemonDoctor::Reply all;
        all.findings = findings;
        put_json(written(all));
    } else {
        output::put(output::doctor_page(findings, context.style));
        if (!daemon && daemon.error().code == ErrorCode::unavailable && !has_tasks(context.paths))
            output::put("The daemon is not running; it starts with the first command that needs it.\n");
    }
    return output::errors_in(findings) == 0 ? 0 : 1;
}

}  // namespace orange::commands
