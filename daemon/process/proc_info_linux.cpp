#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <memory>

#include "common/base/text.hpp"
#include "common/posix/fd.hpp"
#include "daemon/process/proc_info.hpp"

namespace orange::process {
namespace {

std::string file_of(std::int64_t pid, const char* name) {
    return "/proc/" + std::to_string(pid) + "/" + name;
}

/// `error` is the errno of a failure.
std::optional<std::string> read_file(const std::string& path, int& error) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::string content;
    char buffer[4096];
    while (fd) {
        const auto size = ::read(fd.get(), buffer, sizeof buffer);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) break;
        if (size == 0) return content;
        content.append(buffer, static_cast<std::size_t>(size));
    }
    error = errno;
    return std::nullopt;
}

std::optional<std::string> read_file(const std::string& path) {
    int ignored = 0;
    return read_file(path, ignored);
}

std::optional<std::string> read_link(const std::string& path) {
    char target[4096];
    const auto size = ::readlink(path.c_str(), target, sizeof target);
    if (size < 0) return std::nullopt;
    return std::string(target, static_cast<std::size_t>(size));
}

/// Returns the fields of /proc/<pid>/stat from the third on (index 0 is the state). The second field, the name, may
/// hold blanks and parentheses, so counting starts at the last ')'.
std::vector<std::string> fields_of(const std::string& stat) {
    std::vector<std::string> fields;
    const auto end = stat.rfind(')');
    if (end == std::string::npos || end + 2 > stat.size()) return fields;
    for (const auto field : split(trim(std::string_view(stat).substr(end + 1)), ' ')) fields.emplace_back(field);
    return fields;
}

/// Returns the entries of a folder that are numbers.
std::vector<std::int64_t> numbers_in(const std::string& path) {
    std::vector<std::int64_t> numbers;
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), &::closedir);
    if (!folder) return numbers;
    while (const auto* entry = ::readdir(folder.get())) {
        if (const auto found = whole_number(entry->d_name)) numbers.push_back(*found);
    }
    return numbers;
}

std::vector<std::string> stat_fields(std::int64_t pid) {
    const auto content = pid > 0 ? read_file(file_of(pid, "stat")) : std::nullopt;
    return content ? fields_of(*content) : std::vector<std::string>{};
}

std::optional<std::int64_t> stat_number(std::int64_t pid, std::size_t index) {
    const auto fields = stat_fields(pid);
    if (fields.size() <= index) return std::nullopt;
    return whole_number(fields[index]);
}

}  // namespace

std::optional<Relatives> relatives_of(std::int64_t pid) {
    const auto fields = stat_fields(pid);
    if (fields.size() < 20 || fields[0] == "Z" || fields[0] == "X") return std::nullopt;
    const auto parent = whole_number(fields[1]), session = whole_number(fields[3]), tty = whole_number(fields[4]),
               started = whole_number(fields[19]);
    if (!parent || !session || !tty || !started) return std::nullopt;
    return Relatives{*parent, *session, *started, *tty};
}

std::optional<std::int64_t> parent_of(std::int64_t pid) {
    return stat_number(pid, 1);
}

std::optional<std::int64_t> group_of(std::int64_t pid) {
    return stat_number(pid, 2);
}

std::optional<std::int64_t> session_of(std::int64_t pid) {
    return stat_number(pid, 3);
}

std::optional<std::int64_t> tty_of(std::int64_t pid) {
    const auto device = stat_number(pid, 4);
    return device == 0 ? std::nullopt : device;
}

bool is_in_foreground(std::int64_t pid) {
    const auto fields = stat_fields(pid);
    constexpr std::size_t k_group = 2, k_group_of_terminal = 5;  // -1 without a terminal
    return fields.size() > k_group_of_terminal && fields[k_group] == fields[k_group_of_terminal];
}

/// The kernel packs the device number differently from `makedev`: minor bits 0–7, major, the rest of the minor.
std::optional<std::string> terminal_of(std::int64_t pid) {
    const auto device = tty_of(pid);
    if (!device) return std::nullopt;
    const auto number = static_cast<std::uint32_t>(*device);
    const auto major = number >> 8 & 0xfff, minor = (number & 0xff) | (number >> 12 & 0xfff00);
    const auto path = "/dev/pts/" + std::to_string(minor);
    struct stat seen {};
    if (::stat(path.c_str(), &seen) != 0 || seen.st_rdev != makedev(major, minor)) return std::nullopt;
    return path;
}

