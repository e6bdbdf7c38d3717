#include "client/commands/walls.hpp"

#include <algorithm>

#include "client/commands/files.hpp"
#include "common/base/text.hpp"

namespace orange::commands {
namespace {

namespace fs = std::filesystem;

/// Returns what the demo agent wrote about that ("network"); empty if nothing.
std::string seen_of(std::string_view seen, const std::string& name) {
    for (const auto line : split_lines(seen)) {
        if (line.starts_with(name + " ")) return std::string(trim(line.substr(name.size())));
    }
    return {};
}

}  // namespace

std::vector<Wall> walls_of(const std::vector<std::string>& separates, std::string_view seen, const fs::path& home) {
    std::error_code error;
    // An agent without that wall sees the same as this process. The memory cannot be compared.
    const std::pair<const char*, std::string> shared[] = {
        {"files", "seen"},
        {"network", fs::read_symlink("/proc/self/ns/net", error).string()},
        {"processes", fs::read_symlink("/proc/self/ns/pid", error).string()},
        {"memory", ""},
        {"machine", std::string(trim(text_of_file("/proc/sys/kernel/random/boot_id").value_or("")))}};
    const bool is_written = fs::exists(home / "orange-demo-reached", error);
    std::vector<Wall> walls;
    for (const auto& [name, here] : shared) {
        Wall wall{name, std::ranges::find(separates, name) != separates.end(), {}};
        const auto there = seen_of(seen, name);
        if (!here.empty() && !there.empty()) wall.holds = there != here && !(is_written && wall.name == "files");
        if (wall.is_claimed || wall.holds.value_or(false)) walls.push_back(std::move(wall));
    }
    return walls;
}

}  // namespace orange::commands
