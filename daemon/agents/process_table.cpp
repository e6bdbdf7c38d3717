#include <algorithm>
#include <cctype>
#include <filesystem>

#include "daemon/agents/identity.hpp"
#include "daemon/process/proc_info.hpp"
#include "daemon/shim/keeper.hpp"
#include "daemon/shim/spec.hpp"

namespace orange::agents {
namespace {

/// Uses the path of the executable, because any process may choose its short name.
bool is_orange_agent(std::int64_t pid) {
    auto program = std::filesystem::path(process::exe_of(pid).value_or("")).filename().string();
    constexpr std::string_view k_deleted = " (deleted)";  // the kernel marks a replaced binary
    if (program.ends_with(k_deleted)) program.resize(program.size() - k_deleted.size());
    return program == "orange-agent";
}

bool is_keeper(const std::vector<std::string>& argv, const std::string& home) {
    return argv.size() > 2 && argv[1] == k_keep_option && argv[2] == home;
}

/// A shim has a spec file below this home among its arguments.
bool is_shim(const std::vector<std::string>& argv, const std::string& home) {
    return std::any_of(argv.begin(), argv.end(), [&](const std::string& word) { return word.starts_with(home + "/"); });
}

}  // namespace

std::optional<ProcessEntry> ProcProcessTable::entry(std::int64_t pid) {
    const auto found = process::relatives_of(pid);
    if (!found) return std::nullopt;
    ProcessEntry entry{found->parent, found->session, found->start_time, found->tty};
    if (!is_orange_agent(pid)) return entry;
    const auto argv = process::argv_of(pid);
    entry.keeper = is_keeper(argv, home_);
    const bool is_one = !entry.keeper && is_shim(argv, home_);
    entry.inner = is_one && argv[1] == k_inner_option;
    entry.shim = is_one && !entry.inner;
    return entry;
}

Claim ProcProcessTable::claim(std::int64_t pid) {
    const auto task = process::environ_of(pid, "ORANGE_TASK").value_or("");
    if (task.empty() || process::environ_of(pid, "ORANGE_HOME").value_or(home_) != home_) return {};
    return {task, process::environ_of(pid, "ORANGE_ROLE").value_or(""),
            process::environ_of(pid, "ORANGE_RUN").value_or("")};
}

std::string ProcProcessTable::ssh_client(std::int64_t pid) {
    const auto connection = process::environ_of(pid, "SSH_CONNECTION").value_or("");
    auto address = connection.substr(0, connection.find(' '));
    constexpr std::size_t k_longest = 64;
    const bool is_address = address.size() <= k_longest && std::ranges::all_of(address, [](unsigned char c) {
                                return std::isalnum(c) != 0 || c == '.' || c == ':' || c == '%';
                            });
    return is_address ? address : std::string();
}

std::string ProcProcessTable::ssh_agent(std::int64_t pid) {
    return process::environ_of(pid, "SSH_AUTH_SOCK").value_or("");
}

/// A word that names no file is no script: it is an option's value or a command of the interpreter.
Program ProcProcessTable::program(std::int64_t pid) {
    auto program =
        program_of(process::exe_of(pid).value_or(""), process::argv_of(pid), process::cwd_of(pid).value_or(""));
    std::error_code error;
    if (!program.script.empty() && !std::filesystem::is_regular_file(program.script, error)) program.script.clear();
    return program;
}

std::string ProcProcessTable::working_directory(std::int64_t pid) {
    return process::cwd_of(pid).value_or("");
}

}  // namespace orange::agents