Result<std::int64_t> look_up_start_time(std::int64_t pid) {
    const auto who = "process " + std::to_string(pid);
    const Error gone(ErrorCode::not_found, "there is no " + who);
    if (pid <= 0) return gone;
    int error = 0;
    const auto content = read_file(file_of(pid, "stat"), error);
    if (!content && (error == ENOENT || error == ESRCH)) return gone;
    if (!content) return io_error("looking at " + who, error);
    const auto fields = fields_of(*content);
    if (!fields.empty() && (fields[0] == "Z" || fields[0] == "X")) return gone;
    const auto started = fields.size() < 20 ? std::nullopt : whole_number(fields[19]);
    if (!started) return Error(ErrorCode::io, "looking at " + who + ": its stat file makes no sense");
    return *started;
}

std::int64_t start_ticks_per_second() {
    return ::sysconf(_SC_CLK_TCK);
}

std::optional<std::string> name_of(std::int64_t pid) {
    const auto content = read_file(file_of(pid, "comm"));
    if (!content) return std::nullopt;
    return content->substr(0, content->find('\n'));
}

std::optional<std::string> exe_of(std::int64_t pid) {
    return read_link(file_of(pid, "exe"));
}

std::optional<std::string> cwd_of(std::int64_t pid) {
    return read_link(file_of(pid, "cwd"));
}

std::optional<std::string> environ_of(std::int64_t pid, const std::string& name) {
    const auto content = read_file(file_of(pid, "environ"));
    if (!content) return std::nullopt;
    const auto wanted = name + "=";
    for (const auto entry : split(*content, '\0')) {
        if (entry.starts_with(wanted)) return std::string(entry.substr(wanted.size()));
    }
    return std::nullopt;
}

std::vector<std::string> argv_of(std::int64_t pid) {
    std::vector<std::string> argv;
    auto content = read_file(file_of(pid, "cmdline"));
    if (!content || content->empty()) return argv;
    if (content->back() == '\0') content->pop_back();
    for (const auto word : split(*content, '\0')) argv.emplace_back(word);
    return argv;
}

std::optional<std::int64_t> resident_kib_of(std::int64_t pid) {
    const auto content = read_file(file_of(pid, "statm"));
    if (!content) return std::nullopt;
    const auto fields = split(*content, ' ');
    const auto pages = fields.size() > 1 ? whole_number(fields[1]) : std::nullopt;
    if (!pages) return std::nullopt;
    return *pages * ::sysconf(_SC_PAGESIZE) / 1024;
}

std::optional<std::int64_t> cpu_ms_of(std::int64_t pid) {
    const auto fields = stat_fields(pid);
    constexpr std::size_t k_first = 11, k_count = 4;  // utime, stime, cutime, cstime
    if (fields.size() < k_first + k_count) return std::nullopt;
    std::int64_t ticks = 0;
    for (std::size_t i = k_first; i < k_first + k_count; ++i) ticks += whole_number(fields[i]).value_or(0);
    return ticks * 1000 / ::sysconf(_SC_CLK_TCK);
}

std::optional<std::int64_t> threads_of(std::int64_t pid) {
    constexpr std::size_t k_threads = 17;
    return stat_number(pid, k_threads);
}

std::optional<std::int64_t> processes_limit_of(std::int64_t pid) {
    const auto path = file_of(pid, "limits");
    struct stat seen {};
    const auto content = ::stat(path.c_str(), &seen) == 0 && seen.st_uid != 0 ? read_file(path) : std::nullopt;
    constexpr std::string_view k_name = "Max processes ";
    for (const auto line : content ? split_lines(*content) : std::vector<std::string_view>()) {
        const auto limits = line.starts_with(k_name) ? trim(line.substr(k_name.size())) : std::string_view();
        if (!limits.empty()) return whole_number(limits.substr(0, limits.find(' ')));
    }
    return std::nullopt;
}

std::optional<std::string> user_namespace_of(std::int64_t pid) {
    return read_link(file_of(pid, "ns/user"));
}

std::optional<std::vector<std::int64_t>> children_of(std::int64_t pid) {
    // Needs CONFIG_PROC_CHILDREN, which nearly all kernels have.
    static const bool tells = ::access("/proc/thread-self/children", R_OK) == 0;
    if (!tells) return std::nullopt;
    std::vector<std::int64_t> children;
    const auto threads = file_of(pid, "task");
    for (const auto thread : numbers_in(threads)) {  // each thread has its own children
        const auto content = read_file(threads + "/" + std::to_string(thread) + "/children");
        if (!content) continue;
        for (const auto word : split(*content, ' ')) {
            if (const auto child = whole_number(word)) children.push_back(*child);
        }
    }
    return children;
}

std::vector<std::int64_t> all_pids() {
    return numbers_in("/proc");
}

}  // namespace orange::process
