#include <algorithm>
#include <chrono>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/agents/survivors.hpp"
#include "daemon/async/async.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/runner/merge_run.hpp"

/// A merge from its plan to its end. How far it has come is in the task's state.json (MergeRecord): each phase is saved
/// before what belongs to the next one begins. So a daemon that finds an unfinished merge knows what may have been
/// published, asks, and goes on from there; what it repeats recognizes what was done.
///
///     planned ── look, build ──► merged ── push until it lands ──► pushed ── follow, tell, transition ──► done
namespace orange {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds k_first_pause = 50ms, k_longest_pause = 1s;

/// Of a failed command only why: git's last words, without the command and its options.
std::string what_git_said(const Error& error) {
    std::string said;
    for (const auto line : split_lines(error.message)) {
        const auto fatal = line.find("fatal: ");
        if (fatal != std::string_view::npos && said.empty()) said = trim(line.substr(fatal + 7));
    }
    return said.empty() ? first_line(error.message) : said;
}

}  // namespace

/// Merges of this project that were not pushed: they are Orange's, not commits of the user's that must stay private.
std::map<std::string, std::string> Runner::unpushed_merges(const std::string& project) const {
    std::map<std::string, std::string> all;
    world_.tasks.each([&](const TaskRecord& record) {
        const auto& merge = record.merge;
        if (record.task.project == project && merge && merge->phase == MergePhase::done && !merge->push &&
            !merge->elsewhere) {
            all[merge->commit] = merge->base;
        }
        return true;
    });
    return all;
}

git::MergeRequest Runner::merge_request(const TaskRecord& record, const Project& project) const {
    git::MergeRequest request;
    request.repo = project.path;
    request.scratch = (world_.paths.workspaces() / (".merge-" + record.task.id.value)).string();
    request.branch = record.task.branch;
    request.tip = record.merge->tip;
    request.target = record.merge->target;
    request.push = record.merge->push;
    request.include_unpushed = record.merge->include_unpushed;
    request.unpushed = unpushed_merges(record.task.project);
    return request;
}

Awaitable<Result<MergeOutcome>> Runner::run_merge(TaskRecord record, std::vector<std::string> notes, MergeStart start) {
    const auto* project = world_.projects.find(record.task.project);
    if (!project) {
        co_return Error(ErrorCode::not_found, "project " + record.task.project + " is not registered");
    }
    const auto copy = *project;
    // One after the other: the second begins at what the first has pushed.
    auto turn = co_await merges_.acquire(copy.path);
    MergeRun run{record, copy, merge_request(record, copy), {}, std::move(turn)};
    run.outcome.notes = std::move(notes);
    run.force = start == MergeStart::forced;
    const bool resumed = start == MergeStart::resumed;
    run.arriving = run.merge().phase != MergePhase::planned;
    // A push of a killed daemon that is still under way would land behind the back of whoever looks now.
    if (resumed) co_await agents::end_left_by_daemons(copy.path, world_.pool.mark());
    auto done = world_.tasks.save(record);
    if (done) done = co_await merge_steps(run);
    if (done) co_return std::move(run.outcome);
    co_return co_await merge_failed(run, done.error(), resumed);
}

Awaitable<Result<void>> Runner::merge_steps(MergeRun& run) {
    if (run.merge().phase != MergePhase::pushed) {
        CO_TRY(co_await publish_merge(run));
        run.merge().phase = MergePhase::pushed;
        CO_TRY(world_.tasks.save(run.record));
    }
    co_return co_await complete_merge(run);
}

/// Success when the commit is where it is to be published. A lost race is no failure: it is built again on what has
/// won.
Awaitable<Result<void>> Runner::publish_merge(MergeRun& run) {
    const auto give_up = std::chrono::steady_clock::now() + world_.settings.push_patience;
    for (auto pause = k_first_pause;; pause = std::min(pause * 2, k_longest_pause)) {
        CO_TRY(const auto there, co_await is_published(run));
        if (there) co_return Result<void>{};
        run.arriving = false;
        auto ready = co_await build_merge(run);
        if (!ready || run.merge().elsewhere) co_return ready;
        run.arriving = true;
        CO_TRY(const auto pushed, co_await push_once(run));
        if (pushed.state == git::Pushed::landed) co_return Result<void>{};
        run.arriving = pushed.state == git::Pushed::unknown;
        if (std::chrono::steady_clock::now() > give_up) co_return not_landed(run, pushed);
        co_await async::sleep(pause);
    }
}

Error Runner::not_landed(MergeRun& run, const git::PushAnswer& answer) {
    if (answer.state == git::Pushed::raced) {
        return {ErrorCode::conflict,
                "origin's " + run.merge().target + " moved before each of " +
                    counted(static_cast<std::size_t>(run.merge().attempts), "attempt") + " (" + answer.why +
                    "). Try again:\n  orange task merge " + run.record.task.id.value,
                {{"raced", "true"}}};
    }
    return {ErrorCode::unavailable, "origin gave no answer: " + answer.why};
}

/// Fetches, too, so that what is looked at is as it is now.
Awaitable<Result<bool>> Runner::is_published(MergeRun& run) {
    const auto& repo = run.request.repo;
    CO_TRY(const auto origin, co_await git::has_origin(world_.git, repo));
    auto ref = "refs/heads/" + run.request.target;
    if (origin) {
        const std::chrono::milliseconds deadline = k_fetch_deadline;
        auto fetched = co_await git::fetch(world_.git, repo, deadline);
        if (!fetched && run.request.push) {
            co_return Error(ErrorCode::unavailable,
                            "origin does not answer: " + what_git_said(fetched.error()) +
                                "\nTo merge here alone:\n  orange task merge " + run.record.task.id.value +
                                " --no-push",
                            fetched.error().details);
        }
        if (!fetched)
            run.outcome.notes.push_back("origin could not be fetched: " + first_line(fetched.error().message));
    }
    if (run.request.push) ref = "refs/remotes/origin/" + run.request.target;
    co_return co_await git::has_commit(world_.git, repo, ref, run.merge().commit);
}

Awaitable<Result<git::PushAnswer>> Runner::push_once(MergeRun& run) {
    if (run.request.push) {
        auto pushed = co_await git::push_merge(world_.git, run.request, run.merge().commit, run.remote);
        if (!pushed) run.arriving = false;  // origin has refused it
        co_return pushed;
    }
    const auto lock = co_await world_.repositories.acquire(run.request.repo);
    const auto followed = co_await git::follow(world_.git, run.request, run.merge().commit);
    CO_TRY(const auto there, co_await git::has_commit(world_.git, run.request.repo, "refs/heads/" + run.request.target,
                                                      run.merge().commit));
    run.arriving = there;
    if (there) co_return git::PushAnswer{git::Pushed::landed, {}};
    if (!followed) co_return followed.error();
    co_return Error(ErrorCode::conflict, "there is no local branch " + run.request.target);
}

}  // namespace orange
