#include <algorithm>
#include <filesystem>

#include "daemon/agents/identity.hpp"
#include "daemon/process/proc_info.hpp"

namespace orange::agents {
namespace {

/// The path of its executable, not the short name, which any process may choose; and a spec file below this home.
bool is_shim(std::int64_t pid, const std::string& home) {
    auto program = std::filesystem::path(proc::exe_of(pid).value_or("")).filename().string();
    constexpr std::string_view k_deleted = " (deleted)";  // the kernel marks a replaced binary
    if (program.ends_with(k_deleted)) program.resize(program.size() - k_deleted.size());
    if (program != "orange-agent") return false;
    const auto argv = proc::argv_of(pid);
    return std::any_of(argv.begin(), argv.end(), [&](const std::string& word) { return word.starts_with(home + "/"); });
}

}  // namespace

std::optional<ProcessEntry> ProcProcessTable::entry(std::int64_t pid) {
    const auto started = proc::start_time(pid);
    const auto parent = proc::parent_of(pid);
    if (!started || !parent) return std::nullopt;
    return ProcessEntry{*parent, proc::session_of(pid).value_or(0), *started, proc::tty_of(pid).value_or(0),
                        is_shim(pid, home_)};
}

Claim ProcProcessTable::claim(std::int64_t pid) {
    const auto task = proc::environ_of(pid, "ORANGE_TASK").value_or("");
    if (task.empty() || proc::environ_of(pid, "ORANGE_HOME").value_or(home_) != home_) return {};
    return {task, proc::environ_of(pid, "ORANGE_ROLE").value_or(""), proc::environ_of(pid, "ORANGE_RUN").value_or("")};
}

std::string ProcProcessTable::working_directory(std::int64_t pid) {
    return proc::cwd_of(pid).value_or("");
}

}  // namespace orange::agents
