#include "daemon/runner/pulls/pulls.hpp"

#include <charconv>
#include <map>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/forge/opening.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/merge.hpp"
#include "daemon/git/publish.hpp"
#include "daemon/git/worktrees.hpp"
#include "daemon/runner/branch/branch.hpp"
#include "daemon/runner/family/attempts.hpp"
#include "daemon/runner/merging/merge_run.hpp"
#include "daemon/runner/merging/merge_target.hpp"

namespace orange::pulls {
namespace {

constexpr std::size_t k_named_commits = 5;

Result<Project> project_of(World& world, const TaskRecord& record) {
    return registered_project(world, record.task.project);
}

Awaitable<Result<NewPullRequest>> request_for(World& world, const TaskRecord& record, Project project, ForgePlace place,
                                              PullText text) {
    NewPullRequest request;
    const auto* forge = place.forge;
    request.place = std::move(place);
    request.base = project.default_branch;
    request.head = record.task.branch;
    request.title = text.title.value_or(record.task.summary);
    if (trim(request.title).empty()) request.title = record.task.branch;
    request.draft = text.draft;
    if (text.body) {
        request.body = std::move(*text.body);
    } else {
        CO_TRY(request.body, co_await pull_request_body(world, record, std::move(project), forge));
    }
    co_return request;
}

/// Returns the commits of the branch that the pull request did not have. Its commit must exist here.
Awaitable<Result<std::vector<std::string>>> commits_after(Git& git, std::string repo, std::string commit,
                                                          std::string tip) {
    GitCommand log;
    log.place = std::move(repo);
    log.args = {"log", "--no-show-signature", "--format=%h %s", commit + ".." + tip};
    CO_TRY(const auto listed, co_await git_output(git, std::move(log)));
    std::vector<std::string> commits;
    for (const auto line : split_lines(listed)) commits.push_back(ellipsized(printable(line), 72));
    co_return commits;
}

/// Returns the commit at which a commit of a branch left the project's default branch; empty if it is not known.
Awaitable<std::string> base_of_commit(World& world, Project project, std::string commit) {
    const auto base = co_await git::base_ref(world.git, project.path, project.default_branch);
    if (!base) co_return std::string();
    GitCommand merge_base;
    merge_base.place = project.path;
    merge_base.args = {"merge-base", *base, commit};
    const auto found = co_await git_output(world.git, std::move(merge_base));
    if (!found) co_return std::string();
    co_return std::string(trim(*found));
}

}  // namespace

bool are_usual(const World& world, const Project& project) {
    return *settings_of(world, project).merge == "pr";
}

Result<void> check_may_have_one(const World& world, const TaskRecord& record, const Project& project) {
    TRY(check_picked(world, record));
    const auto target = merge_target(world, record, project);
    if (!target.is_parents()) return {};
    const auto& id = record.task.id.value;
    return Error(ErrorCode::conflict,
                 "task " + id + " is merged into " + target.text() +
                     ", which takes no pull request. Merge it here:\n  orange task merge " + id,
                 {{"why", "into_parent"}, {"command", "orange task merge " + id}});
}

Awaitable<Result<ForgePlace>> place_of(World& world, Project project, std::string task) {
    CO_TRY(const auto has_origin, co_await world.pool.known().has_origin(world.git, project.path));
    std::string url;
    if (has_origin) {
        CO_TRY(url, co_await git::origin_url(world.git, project.path));
    }
    if (url.empty()) {
        co_return Error(ErrorCode::not_found,
                        "the project has no remote called origin, so there is no place for a "
                        "pull request. Its branch can be merged here:\n  orange task merge " +
                            task);
    }
    co_return place_of_remote(url, forge_named(*settings_of(world, project).forge));
}

std::int64_t number_of(const std::string& url) {
    const auto slash = url.rfind('/');
    std::int64_t number = 0;
    if (slash == std::string::npos) return 0;
    const auto* end = url.data() + url.size();
    const auto [after, error] = std::from_chars(url.data() + slash + 1, end, number);
    return error == std::errc{} && after == end && number > 0 ? number : 0;
}

WantedPull wanted(const TaskRecord& record) {
    WantedPull pull;
    pull.branch = record.task.branch;
    if (record.pull_request) {
        pull.number = record.pull_request->number;
    } else if (record.task.pr_url) {
        pull.number = number_of(*record.task.pr_url);
    }
    return pull;
}

std::optional<PullRequest> own_of(const TaskRecord& record, const std::vector<PullRequest>& known) {
    const auto number = wanted(record).number;
    for (const auto& pull : known) {
        if (number != 0 ? pull.number == number : pull.state == PullState::open) return pull;
    }
    return std::nullopt;
}

Awaitable<Result<std::optional<PullRequest>>> ask(World& world, const ForgePlace& place, TaskRecord record) {
    if (!place.forge) co_return std::optional<PullRequest>();
    std::vector<WantedPull> all = {wanted(record)};
    CO_TRY(auto looked, co_await world.forge.query_pulls(place, std::move(all)));
    if (looked.answers.size() != 1) co_return Error(ErrorCode::internal, "the forge gave another number of answers");
    if (!looked.answers.front()) co_return looked.answers.front().error();
    co_return own_of(record, *looked.answers.front());
}

Awaitable<Result<Opened>> open(World& world, TaskRecord& record, PullText text) {
    CO_TRY(const auto project, project_of(world, record));
    CO_TRY(check_may_have_one(world, record, project));
    CO_TRY(const auto place, co_await place_of(world, project, record.task.id.value));
    // The repository's lock is not held: a remote that is silent for minutes must not block checkouts.
    CO_TRY(auto pushed, co_await git::push_branch(world.git, project.path, record.task.branch));
    Opened opened;
    if (!place.forge) {
        opened.url = std::move(pushed.url);
        co_return opened;
    }
    CO_TRY(auto request, co_await request_for(world, record, project, place, std::move(text)));
    CO_TRY(const auto tip, co_await git::branch_tip(world.git, project.path, record.task.branch));
    auto found = co_await forge::open_pull_request(world.forge, std::move(request), tip);
    if (!found) co_return in_context("the branch is pushed, but its pull request is not open", found.error());
    opened.pull = found->pull;
    opened.url = found->pull.url;
    opened.adopted = found->adopted;
    const bool known = record.task.pr_url == opened.url;
    (void)note(record, found->pull);
    if (!known) {
        CO_TRY(world.journal.write_once(record, opened.adopted ? "pr.adopted" : "pr.created", {{"url", opened.url}}));
    }
    co_return opened;
}

std::string pushed_only(const TaskRecord& record, const std::string& url) {
    return record.task.branch + " is pushed. Orange opens pull requests at " + k_forge_names + " only; " +
           (url.empty() ? "open this one where origin is" : "open this one at " + url);
}

Awaitable<Result<std::vector<std::string>>> left_behind(World& world, TaskRecord record, PullRequest pull) {
    std::vector<std::string> left;
    CO_TRY(const auto project, project_of(world, record));
    const auto repo = project.path;
    CO_TRY(const auto tip, co_await git::commit_of(world.git, repo, "refs/heads/" + record.task.branch));
    if (!tip.empty() && tip != pull.commit) {
        CO_TRY(auto known, co_await git::commit_of(world.git, repo, pull.commit));
        if (known.empty()) {
            // Other people have pushed to it. origin's branch may be gone, but the forge keeps this ref.
            const std::chrono::milliseconds deadline = k_fetch_deadline;
            const auto& forge = forge_of_pull(pull.url);
            auto ref = forge.ref[0] + std::to_string(pull.number) + forge.ref[1];
            CO_TRY(co_await git::fetch_ref(world.git, repo, std::move(ref), deadline));
            CO_TRY(known, co_await git::commit_of(world.git, repo, pull.commit));
        }
        CO_TRY(const auto contained, co_await git::has_commit(world.git, repo, pull.commit, tip));
        if (!contained) {
            CO_TRY(const auto commits, co_await commits_after(world.git, repo, pull.commit, tip));
            auto named = commits;
            if (named.size() > k_named_commits) named.resize(k_named_commits);
            left.push_back(counted(commits.size(), "commit") + " of " + record.task.branch + " (" + join(named, ", ") +
                           (named.size() < commits.size() ? ", …)" : ")"));
        }
    }
    const auto& workspace = record.task.workspace;
    const bool is_there = workspace && !is_missing(world.files, world.pool.path_of(*workspace));
    if (is_there && mirror_of(world, record)) {
        CO_TRY(auto worktree, co_await open_worktree(world, record));
        CO_TRY(const auto dirty, co_await git::is_dirty(world.git, std::move(worktree)));
        if (dirty) left.push_back("uncommitted changes in its worktree");
        CO_TRY(const auto other, co_await other_branch_of(world, record));
        if (other) left.push_back("commits in its worktree (" + other->text + ")");
    }
    co_return left;
}

bool note(TaskRecord& record, const PullRequest& pull) {
    auto noted = pull;
    const auto& before = record.pull_request;
    noted.said = before && before->number == pull.number ? before->said : std::string();
    if (before == noted && record.task.pr_url == pull.url) return false;
    record.pull_request = std::move(noted);
    record.task.pr_url = pull.url;
    return true;
}

Awaitable<void> find_bases(World& world, Project project, std::vector<PullThread>& threads) {
    std::map<std::string, std::string> bases;
    for (auto& thread : threads) {
        auto& commit = thread.anchor.commit;
        if (thread.anchor.side != DiffSide::before || commit.empty()) continue;
        if (!bases.contains(commit)) bases[commit] = co_await base_of_commit(world, project, commit);
        commit = bases[commit];
    }
}

bool may_be_open(const TaskRecord& record) {
    return record.task.pr_url && (!record.pull_request || record.pull_request->state == PullState::open);
}

std::string name_of(const PullRequest& pull) {
    return pull_name(std::to_string(pull.number), pull.url);
}

}  // namespace orange::pulls
