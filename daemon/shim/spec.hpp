#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.hpp"
#include "common/base/result.hpp"
#include "common/model/role.hpp"

namespace orange {

/// What orange-agent is to run: a JSON file (0600, it holds the environment) that the daemon writes before the window
/// opens and removes when the run has ended. Its path is the only thing about an agent that tmux ever sees. Goes to
/// disk: keys are never renamed.
struct RunSpec {
    RunId run;
    TaskId task;
    Role role = Role::worker;
    std::string project;
    std::vector<std::string> argv;           ///< argv[0] is looked up in env's PATH where it has no slash
    std::map<std::string, std::string> env;  ///< the whole environment; TERM is the pane's where it is missing
    std::string cwd;                         ///< absolute; must exist
    std::string worktree;   ///< absolute; what is left running with a working directory in it is ended; may be empty
    std::string exit_file;  ///< absolute; where the ExitRecord goes

    bool operator==(const RunSpec&) const = default;
};

std::string spec_text(const RunSpec& spec);
Result<RunSpec> spec_from_text(std::string_view text);
Result<RunSpec> read_spec(const std::filesystem::path& file);

}  // namespace orange
