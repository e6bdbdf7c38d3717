#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/model/project.hpp"

/// Commands that a repository itself brings for its worktrees: the files `.orange/setup`, `.orange/teardown` and
/// `.orange/dev`. A command runs only if a person has agreed to exactly its text.
namespace orange::git {

struct RepositoryCommand {
    std::string name;  ///< ".orange/setup"
    std::string text;
    std::string hash;  ///< of the text

    /// Returns the entry that projects.json has in `trusted` once a person has agreed.
    std::string consent() const { return name + " " + hash; }
};

/// The name under which the RPC method harness.trust accepts git's setting of that name.
inline constexpr std::string_view k_ssh_setting = "core.sshCommand";
/// Returns the value of the repository's own core.sshCommand that a person agreed to; empty if there is none.
std::string trusted_ssh(const Project& project);
/// Lets git run this value from now on, instead of any earlier one.
void trust_ssh(Project& project, const std::string& value);

/// Returns true if `name`, a parameter of harness.trust, is such a file and no harness.
bool is_repository_command(const std::string& name);

/// Reads the file `name` of a worktree that is open as `folder`. Nothing if it does not exist, is a link or no regular
/// file, or has more than 1 MiB.
std::optional<RepositoryCommand> repository_command(int folder, const std::string& name);
/// Reads the file as above from the worktree at `path`.
std::optional<RepositoryCommand> repository_command(const std::string& path, const std::string& name);

}  // namespace orange::git
