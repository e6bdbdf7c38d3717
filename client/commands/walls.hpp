#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The walls and limits of an executor, as `orange executor test` tries them: the demo agent writes what it sees and
/// can do (demo:walls).
namespace orange::commands {

/// The demo agent's file, in its worktree.
inline constexpr const char* k_walls_file = "orange-demo/walls";

struct Wall {
    std::string name;  ///< a word of `separates`
    bool is_claimed = false;
    std::optional<bool> holds;  ///< nothing: it cannot be tried
};

/// Compares what the demo agent saw with this process. Leaves out walls that are neither claimed nor hold. `home` is
/// the agent's ORANGE_HOME, which it tried to write to.
std::vector<Wall> walls_of(const std::vector<std::string>& separates, std::string_view seen,
                           const std::filesystem::path& home);

enum class Verdict { pass, fail, unknown };

/// The result of one step.
struct Finding {
    std::string step;
    Verdict verdict = Verdict::unknown;
    std::string detail;
    std::string change = {};  ///< the keys of the definition to look at
};

/// The ports of this machine that the demo agent has reached.
struct ReachedPorts {
    bool listed = false;    ///< the one that the list names, through the proxy
    bool unlisted = false;  ///< another one, through the proxy
    bool direct = false;    ///< another one, without the proxy
};
/// Judges a limited network. `is_list`: the setting was a list of one place; otherwise it was "none".
Finding network_finding(bool is_list, const ReachedPorts& reached, std::string_view seen);

/// A limit of the trial, and how much more the demo agent tries.
struct TriedLimit {
    const char* name;  ///< of the setting, and the word of the demo agent
    const char* seen;  ///< the demo agent's word for what it reached
    std::int64_t limit;
    std::int64_t tried;
    std::int64_t unit;  ///< of `limit` and `tried`, in what the demo agent says
};
inline constexpr TriedLimit k_tried_limits[] = {{"processes", "started", 200, 250, 1},
                                                {"disk", "disk", 64, 80, 1024 * 1024}};
/// Judges such a limit. A limit that does not hold is a failure only if the definition claims it.
Finding limit_finding(const TriedLimit& tried, bool is_claimed, std::string_view seen);

}  // namespace orange::commands
