#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/rpc/caller_environment.hpp"
#include "daemon/process/environment.hpp"
#include "daemon/rpc/api.hpp"

/// Finds the programs of harnesses, and the variables that they get.
namespace orange::rpc {

/// Returns the environment of a project's agents, as far as the settings of this harness's program depend on it. `PATH`
/// is the one with which the program is started.
Environment environment_for(const World& world, const std::optional<Project>& project,
                            const agents::HarnessEntry& entry);

/// Returns a sentence for each variable that the program wants and the caller has, but that its agents would not get.
std::vector<std::string> variables_not_passed(const World& world, const std::optional<Project>& project,
                                              const agents::HarnessEntry& entry, const CallerEnvironment& caller);

/// Returns the definition's note if the user has no login for the program: neither one of its files nor one of the
/// variables that it wants. Returns an empty text if there is a login, or if the definition has no note.
std::string note_of_login(const World& world, const std::optional<Project>& project, const agents::HarnessEntry& entry);

/// Returns true if the project's repository is trusted, for a harness that asks for trust. An Error means that the
/// harness's file with the answer cannot be named.
Result<bool> is_trusted(World& world, const Project& project, const agents::HarnessEntry& entry);

/// Records a human's consent in the project as it is now, because another call may have changed the project meanwhile.
Awaitable<Result<void>> record_consent(Api& api, std::string project_name, std::string harness);

/// The paths of the programs that were found, by harness.
using Programs = std::map<std::string, std::string>;
Programs programs_of(const World& world);

/// Returns notes after a new search for programs: programs whose path differs from `before`, and variables that the
/// caller has and agents would not get.
std::vector<std::string> search_notes(const World& world, const Programs& before, const CallerEnvironment& caller);

}  // namespace orange::rpc
