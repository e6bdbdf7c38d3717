#pragma once

#include "daemon/github/github.hpp"
#include "daemon/process/environment.hpp"
#include "daemon/process/process_runner.hpp"

namespace orange {

/// The real GitHub: the program gh, with the user's own login. Never in the repository's folder and always with
/// --repo, so that gh asks no git there (whose configuration agents can write) and opens nothing anywhere else; no
/// prompt, no pager, no colours; all text as `--flag=value` or on stdin, so that nothing can pass for an option.
class CliGitHub final : public GitHub {
  public:
    /// `base`: the user's login environment, where PATH has gh. The runner must outlive it.
    CliGitHub(ProcessRunner& runner, Environment base);
    void set_base(Environment base);
    Awaitable<Result<std::vector<PullRequest>>> list(std::string repository, std::string head) override;
    Awaitable<Result<std::string>> create(NewPullRequest request) override;

  private:
    Awaitable<Result<std::string>> ask(std::string repository, std::vector<std::string> args, std::string input);

    ProcessRunner& runner_;
    Environment env_;
};

}  // namespace orange
