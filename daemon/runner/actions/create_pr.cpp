#include "common/base/try.hpp"
#include "daemon/git/publish.hpp"
#include "daemon/runner/actions/actions.hpp"
#include "daemon/runner/actions/pull_request_text.hpp"

namespace orange::actions {

/// Pushes the branch and opens its pull request, or adopts the open one that it has: after a crash between the two, or
/// when a human was faster. The repository is origin's, since that is where the branch was pushed.
Awaitable<Result<void>> create_pr(Context& context, const Action& action) {
    auto& record = context.record;
    CO_TRY(const auto project, project_of(context));
    CO_TRY(const auto url, co_await git::origin_url(context.world.git, project.path));
    if (url.empty()) {
        co_return Error(ErrorCode::not_found,
                        "the project has no remote called origin, so there is no place for a pull request; the branch "
                        "can be merged with: orange task merge " +
                            record.task.id.value);
    }
    CO_TRY(auto repository, github::repository_of(url));
    CO_TRY(co_await push_branch(context, action));

    CO_TRY(auto body, co_await pull_request_body(context, project));
    NewPullRequest request;
    request.repository = std::move(repository);
    request.base = project.default_branch;
    request.head = record.task.branch;
    request.title = record.task.summary.empty() ? record.task.branch : record.task.summary;
    request.body = std::move(body);
    auto opened = co_await github::open_pull_request(context.world.github, std::move(request));
    if (!opened) co_return in_context("the branch is pushed, but its pull request is not open", opened.error());
    record.task.pr_url = opened->url;
    co_return context.world.journal.write_once(record, "pr.created", {{"url", opened->url}});
}

}  // namespace orange::actions
