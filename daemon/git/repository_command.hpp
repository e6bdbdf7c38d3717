#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/model/project.hpp"

/// The commands that a repository itself brings for its worktrees: the files `.orange/setup` and `.orange/teardown`.
/// They run if a person has agreed to exactly this text.
namespace orange::git {

struct RepositoryCommand {
    std::string name;  ///< ".orange/setup"
    std::string text;
    std::string hash;  ///< of the text

    /// What `trusted` of projects.json has, once a person has agreed.
    std::string consent() const { return name + " " + hash; }
};

/// The setting of git that harness.trust means by this name.
inline constexpr std::string_view k_ssh_setting = "core.sshCommand";
/// The value of the repository's own core.sshCommand that a person agreed to; empty if there is none.
std::string trusted_ssh(const Project& project);
/// Git may run this value from now on, and no earlier one.
void trust_ssh(Project& project, const std::string& value);

/// Whether harness.trust means such a file: no harness has a name like these.
bool is_repository_command(const std::string& name);

/// The file `name` in a worktree that is open as `folder`. Nothing for a link, something else than a file, a file of
/// more than 1 MiB, or none at all.
std::optional<RepositoryCommand> repository_command(int folder, const std::string& name);
/// The same in the worktree at `path`.
std::optional<RepositoryCommand> repository_command(const std::string& path, const std::string& name);

}  // namespace orange::git
