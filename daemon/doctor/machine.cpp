#include <unistd.h>

#include <filesystem>

#include "common/base/forges.hpp"
#include "common/base/text.hpp"
#include "common/config/disk.hpp"
#include "common/config/install_command.hpp"
#include "common/config/versions.hpp"
#include "common/model/json.hpp"
#include "daemon/agents/versions.hpp"
#include "daemon/doctor/exam.hpp"
#include "daemon/process/environment.hpp"
#include "daemon/runner/queue/memory.hpp"

/// Checks of the machine: programs, environment, disk, service manager.
namespace orange::doctor {
namespace {

constexpr std::chrono::milliseconds k_version_deadline{5000};

struct Program {
    const char* name;
    std::vector<std::string> version_args;
    std::string_view oldest;
    bool needed;
};

Awaitable<void> check_program(Exam& exam, Program program, Environment env) {
    const auto file = find_program(program.name, path_in(env));
    const auto hint = install_command(program.name);
    if (file.empty()) {
        const auto text = std::string(program.name) + " was not found on PATH";
        if (program.needed) exam.report.wrong(text, hint);
        if (!program.needed) exam.report.warn(text + "; only pull requests need it", hint);
        co_return;
    }
    Command command;
    command.argv = program.version_args;
    command.argv.insert(command.argv.begin(), file);
    command.env = std::move(env);
    command.deadline = k_version_deadline;
    command.output_limit = std::size_t{16} << 10;
    const auto done = co_await exam.world.processes.run(std::move(command));
    const auto version = done && done->ok() ? std::string(version_word(done->out)) : std::string();
    if (version.empty()) {
        exam.report.wrong(file + " does not print its version" + (done ? std::string() : ": " + done.error().message),
                          hint);
    } else if (!program.oldest.empty() && is_older(version, program.oldest)) {
        exam.report.wrong(std::string(program.name) + " " + version + " (" + file + ") is too old: Orange needs " +
                              std::string(program.oldest),
                          hint);
    } else {
        exam.report.ok(std::string(program.name) + " " + version + ", " + file);
    }
}

std::string mebibytes(std::uint64_t bytes) {
    return std::to_string(bytes >> 20) + " MiB";
}

void check_folder(Exam& exam, const Path& folder) {
    constexpr std::uint64_t k_full = std::uint64_t{64} << 20;
    constexpr std::uint64_t k_nearly_full = std::uint64_t{1} << 30;
    const auto disk = exam.facts.machine.disk(folder);
    if (!disk) {
        exam.report.wrong(disk.error().message);
        return;
    }
    if (disk->read_only) exam.report.wrong("the file system is mounted read-only", {}, folder.string());
    const auto look = "df -h " + shell_word(folder.string());
    if (disk->free_bytes < k_full) {
        exam.report.wrong("the disk is full (" + mebibytes(disk->free_bytes) + " free)", look, folder.string());
    } else if (disk->free_bytes < k_nearly_full) {
        exam.report.warn("the disk is nearly full (" + mebibytes(disk->free_bytes) + " free)", look, folder.string());
    }
    if (disk->has_inodes && disk->free_files < 1000) {
        exam.report.wrong("the disk has room for only " + std::to_string(disk->free_files) + " more files",
                          "df -i " + shell_word(folder.string()), folder.string());
    }
    if (!disk->network.empty()) {
        exam.report.warn("the home is on a network disk (" + disk->network +
                             "), where locks and appends are not reliable; set ORANGE_HOME to a folder on a local disk",
                         {}, folder.string());
    }
}

/// Only the system's own programs know every user: a directory service may have them.
Awaitable<std::string> name_of_user(Exam& exam) {
    const auto& login = exam.world.base_environment;
    if (const auto named = login.find("USER"); named != login.end()) co_return named->second;
    auto number = std::to_string(exam.facts.machine.user);
    Command command;
    command.argv = {"id", "-un", number};
    command.deadline = k_version_deadline;
    const auto done = co_await exam.world.processes.run(std::move(command));
    if (done && done->ok()) number = trim(done->out);
    co_return number;
}

/// Returns the control group of a process as systemd names it; empty if it has none.
std::string control_group(Exam& exam, std::int64_t pid) {
    const auto text = exam.world.files.read("/proc/" + std::to_string(pid) + "/cgroup");
    return text ? std::string(trim(*text)) : std::string();
}

/// Reports the result of the last `orange harness test` of a program, which the client has written.
void tell_of_test(Exam& exam, const agents::HarnessEntry& entry, const Json& file) {
    const auto& name = entry.harness.name;
    const auto tests = file.is_object() ? file.value("harnesses", Json()) : Json();
    const auto test = tests.is_object() ? tests.value(name, Json()) : Json();
    if (!test.is_object()) return;
    const auto text_in = [](const Json& object, const char* member) { return printable(text_member(object, member)); };
    const auto again = "orange harness test " + shell_word(name);
    const auto version = text_in(test, "version");
    const auto of_version = name + (version.empty() ? "" : " " + version);
    if (text_in(test, "identity") != printable(agents::identity_of(entry.program))) {
        exam.report.ok("harness " + name + " was last tested as " + of_version + "; its program has changed since");
        return;
    }
    std::vector<std::string> missed;
    const auto found = test.find("missed");
    for (const auto& each : found != test.end() && found->is_array() ? *found : Json::array()) {
        missed.push_back(text_in(each, "key") + " \"" + text_in(each, "text") + "\"");
    }
    if (missed.empty()) {
        exam.report.ok("harness " + of_version + ": Orange sees each error that its definition names");
    } else {
        exam.report.warn("harness " + of_version + ": Orange would miss these errors in its window: " +
                             join(missed, ", ") + ". Correct its definition, and test it:",
                         again, entry.path.string());
    }
}

/// Reports the programs of agents. One agent is enough, so that none is there is reported once.
Awaitable<void> look_for_agents(Exam& exam) {
    bool any = false;
    const auto entries = exam.world.harnesses.list();
    auto everyone = entries;
    auto env = exam.world.base_environment;
    const auto kept = exam.world.files.read(exam.world.paths.home / "harness-tests.json");
    const auto tests = kept ? Json::parse(*kept, nullptr, false) : Json();
    const auto versions = co_await exam.runner.versions.of(std::move(everyone), std::move(env));
    for (const auto& entry : entries) {
        if (!entry.problem.empty()) continue;
        if (entry.program.empty()) continue;
        const auto version = versions.find(entry.harness.name);
        const auto told =
            version == versions.end() ? "" : agents::version_text(version->second, entry.harness.measured);
        exam.report.ok("harness " + entry.harness.name + (told.empty() ? "" : " " + told) + ", " + entry.program +
                       (entry.found_in.empty() ? "" : ", in the PATH of " + entry.found_in) +
                       (entry.harness.tried ? "" : ", not tried"));
        any = any || entry.harness.name != "demo";
        tell_of_test(exam, entry, tests);
        auto with = entry;
        auto variables = exam.world.base_environment;
        variables["PATH"] = joined_path(entry.path_variable, variables["PATH"]);
        const auto unmet = co_await agents::unmet_needs(exam.world.processes, std::move(with), std::move(variables));
        for (const auto& need : unmet) exam.report.warn(need);
    }
    if (any) co_return;
    exam.report.warn(
        "no agent program was found on the PATHs of your shells. If one starts in your terminal, run `orange daemon "
        "reload` there. One is enough; to see how to install one:",
        "orange harness list");
}

}  // namespace

Awaitable<void> check_programs(Exam& exam) {
    const auto own = scrubbed_environment();
    const auto login = exam.world.base_environment;
    Program tmux{"tmux", {"-V"}, k_oldest_tmux, true};
    Program git{"git", {"--version"}, k_oldest_git, true};
    co_await check_program(exam, std::move(tmux), own);
    co_await check_program(exam, std::move(git), own);
    for (const auto* forge : k_forges) {
        Program program{forge->program, {"--version"}, {}, false};
        co_await check_program(exam, std::move(program), login);
    }
    co_await look_for_agents(exam);
    const auto shim = exam.world.installation.bin / "orange-agent";
    if (::access(shim.c_str(), X_OK) != 0) {
        exam.report.wrong("orange-agent is missing, so no agent can start; install Orange again", {}, shim.string());
    }
}

Awaitable<void> check_login(Exam& exam) {
    if (!exam.facts.login.problem.empty()) {
        exam.report.warn("the login shell's environment could not be read, so agents get " + exam.facts.login.source +
                             ": " + exam.facts.login.problem,
                         "orange daemon reload");
    }
    for (const auto& problem : exam.facts.problems) exam.report.warn(problem);
    co_return;
}

Awaitable<void> check_disk(Exam& exam) {
    check_folder(exam, exam.world.paths.home);
    co_return;
}

/// Checks only machines with systemd: elsewhere nothing ends the processes that a session has left.
Awaitable<void> check_service(Exam& exam) {
    const auto& machine = exam.facts.machine;
    if (!exam.world.files.facts_of(machine.systemd)) co_return;
    const auto user = co_await name_of_user(exam);
    const bool lingers = machine.user == 0 || exam.world.files.facts_of(machine.lingering / user);
    if (!lingers) {
        exam.report.warn("agents end when " + user + " logs out everywhere",
                         "sudo loginctl enable-linger " + shell_word(user));
    }
    const auto state = co_await exam.world.tmux.list();
    if (!state || state->server_pid == 0) co_return;
    const auto of_tmux = control_group(exam, state->server_pid);
    if (!of_tmux.empty() && of_tmux == control_group(exam, ::getpid()) && of_tmux.ends_with(".service")) {
        exam.report.warn(
            "the tmux server is in the daemon's own unit. Agents outlive a restart only if the unit's KillMode is "
            "process");
    }
}

/// A machine without control groups is fine, unless memory is to be limited.
Awaitable<void> check_memory(Exam& exam) {
    const auto groups = co_await exam.world.launcher.has_groups();
    bool is_wanted = false, are_processes_limited = false;
    for (const auto& project : exam.projects()) {
        const auto settings = settings_of(exam.world, project);
        is_wanted = is_wanted || bytes_in(*settings.memory_limit).value_or(0) > 0;
        are_processes_limited = are_processes_limited || *settings.processes_limit > 0;
    }
    if (!groups) {
        const auto text = groups.error().message + ", so an agent that uses up the memory can take the others with it";
        const bool is_usual = groups.error().code == ErrorCode::not_found;
        if (is_usual && !is_wanted) exam.report.ok(text);
        if (!is_usual && !is_wanted) exam.report.warn(text);
        if (is_wanted) {
            exam.report.warn(text + ". limits.memory" + k_not_enforced +
                             ": it holds for each process of an agent by itself");
        }
        if (are_processes_limited) {
            exam.report.warn(groups.error().message + ", so limits.processes holds only for agents in executors such " +
                             "as bwrap, and there not for those of root");
        }
    }
    for (const auto& record : exam.tasks()) {
        for (const auto& run : record.runs) {
            const auto names = unenforced_limits(exam.world, run, exam.runner.agents.run_folder(record));
            if (!groups || names.empty()) continue;
            exam.report.warn("the " + name_text(run.role) + " of task " + record.task.id.value +
                                 " has no control group with that limit: " + join(names, ", ") + k_not_enforced,
                             "orange task show " + record.task.id.value);
        }
    }
}

}  // namespace orange::doctor
