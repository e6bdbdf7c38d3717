#include "client/commands/walls.hpp"

#include <algorithm>
#include <charconv>

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

Finding network_finding(bool is_list, const ReachedPorts& reached, std::string_view seen) {
    Finding found{"network", Verdict::fail, {}, "without_network, run"};
    if (reached.direct) {
        found.detail = "it reached a port of this machine without the proxy";
    } else if (reached.unlisted) {
        found.detail = "it reached a port of this machine that it may not reach";
    } else if (reached.listed && !is_list) {
        found.detail = "it reached a port of this machine, although `network` was none";
    } else if (seen_of(seen, "http").empty()) {
        found = {"network", Verdict::unknown, "the demo agent did not try it, for which it needs a git with HTTP"};
    } else if (is_list && !reached.listed) {
        found.detail = "it did not reach the one place of its list: " + seen_of(seen, "listed");
    } else {
        found = {"network", Verdict::pass,
                 is_list ? "a list of one place: that one is reached, others are not" : "none: nothing is reached"};
    }
    return found;
}

Finding limit_finding(const TriedLimit& tried, bool is_claimed, std::string_view seen) {
    const std::string setting = "limits." + std::string(tried.name);
    const auto said = seen_of(seen, tried.seen);
    std::int64_t amount = 0;
    const bool is_said = std::from_chars(said.data(), said.data() + said.size(), amount).ec == std::errc();
    if (!is_said) return {setting, Verdict::unknown, "the demo agent did not try it"};
    const auto limit = tried.limit * tried.unit;
    const bool is_disk = tried.unit > 1;
    const auto text = is_disk ? "a file of " + size_text(amount) : std::to_string(amount) + " processes at once";
    if (amount > limit && is_claimed) return {setting, Verdict::fail, "it had " + text, setting + ", run"};
    if (amount > limit) return {setting, Verdict::unknown, "not enforced here: it had " + text};
    if (amount < limit / 2) return {setting, Verdict::unknown, "something else has limited it to " + text};
    return {setting, Verdict::pass, "held: no more than " + text + (is_disk ? ". The sum of files is not tried" : "")};
}

}  // namespace orange::commands
