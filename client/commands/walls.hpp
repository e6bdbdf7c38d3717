#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The walls of an executor, as `orange executor test` tries them: the demo agent writes what it sees (demo:walls).
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

}  // namespace orange::commands
