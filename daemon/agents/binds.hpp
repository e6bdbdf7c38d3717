#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "daemon/agents/executor.hpp"
#include "daemon/agents/harness.hpp"
#include "daemon/process/environment.hpp"

namespace orange::agents {

/// A file or folder of the user that an agent's program needs. An executor that hides the user's files shows it.
struct Bind {
    std::string path;
    bool is_writable = false;
    bool operator==(const Bind&) const = default;
};

/// Returns what the program of a run needs of HOME and ORANGE_HOME: the folders of PATH, its own folder, that of the
/// package that it is a part of, and, writable, the `config_binds` of its definition. A folder that contains HOME or
/// ORANGE_HOME is left out.
std::vector<Bind> binds_of(const Harness& harness, const std::string& program, const Environment& env);

/// Refuses a harness whose program, or what its first line names, is in a folder that the executor hides, unless the
/// binds or a word of the options show it: it would not be found there. `env` is the environment of the agent.
Result<void> check_visible(const Executor& executor, const HarnessEntry& harness, const Environment& env,
                           const std::vector<std::string>& options);

/// Makes the folders among its `config_binds` that do not exist, with mode 0700: a wall shows only what exists, and
/// what the program writes elsewhere goes with the run. An item below HOME whose name has no ending is a folder
/// ("~/.codex", but not "~/.claude.json").
Result<void> make_config_folders(const Harness& harness, const Environment& env);

/// Returns the path with the real path of HOME, if it is below HOME. Other links keep their names, by which programs
/// find their files.
std::string in_real_home(const std::string& path, const Environment& env);

/// Names the real HOME wherever variables, PATH and words begin with it: a wall may hide the link by which the user
/// names it, as in /tmp.
void name_real_home(Environment& env, std::vector<std::string>& words);

}  // namespace orange::agents
