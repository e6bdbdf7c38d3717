#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace orange::test {

/// How GitHub, or the way to it, fails.
enum class Trouble {
    bad_token,        ///< 401
    rate_limit,       ///< 403, none left, there are new ones in about ten minutes
    secondary_limit,  ///< 403, to be asked again in 60 seconds
    limit_in_answer,  ///< 200, and GraphQL's error
    forbidden,        ///< 403
    missing_scope,
    bad_gateway,    ///< 502 with a page
    login_page,     ///< 200 with a page, as in a train
    silence,        ///< takes the question and never answers
    dropped,        ///< the connection ends without an answer; nothing was done
    lost,           ///< as above, but what was asked for was done
    half,           ///< half of an answer, as JSON
    empty,          ///< {}
    no_repository,  ///< it is null, without an error
};

/// A folder for PATH with gh, the stand-in for ssh, and the GitHub that both lead to: `origin.git` in it is at the same
/// time git@github.com:acme/shop.git and its merges. gh is a stand-in too, or, for scripts/test-github, the real one,
/// which is told to ask this GitHub (ORANGE_TEST_GH has its path).
class FakeGitHub {
  public:
    using Json = nlohmann::json;
    static constexpr const char* k_url = "git@github.com:acme/shop.git";

    explicit FakeGitHub(std::filesystem::path folder);
    ~FakeGitHub();
    FakeGitHub(const FakeGitHub&) = delete;
    FakeGitHub& operator=(const FakeGitHub&) = delete;
    static bool is_real();  ///< gh is

    std::filesystem::path origin() const { return folder_ / "ssh-root/acme/shop.git"; }
    std::filesystem::path state(const std::string& file) const { return folder_ / "gh-state" / file; }
    std::filesystem::path refuse_ssh() const { return folder_ / "ssh-root/refused"; }

    /// "1|topic|OPEN|false", a line for each: number, branch, state, whether of a fork.
    std::string prs() const { return prs_in(folder_); }
    static std::string prs_in(const std::filesystem::path& folder);  ///< of one that is no longer there
    Json pull(std::int64_t number) const;  ///< as state.json has it: head, base, title, body, draft, state …
    /// What gh was asked, and what GitHub was (the names of the operations): a line for each.
    std::vector<std::string> calls() const;
    std::vector<std::string> requests() const;

    /// Somebody opens one: of a branch of `origin`, or of a fork by `stranger`.
    std::int64_t open(const std::string& head, const std::string& base = "main",
                      const std::string& stranger = "") const;
    void set_state(std::int64_t number, const std::string& state) const;  ///< "OPEN", "CLOSED"
    void merge(std::int64_t number, const std::string& method = "MERGE") const;
    /// Any fields of state.json: {"review": "CHANGES_REQUESTED"}, {"mergeable": "CONFLICTING"}, {"merge_state":
    /// "BLOCKED"}, {"checks": "FAILURE"}, {"contexts": […]}, {"reviews": […]}, {"threads": […]}, {"comments": […]}.
    void change(std::int64_t number, const Json& fields) const;
    /// Somebody comments on a line: "author", "body", "path", "line", "startLine", "diffSide", "hunk" (the diff down to
    /// that line), "commit" …, with the names of GitHub's schema. Returns the thread's id.
    std::string add_thread(std::int64_t number, Json thread) const;
    void reply(std::int64_t number, const std::string& thread, Json comment) const;
    /// Unlike what is said, this changes no `updatedAt`: whether it does at GitHub is not documented.
    void resolve(std::int64_t number, const std::string& thread, bool resolved = true) const;
    /// "admin", "maintain", "write", "triage", "read" or "none". Who has no role is no collaborator: 404. A program is
    /// written as in a path: "dependabot%5Bbot%5D".
    void permit(const std::string& login, const std::string& role) const;
    void allow(const std::vector<std::string>& methods, const std::string& preferred) const;
    /// A job of Actions: {"steps": […], "log": "…", "annotations": […]}, each as REST has it; one that is missing is
    /// 404.
    void add_job(std::int64_t number, const Json& job) const;
    void queue_merges() const;  ///< merges are asked for, and happen later

    /// From now on, or the next `times`; for the operations whose name has `match` in it ("OrangePullRequests",
    /// "PullRequestCreate", "PullRequestMerge" …).
    void misbehave(Trouble trouble, const std::string& match = "", int times = -1) const;
    void behave() const;
    void race() const;  ///< the next pull request is opened by somebody else, a moment before
    void log_out() const;
    void go_offline() const;
    void remove_gh() const;

  private:
    void edit(const std::function<void(Json& state)>& change) const;
    void add_rule(Json rule) const;
    void start_server();

    std::filesystem::path folder_;
    pid_t server_ = 0;
};

}  // namespace orange::test
