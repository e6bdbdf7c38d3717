// Compiled by scripts/check-macos, but never run.
#include <libproc.h>
#include <sys/proc.h>
#include <sys/proc_info.h>
#include <sys/stat.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "common/base/text.hpp"
#include "daemon/process/proc_info.hpp"

namespace orange::process {
namespace {

std::optional<proc_bsdinfo> info_of(std::int64_t pid) {
    proc_bsdinfo info{};
    const int size = ::proc_pidinfo(static_cast<int>(pid), PROC_PIDTBSDINFO, 0, &info, sizeof info);
    if (pid <= 0 || size != static_cast<int>(sizeof info)) return std::nullopt;
    return info;
}

/// The arguments and the environment of a process, and the number of the arguments. Empty for other users' processes.
struct Arguments {
    int count = 0;
    std::vector<std::string> words;
};

Arguments arguments_of(std::int64_t pid) {
    Arguments found;
    int name[] = {CTL_KERN, KERN_PROCARGS2, static_cast<int>(pid)};
    std::size_t size = 0;
    if (::sysctl(name, 3, nullptr, &size, nullptr, 0) != 0 || size <= sizeof found.count) return found;
    std::string bytes(size, '\0');
    if (::sysctl(name, 3, bytes.data(), &size, nullptr, 0) != 0 || size <= sizeof found.count) return found;
    bytes.resize(size);
    std::memcpy(&found.count, bytes.data(), sizeof found.count);
    // The executable's path comes next, then NULs for alignment, then the words.
    const auto path_end = bytes.find('\0', sizeof found.count);
    const auto begin = bytes.find_first_not_of('\0', path_end);
    if (path_end == std::string::npos || begin == std::string::npos) return found;
    for (const auto word : split(std::string_view(bytes).substr(begin), '\0')) found.words.emplace_back(word);
    return found;
}

}  // namespace

std::optional<Relatives> relatives_of(std::int64_t pid) {
    const auto started = start_time(pid);
    const auto parent = parent_of(pid);
    if (!started || !parent) return std::nullopt;
    return Relatives{*parent, session_of(pid).value_or(0), *started, tty_of(pid).value_or(0)};
}

std::optional<std::int64_t> parent_of(std::int64_t pid) {
    const auto info = info_of(pid);
    if (!info) return std::nullopt;
    return info->pbi_ppid;
}

std::optional<std::int64_t> group_of(std::int64_t pid) {
    const auto info = info_of(pid);
    if (!info) return std::nullopt;
    return info->pbi_pgid;
}

std::optional<std::int64_t> session_of(std::int64_t pid) {
    const auto session = pid > 0 ? ::getsid(static_cast<pid_t>(pid)) : -1;
    if (session < 0) return std::nullopt;
    return session;
}

std::optional<std::int64_t> tty_of(std::int64_t pid) {
    const auto info = info_of(pid);
    constexpr std::uint32_t k_none = ~std::uint32_t{0};
    if (!info || info->e_tdev == k_none || info->e_tdev == 0) return std::nullopt;
    return info->e_tdev;
}

bool is_in_foreground(std::int64_t pid) {
    const auto info = info_of(pid);
    return info && tty_of(pid) && info->e_tpgid == info->pbi_pgid;
}

std::optional<std::string> terminal_of(std::int64_t pid) {
    const auto device = tty_of(pid);
    char name[128];
    if (!device || !::devname_r(static_cast<dev_t>(*device), S_IFCHR, name, sizeof name)) return std::nullopt;
    return "/dev/" + std::string(name);
}

/// Returns microseconds since 1970, because macOS has no clock ticks. Start times are only compared with each other.
Result<std::int64_t> look_up_start_time(std::int64_t pid) {
    const auto who = "process " + std::to_string(pid);
    const Error gone(ErrorCode::not_found, "there is no " + who);
    if (pid <= 0) return gone;
    errno = 0;
    const auto info = info_of(pid);
    if (!info && (errno == 0 || errno == ESRCH)) return gone;
    if (!info) return io_error("looking at " + who, errno);
    if (info->pbi_status == SZOMB) return gone;
    return static_cast<std::int64_t>(info->pbi_start_tvsec) * 1'000'000 +
           static_cast<std::int64_t>(info->pbi_start_tvusec);
}

std::int64_t start_ticks_per_second() {
    return 1'000'000;
}

std::optional<std::string> name_of(std::int64_t pid) {
    const auto info = info_of(pid);
    if (!info) return std::nullopt;
    return std::string(info->pbi_comm, ::strnlen(info->pbi_comm, sizeof info->pbi_comm));
}

std::optional<std::string> exe_of(std::int64_t pid) {
    char path[PROC_PIDPATHINFO_MAXSIZE];
    const int size = ::proc_pidpath(static_cast<int>(pid), path, sizeof path);
    if (size <= 0) return std::nullopt;
    return std::string(path, static_cast<std::size_t>(size));
}

std::optional<std::string> cwd_of(std::int64_t pid) {
    proc_vnodepathinfo info{};
    const int size = ::proc_pidinfo(static_cast<int>(pid), PROC_PIDVNODEPATHINFO, 0, &info, sizeof info);
    if (size != static_cast<int>(sizeof info)) return std::nullopt;
    return std::string(info.pvi_cdir.vip_path, ::strnlen(info.pvi_cdir.vip_path, sizeof info.pvi_cdir.vip_path));
}

std::optional<std::string> environ_of(std::int64_t pid, const std::string& name) {
    const auto arguments = arguments_of(pid);
    const auto wanted = name + "=";
    for (auto i = static_cast<std::size_t>(arguments.count); i < arguments.words.size(); ++i) {
        if (arguments.words[i].starts_with(wanted)) return arguments.words[i].substr(wanted.size());
    }
    return std::nullopt;
}

std::vector<std::string> argv_of(std::int64_t pid) {
    auto arguments = arguments_of(pid);
    const auto count = static_cast<std::size_t>(arguments.count);
    if (arguments.words.size() > count) arguments.words.resize(count);
    return arguments.words;
}

std::optional<std::int64_t> resident_kib_of(std::int64_t pid) {
    proc_taskinfo info{};
    const int size = ::proc_pidinfo(static_cast<int>(pid), PROC_PIDTASKINFO, 0, &info, sizeof info);
    if (size != static_cast<int>(sizeof info)) return std::nullopt;
    return static_cast<std::int64_t>(info.pti_resident_size / 1024);
}

/// macOS does not report the time of ended children.
std::optional<std::int64_t> cpu_ms_of(std::int64_t pid) {
    proc_taskinfo info{};
    const int size = ::proc_pidinfo(static_cast<int>(pid), PROC_PIDTASKINFO, 0, &info, sizeof info);
    if (size != static_cast<int>(sizeof info)) return std::nullopt;
    return static_cast<std::int64_t>((info.pti_total_user + info.pti_total_system) / 1'000'000);
}

std::optional<std::int64_t> threads_of(std::int64_t) {
    return std::nullopt;
}

std::optional<std::int64_t> processes_limit_of(std::int64_t) {
    return std::nullopt;
}

std::optional<std::string> user_namespace_of(std::int64_t) {
    return std::nullopt;
}

std::optional<std::vector<std::int64_t>> children_of(std::int64_t) {
    return std::nullopt;
}

std::vector<std::int64_t> all_pids() {
    // Room for processes that start between the two calls.
    std::vector<pid_t> found(static_cast<std::size_t>(std::max(0, ::proc_listallpids(nullptr, 0))) + 64);
    const int count = ::proc_listallpids(found.data(), static_cast<int>(found.size() * sizeof(pid_t)));
    if (count <= 0) return {};
    found.resize(std::min(found.size(), static_cast<std::size_t>(count)));
    return {found.begin(), found.end()};
}

}  // namespace orange::process
