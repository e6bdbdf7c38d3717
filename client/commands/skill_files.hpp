#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/config/paths.hpp"

/// The Orange skill in the folders of agent programs: what is there, and what Orange wrote there. The manifest
/// `skills.json` in the home names every file that was written, so that exactly those are replaced and removed. A file
/// that Orange did not write, or that somebody has changed since, is never touched.
namespace orange::commands {

/// An agent program as `oranged --agents` prints it; nothing that needs a daemon.
struct SkillTarget {
    std::string harness;
    bool installed = false;        ///< the program is on the caller's PATH
    std::filesystem::path folder;  ///< of its skills; empty: its harness names none
};
Result<std::vector<SkillTarget>> skill_targets();

struct InstalledSkill {
    std::string harness;
    std::filesystem::path file;
    std::string hash;                            ///< of the text that was written
    std::vector<std::filesystem::path> folders;  ///< that did not exist before, deepest first
};
Result<std::vector<InstalledSkill>> read_manifest(const Paths& paths);
/// An empty list removes the manifest.
Result<void> write_manifest(const Paths& paths, const std::vector<InstalledSkill>& skills);

/// The shipped SKILL.md.
Result<std::string> shipped_skill();

enum class SkillState {
    absent,
    current,  ///< the shipped text, whoever wrote it
    stale,    ///< written by another version of Orange
    edited,   ///< written by Orange, changed since
    foreign,  ///< not written by Orange
};
std::string_view name_of(SkillState state);
/// `recorded`: the manifest's entry for the file, or nullptr.
SkillState state_of(const std::filesystem::path& file, const InstalledSkill* recorded, const std::string& shipped);

/// Creates the folders that are missing, and writes the file in one rename.
Result<InstalledSkill> write_skill(const SkillTarget& target, const std::filesystem::path& file,
                                   const std::string& text);
/// Removes the file, and those of its folders that Orange created and that are empty.
Result<void> remove_skill(const InstalledSkill& skill);

}  // namespace orange::commands
