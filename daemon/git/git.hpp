#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/result.hpp"
#include "common/posix/remove.hpp"
#include "daemon/async/awaitable.hpp"
#include "daemon/git/pinned.hpp"
#include "daemon/process/process_runner.hpp"

/// The adapter of the program git. The runner, the pool and the doctor read repositories, make worktrees and merge with
/// the functions of this folder. Each of these functions calls Git::run(), which runs one git command: CliGit runs the
/// real program, tests use a fake.
///
/// Agents can write the repositories that these functions work in. So git runs without hooks, prompts and programs of
/// the repository's configuration, and in the worktree of an agent only as it was when Orange made the worktree
/// (pinned.hpp). The functions keep no state but caches. The functions return an Error if git fails; most of them can
/// be repeated after a crash. The caller holds the repository's lock if a function needs one.
///
/// Start with branches.hpp, worktrees.hpp and merge.hpp.
namespace orange {

namespace git {

/// The place in which git runs. In a repository, given by its path, git finds its own directory. For a worktree that
/// agents can write, the pinned directories are passed to git, so that the worktree's `.git` is not read.
class Place {
  public:
    Place(std::string repository) : where_(std::move(repository)) {}  // NOLINT: a repository is its path
    Place(const char* repository) : where_(repository) {}             // NOLINT: as above
    Place(Pinned worktree) : where_(std::move(worktree)) {}           // NOLINT: a pinned worktree is a place
    const std::string& path() const { return pinned() ? pinned()->path() : std::get<std::string>(where_); }
    /// Returns null if the place is a repository.
    const Pinned* pinned() const { return std::get_if<Pinned>(&where_); }

  private:
    std::variant<std::string, Pinned> where_;
};

}  // namespace git

/// A git command, and the place to run it in.
struct GitCommand {
    git::Place place{""};
    std::vector<std::string> args;  ///< after `git`; refs as refs/heads/…, `--end-of-options` before names
    std::map<std::string, std::string> env = {};  ///< added to git's environment, for example GIT_INDEX_FILE
    std::chrono::milliseconds deadline{60'000};
    std::string input = {};
    std::shared_ptr<Stop> stop = nullptr;  ///< may end git before its deadline
};

/// Runs the program git with a scrubbed environment (no GIT_*), no prompt, no pager, no hooks, no fsmonitor and no
/// optional locks. Tests replace it by a fake.
class Git {
  public:
    virtual ~Git() = default;
    /// Runs the command as ProcessRunner::run does; a non-zero exit status is a result, not an error.
    virtual Awaitable<Result<Completed>> run(GitCommand command) = 0;
    /// Removes what an agent may have filled, in constant time (posix::Remover::remove).
    virtual Result<void> remove(int folder, const std::string& name, const std::string& shown) {
        return posix::Remover().remove(folder, name, shown);
    }
};

/// Runs git and returns its stdout; external_failed if it exits with anything but 0.
Awaitable<Result<std::string>> git_output(Git& git, GitCommand command);

/// Removes a folder with Git::remove(). Success if it does not exist.
Result<void> remove_folder(Git& git, const std::filesystem::path& path);

}  // namespace orange
