#pragma once

#include "daemon/async/time.hpp"
#include "daemon/forge/forge.hpp"
#include "daemon/process/environment.hpp"
#include "daemon/process/process_runner.hpp"

namespace orange {

/// Deadlines for gh, which has none of its own.
struct GitHubPatience {
    std::chrono::milliseconds look = std::chrono::seconds(30);
    std::chrono::milliseconds change = std::chrono::seconds(60);
};

/// Forge for GitHub, through the program gh with the user's own login. gh always gets the host and the repository and
/// never runs in the repository's folder, so that it runs no git there (agents can write its configuration) and cannot
/// use another repository. There is no prompt, no pager and no colour. All text is passed as `--flag=value` or on
/// stdin, so that none can be read as an option.
class GitHubForge final : public Forge {
  public:
    /// `base`: the user's login environment, whose PATH has gh. The runner must outlive this object.
    GitHubForge(ProcessRunner& runner, Environment base, GitHubPatience patience = {});
    void set_base(Environment base) override;

    Awaitable<Result<PullAnswers>> query_pulls(ForgePlace place, std::vector<WantedPull> wanted) override;
    Awaitable<Result<std::string>> create(NewPullRequest request) override;
    Awaitable<Result<void>> merge(ForgePlace place, std::int64_t number, std::string commit,
                                  PullMethod method) override;
    Awaitable<Result<std::vector<PullMethod>>> methods(ForgePlace place) override;
    Awaitable<Result<std::vector<PullRemark>>> remarks(ForgePlace place, std::int64_t number) override;
    Awaitable<Result<std::vector<PullThread>>> threads(ForgePlace place, std::int64_t number) override;

  private:
    struct Answer;
    Command command(const ForgePlace& place, std::vector<std::string> args) const;
    /// Runs a gh command that changes something, and returns its stdout.
    Awaitable<Result<std::string>> change(ForgePlace place, std::vector<std::string> args, std::string input);
    /// Runs gh and returns its stdout.
    Awaitable<Result<std::string>> output_of(ForgePlace place, Command gh);
    /// Returns why a job of Actions failed, as text for people; empty if GitHub does not tell it.
    Awaitable<std::string> failure_of(ForgePlace place, std::string job, async::Moment until);
    /// Returns whether the person may push. An Error: GitHub could not be asked.
    Awaitable<Result<bool>> may_push(ForgePlace place, std::string author, async::Moment until);
    /// Returns what GitHub answers at a path of its REST interface; timeout if that is not there at `until`.
    Awaitable<Result<std::string>> get(ForgePlace place, std::string path, async::Moment until);
    /// Runs a GraphQL query and returns the object `data.repository` of the answer, even if errors came with it.
    Awaitable<Result<Answer>> ask(ForgePlace place, std::string question);

    ProcessRunner& runner_;
    Environment env_;
    GitHubPatience patience_;
};

}  // namespace orange
