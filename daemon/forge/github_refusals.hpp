#pragma once

#include <string>
#include <vector>

#include "daemon/forge/github_answers.hpp"
#include "daemon/process/process_runner.hpp"

/// Why gh, or GitHub behind it, did not do what it was asked. Every Error has `details["why"]` (forge.hpp).
namespace orange::forge {

/// What was asked of gh.
struct Asked {
    std::string repository;
    std::vector<std::string> argv;
    std::string token_variable;  ///< of gh's environment, where the token for this host comes from; "": gh's own login
};

/// gh could not be run, or not to its end.
Error not_run(const Asked& asked, const Error& error);

/// gh failed, or GitHub's answer has no data. `reply` is what `gh api -i` printed; empty for other commands.
Error refusal(const Asked& asked, const Completed& done, const Reply& reply, Timestamp now);

}  // namespace orange::forge
