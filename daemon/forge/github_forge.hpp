#pragma once

#include "daemon/forge/forge.hpp"
#include "daemon/process/environment.hpp"
#include "daemon/process/process_runner.hpp"

namespace orange {

/// How long gh may take; it has no limit of its own.
struct GitHubPatience {
    std::chrono::milliseconds look = std::chrono::seconds(30);
    std::chrono::milliseconds change = std::chrono::seconds(60);
};

/// GitHub, by the program gh with the user's own login. Never in the repository's folder and always with the host and
/// repository, so that gh asks no git there (whose configuration agents can write) and opens nothing anywhere else; no
/// prompt, no pager, no colours; all text as `--flag=value` or on stdin, so that nothing can pass for an option.
class GitHubForge final : public Forge {
  public:
    /// `base`: the user's login environment, where PATH has gh. The runner must outlive it.
    GitHubForge(ProcessRunner& runner, Environment base, GitHubPatience patience = {});
    void set_base(Environment base);

    Awaitable<Result<PullAnswers>> query_pulls(std::string repository, std::vector<WantedPull> wanted) override;
    Awaitable<Result<std::string>> create(NewPullRequest request) override;
    Awaitable<Result<void>> merge(std::string repository, std::int64_t number, std::string commit,
                                  PullMethod method) override;
    Awaitable<Result<std::vector<PullMethod>>> methods(std::string repository) override;
    Awaitable<Result<std::vector<PullRemark>>> remarks(std::string repository, std::int64_t number) override;

  private:
    struct Answer;
    Command command(const std::string& repository, std::vector<std::string> args) const;
    /// stdout of one that changes something.
    Awaitable<Result<std::string>> change(std::string repository, std::vector<std::string> args, std::string input);
    /// What is in `data.repository` of the answer, which is an object, also where errors came with it.
    Awaitable<Result<Answer>> ask(std::string repository, std::string question);

    ProcessRunner& runner_;
    Environment env_;
    GitHubPatience patience_;
};

}  // namespace orange
