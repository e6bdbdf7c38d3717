#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/names.hpp"
#include "common/base/result.hpp"

/// The Orange skill in the folders of agent programs. The last line of a file that Orange wrote is a mark with the hash
/// of the text above it. A file without a mark, or whose text is another one, is somebody's own: it is never replaced
/// or removed.
namespace orange::commands {

/// The place of one agent program, as `oranged --agents` prints it; nothing that needs a daemon.
struct SkillTarget {
    std::string harness;
    bool installed = false;      ///< the program is on the caller's PATH
    std::filesystem::path file;  ///< its SKILL.md; empty: its harness names no folder for skills
};
Result<std::vector<SkillTarget>> skill_targets();

/// The shipped SKILL.md.
Result<std::string> shipped_skill();

enum class SkillState {
    absent,
    current,  ///< the shipped text, whoever wrote it
    stale,    ///< written by another version of Orange
    edited,   ///< written by Orange, changed since
    foreign,  ///< not written by Orange, or a link
};
std::string_view name_of(SkillState state);

struct FoundSkill {
    SkillState state = SkillState::absent;
    bool is_own = false;  ///< Orange wrote exactly this file, and may replace and remove it
};
FoundSkill look_at_skill(const std::filesystem::path& file, const std::string& shipped);

/// Creates the folders that are missing, and writes the file with its mark in one rename.
Result<void> write_skill(const std::filesystem::path& file, const std::string& text);
/// Removes the file, and up to three folders above it that are empty then.
Result<void> remove_skill(const std::filesystem::path& file);

}  // namespace orange::commands
