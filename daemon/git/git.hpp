#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "daemon/async/awaitable.hpp"
#include "daemon/process/process_runner.hpp"

namespace orange {

/// One git command in one directory.
struct GitCommand {
    std::string dir;
    std::vector<std::string> args;  ///< after `git`; refs as refs/heads/…, `--end-of-options` before names
    std::map<std::string, std::string> env = {};  ///< in addition (GIT_INDEX_FILE)
    std::chrono::milliseconds deadline{60'000};
    std::string input = {};
    std::shared_ptr<Stop> stop = nullptr;  ///< ends it before its deadline
};

/// The git program: scrubbed environment (no GIT_*), no prompt, no pager, no hooks, no fsmonitor, optional locks off.
/// What it is used for is written in branches.hpp, worktrees.hpp and merge.hpp, on top of this one method.
class Git {
  public:
    virtual ~Git() = default;
    /// As ProcessRunner::run; a non-zero exit is an answer, not an error.
    virtual Awaitable<Result<Completed>> run(GitCommand command) = 0;
};

/// Runs and wants exit 0: anything else is external_failed. Returns stdout.
Awaitable<Result<std::string>> git_output(Git& git, GitCommand command);

}  // namespace orange
