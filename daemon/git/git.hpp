#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/result.hpp"
#include "daemon/async/awaitable.hpp"
#include "daemon/git/pinned.hpp"
#include "daemon/process/process_runner.hpp"

namespace orange {

namespace git {

/// Where git works: in a repository, where it finds by itself what belongs to it, or in a worktree that agents write,
/// where it is told.
class Place {
  public:
    Place(std::string repository) : where_(std::move(repository)) {}  // NOLINT: a repository is its path
    Place(const char* repository) : where_(repository) {}             // NOLINT: as above
    Place(Pinned worktree) : where_(std::move(worktree)) {}           // NOLINT: as good as its place
    const std::string& path() const { return pinned() ? pinned()->path() : std::get<std::string>(where_); }
    /// Null if it is a repository.
    const Pinned* pinned() const { return std::get_if<Pinned>(&where_); }

  private:
    std::variant<std::string, Pinned> where_;
};

}  // namespace git

/// One git command in one place.
struct GitCommand {
    git::Place place{""};
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
