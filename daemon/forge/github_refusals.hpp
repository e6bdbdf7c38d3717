#pragma once

#include <string>
#include <vector>

#include "daemon/forge/github_answers.hpp"
#include "daemon/process/process_runner.hpp"

/// Makes Errors for failures of gh, or of GitHub behind it. Each has `details["why"]` (forge.hpp).
namespace orange::forge {

/// The gh command that failed.
struct GhCall {
    ForgePlace place;
    std::vector<std::string> argv;
    std::string
        token_variable;  ///< the variable of gh's environment with the token for this host; "": gh uses its own login
};

/// Makes the Error for a gh that could not be run to its end.
Error not_run(const GhCall& asked, const Error& error);

/// Makes the Error for a gh that failed, or an answer without data. `reply` is the output of `gh api -i`; empty for
/// other commands.
Error refusal(const GhCall& asked, const Completed& done, const Reply& reply, Timestamp now);

}  // namespace orange::forge
