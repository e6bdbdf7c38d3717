#include "daemon/process/group.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>

#include "common/base/text.hpp"
#include "common/posix/fd.hpp"

namespace orange::process {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_groups = "/sys/fs/cgroup";

std::optional<std::string> text_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(in), {});
}

/// Returns the number in a text; 0 if there is none, as in "max".
std::int64_t number_in(std::string_view text) {
    std::int64_t number = 0;
    const auto word = trim(text);
    (void)std::from_chars(word.data(), word.data() + word.size(), number);
    return number;
}

std::int64_t number_of(const fs::path& file) {
    const auto text = text_of(file);
    return text ? number_in(*text) : 0;
}

/// Returns the number behind `key` in a line such as "oom_kill 2"; 0 if there is none.
std::int64_t number_of(const fs::path& file, std::string_view key) {
    const auto text = text_of(file);
    if (!text) return 0;
    for (const auto line : split_lines(*text)) {
        if (line.starts_with(key) && line.substr(key.size()).starts_with(' '))
            return number_in(line.substr(key.size()));
    }
    return 0;
}

}  // namespace

std::string scope_of_run(std::string_view run) {
    return "orange-run-" + std::string(run) + ".scope";
}

fs::path groups_of_runs() {
    const auto user = std::to_string(::geteuid());
    return fs::path(k_groups) / "user.slice" / ("user-" + user + ".slice") / ("user@" + user + ".service") /
           "orange.slice";
}

std::optional<fs::path> own_group() {
    const auto text = text_of("/proc/self/cgroup");
    if (!text) return std::nullopt;
    constexpr std::string_view k_unified = "0::/";
    for (const auto line : split_lines(*text)) {
        const auto group = fs::path(k_groups) / line.substr(std::min(line.size(), k_unified.size()));
        std::error_code error;
        if (line.starts_with(k_unified) && fs::exists(group / "cgroup.events", error)) return group;
    }
    return std::nullopt;
}

std::optional<GroupUse> use_of(const fs::path& group) {
    std::error_code error;
    if (!fs::exists(group / "cgroup.events", error)) return std::nullopt;
    GroupUse use;
    use.memory = number_of(group / "memory.current");
    use.memory_peak = number_of(group / "memory.peak");
    use.memory_limit = number_of(group / k_most_memory);
    use.at_limit = number_of(group / "memory.events", "oom");
    use.oom_kills = number_of(group / "memory.events", "oom_kill");
    use.forks_refused = number_of(group / "pids.events", "max");
    use.cpu_ms = number_of(group / "cpu.stat", "usage_usec") / 1000;
    return use;
}

bool is_limited_to(const fs::path& group, std::int64_t most, const char* file) {
    return most > 0 && number_of(group / file) == most;
}

bool has_processes(const fs::path& group) {
    return number_of(group / "cgroup.events", "populated") > 0;
}

bool kill_all(const fs::path& group) {
    const UniqueFd file(::open((group / "cgroup.kill").c_str(), O_WRONLY | O_CLOEXEC));
    return file && ::write(file.get(), "1", 1) == 1;
}

}  // namespace orange::process
