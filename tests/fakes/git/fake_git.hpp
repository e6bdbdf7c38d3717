#pragma once

#include <map>
#include <string>

#include "daemon/process/process_runner.hpp"

namespace orange::fakes {

/// What a FakeGit has done: by the command's first words.
struct GitCounts {
    int answered = 0;
    std::map<std::string, int> handed_on;
};

/// git without a process, over repositories of the real git's own format: refs, worktrees, status, commits, and origins
/// on this machine. Each command answers what git 2.39 answers, and leaves what git leaves; the contract test holds
/// both to the same script. Whatever is unusual (a setting, a spelling, a damaged file, a conflict, an error) is handed
/// on to the real git before anything is changed, as are the commands that are not known here, and all other programs.
class FakeGit final : public ProcessRunner {
  public:
    /// `real` runs what is handed on. `program`: the git that is replaced; another one that is first on a command's
    /// PATH is run as it is. Both outlive this.
    FakeGit(ProcessRunner& real, std::string program);

    Awaitable<Result<Completed>> run(Command command) override;

    bool off = false;  ///< everything is handed on
    const GitCounts& counts() const { return counts_; }

  private:
    bool is_replaced(const Command& command) const;

    ProcessRunner& real_;
    std::string program_;
    GitCounts counts_;
};

}  // namespace orange::fakes
