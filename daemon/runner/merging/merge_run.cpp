#include "daemon/runner/merging/merge_run.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/async/async.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/runner/merging/merge_target.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds k_first_pause = 50ms, k_longest_push_pause = 1s;

/// Returns the error for a merge of a train that is not published. It was built on the work of other tasks, and passed
/// the checks with that, so it is not built again without it.
Error train_has_ended(const TaskRecord& record) {
    return {ErrorCode::conflict,
            "it was not published together with the tasks that it was merged with. Try again:\n  " +
                merge_command(record.task.id)};
}

}  // namespace

MergeRun::MergeRun(Runner& runner, TaskRecord& record, git::MergeRequest request, async::Mutex::Lock turn, bool force)
    : Owner(runner),
      record_(record),
      request_(std::move(request)),
      turn_(std::move(turn)),
      force_(force),
      arriving_(record.merge->phase != MergePhase::planned) {}

Awaitable<Result<void>> MergeRun::look_at_repository() {
    CO_TRY(const auto repo, co_await world_.pool.known().inspect(world_.git, request_.repo));
    request_.git_dir = repo.git_dir;
    if (!request_.has_origin) request_.has_origin = repo.has_origin;
    co_return Result<void>{};
}

Awaitable<Result<void>> MergeRun::go_on() {
    CO_TRY(co_await look_at_repository());
    if (merge().phase != MergePhase::pushed) {
        if (merge().pull != 0) {
            CO_TRY(co_await publish_at_forge());
        } else {
            CO_TRY(co_await publish());
        }
        merge().phase = MergePhase::pushed;
        CO_TRY(turns_.try_save(record_));
    }
    co_return co_await complete();
}

/// Succeeds when the commit is published. A lost race is no failure: the merge is built again on the commit that won.
Awaitable<Result<void>> MergeRun::publish() {
    const auto give_up = async::now() + world_.settings.push_patience;
    for (auto pause = k_first_pause;; pause = std::min(pause * 2, k_longest_push_pause)) {
        CO_TRY(const auto there, co_await is_published());
        if (there) co_return Result<void>{};
        arriving_ = false;
        if (!merge().train.empty()) co_return train_has_ended(record_);
        auto ready = co_await build();
        if (!ready || merge().elsewhere) co_return ready;
        arriving_ = true;
        CO_TRY(const auto pushed, co_await push_once());
        if (pushed.state == git::Pushed::landed) co_return Result<void>{};
        arriving_ = pushed.state == git::Pushed::unknown;
        if (async::now() > give_up) co_return not_landed(pushed);
        co_await async::sleep(pause);
    }
}

Awaitable<Result<git::PushAnswer>> MergeRun::publish_built(std::string expected) {
    CO_TRY(co_await look_at_repository());
    remote_ = std::move(expected);
    const auto give_up = async::now() + world_.settings.push_patience;
    for (auto pause = k_first_pause;; pause = std::min(pause * 2, k_longest_push_pause)) {
        arriving_ = true;
        auto pushed = co_await push_once();
        const bool moved = !pushed && !request_.push && pushed.error().details.contains("ahead");
        if (moved) pushed = git::PushAnswer{git::Pushed::raced, first_line(pushed.error().message)};
        if (!pushed) co_return pushed;
        arriving_ = pushed->state != git::Pushed::raced;
        if (pushed->state != git::Pushed::unknown || async::now() > give_up) {
            if (pushed->state == git::Pushed::landed) co_await follow_locally();
            co_return pushed;
        }
        co_await async::sleep(pause);
        CO_TRY(const auto there, co_await is_published());
        if (there) {
            co_await follow_locally();
            co_return git::PushAnswer{git::Pushed::landed, {}};
        }
    }
}

Error MergeRun::not_landed(const git::PushAnswer& answer) {
    if (answer.state == git::Pushed::raced) {
        return {ErrorCode::conflict,
                "origin's " + merge().target + " moved before each of " +
                    counted(static_cast<std::size_t>(merge().attempts), "attempt") + " (" + answer.why +
                    "). Try again:\n  orange task merge " + record_.task.id.value,
                {{"raced", "true"}}};
    }
    return {ErrorCode::unavailable, "origin gave no answer: " + answer.why};
}

/// Fetches first, so that the answer is current.
Awaitable<Result<bool>> MergeRun::is_published() {
    const auto& repo = request_.repo;
    auto ref = "refs/heads/" + request_.target;
    if (request_.has_origin.value_or(false)) {
        const std::chrono::milliseconds deadline = k_fetch_deadline;
        auto fetched = co_await git::fetch(world_.git, repo, deadline);
        if (!fetched && request_.push) {
            co_return Error(ErrorCode::unavailable,
                            "origin does not answer: " + first_line(fetched.error().message) +
                                "\nTo merge without a push:\n  orange task merge " + record_.task.id.value +
                                " --no-push",
                            fetched.error().details);
        }
        if (!fetched) outcome.notes.push_back("origin could not be fetched: " + first_line(fetched.error().message));
    }
    if (request_.push) ref = "refs/remotes/origin/" + request_.target;
    co_return co_await git::has_commit(world_.git, repo, ref, merge().commit);
}

/// Checks a parent's branch under the repository's lock, which is also held while a worktree is put on a branch: no
/// agent works on the branch, and the parent is still merged from it.
Result<void> MergeRun::check_target() {
    const auto* project = world_.projects.find(record_.task.project);
    if (!project || !stays_local(record_, *project)) return {};
    const auto target = merge_target(world_, record_, *project);
    if (target.branch == merge().target) return check_parent_rests(world_, target);
    return {ErrorCode::conflict, "the task is not to be merged into " + merge().target + " any more, but into " +
                                     target.text() + ". Try again:\n  orange task merge " + record_.task.id.value};
}

Awaitable<Result<git::PushAnswer>> MergeRun::push_once() {
    if (request_.push) {
        auto pushed = co_await git::push_merge(world_.git, request_, merge().commit, remote_);
        if (!pushed) arriving_ = false;  // origin has refused it
        co_return pushed;
    }
    const auto lock = co_await world_.repositories.acquire(request_.repo);
    if (auto rests = check_target(); !rests) {
        arriving_ = false;
        co_return rests.error();
    }
    const auto followed = co_await git::follow(world_.git, request_, merge().commit);
    CO_TRY(const auto there,
           co_await git::has_commit(world_.git, request_.repo, "refs/heads/" + request_.target, merge().commit));
    arriving_ = there;
    if (there) co_return git::PushAnswer{git::Pushed::landed, {}};
    if (!followed) co_return followed.error();
    co_return Error(ErrorCode::conflict, "there is no local branch " + request_.target);
}

}  // namespace orange
