#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/names.hpp"
#include "common/base/result.hpp"

/// The Orange skill in the folders of agents' programs. A file that Orange wrote ends with a mark: a line with the hash
/// of the text above it. A file without a mark, or with a changed text, belongs to the user and is never replaced or
/// removed.
namespace orange::commands {

/// The skill's place for one agent's program, as `oranged --agents` prints it. Needs no daemon.
struct SkillTarget {
    std::string harness;
    bool installed = false;      ///< the program is on the caller's PATH
    std::filesystem::path file;  ///< SKILL.md; empty: the harness names no folder for skills
};
Result<std::vector<SkillTarget>> skill_targets();

/// Returns the text of the shipped SKILL.md.
Result<std::string> shipped_skill();

enum class SkillState {
    absent,
    current,  ///< the shipped text, by Orange or by another author
    stale,    ///< written by another version of Orange
    edited,   ///< written by Orange, and changed since
    foreign,  ///< not written by Orange, or a link
};
std::string_view name_of(SkillState state);

struct FoundSkill {
    SkillState state = SkillState::absent;
    bool is_own = false;  ///< Orange wrote exactly this file, so that it may replace and remove it
};
FoundSkill look_at_skill(const std::filesystem::path& file, const std::string& shipped);

/// Creates missing folders, and writes the file with its mark in one rename.
Result<void> write_skill(const std::filesystem::path& file, const std::string& text);
/// Removes the file, and up to three empty folders above it.
Result<void> remove_skill(const std::filesystem::path& file);

}  // namespace orange::commands
