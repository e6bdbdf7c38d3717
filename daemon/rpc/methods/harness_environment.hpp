#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/rpc/caller_environment.hpp"
#include "daemon/process/environment.hpp"
#include "daemon/rpc/api.hpp"

/// Where the programs of harnesses are, and which variables they get.
namespace orange::rpc {

/// What the agents of a project get, as far as a program's own settings depend on it. `PATH` is the one that its
/// program is started with.
Environment environment_for(const World& world, const std::optional<Project>& project,
                            const agents::HarnessEntry& entry);

/// A sentence for each variable that the program wants, that the caller has and that its agents would not get.
std::vector<std::string> variables_not_passed(const World& world, const std::optional<Project>& project,
                                              const agents::HarnessEntry& entry, const CallerEnvironment& caller);

/// Returns the definition's note if the user has no login for the program: neither one of its files nor one of the
/// variables that it wants. Returns an empty text if there is a login, or if the definition has no note.
std::string note_of_login(const World& world, const std::optional<Project>& project, const agents::HarnessEntry& entry);

/// Whether the project's repository is trusted, for a harness that asks for it. An Error: its file cannot be named.
Result<bool> is_trusted(World& world, const Project& project, const agents::HarnessEntry& entry);

/// Keeps a human's consent with the project as it is now: somebody else may have changed it meanwhile.
Awaitable<Result<void>> record_consent(Api& api, std::string project_name, std::string harness);

/// The programs that were found, by harness.
using Programs = std::map<std::string, std::string>;
Programs programs_of(const World& world);

/// For a human who has had programs looked up again: those that are elsewhere than `before`, and the variables that the
/// caller has and agents would not get.
std::vector<std::string> search_notes(const World& world, const Programs& before, const CallerEnvironment& caller);

}  // namespace orange::rpc
