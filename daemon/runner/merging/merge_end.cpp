#include <chrono>
#include <cstdlib>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/committer.hpp"
#include "daemon/runner/actions/actions.hpp"
#include "daemon/runner/merging/merge_run.hpp"
#include "daemon/runner/runner.hpp"

/// The steps that follow when a merge is published.
namespace orange {
namespace {

Caller merging_for(const Caller& by) {
    if (by.role == Role::system) return by;
    Caller caller = by;
    caller.role = Role::system;
    caller.evidence = "merge command of " + by.evidence;
    return caller;
}

}  // namespace

/// The merge is published and cannot be undone. If a step fails, or the daemon dies, all steps are tried again, and
/// each recognises what was already done.
Awaitable<Result<void>> MergeRun::complete() {
    auto& merge = *record_.merge;
    co_await follow_locally();
    outcome.commit = merge.commit;
    outcome.pushed = merge.push && !merge.elsewhere && merge.pull == 0;
    outcome.elsewhere = merge.elsewhere;
    outcome.pull = merge.pull;
    outcome.forced = merge.forced;
    if (!missing_identity_.empty()) outcome.notes.push_back(identity_note());
    std::map<std::string, Scalar> fields = {{"commit", merge.commit}, {"pushed", outcome.pushed}, {"tx", merge.tx}};
    if (merge.elsewhere) fields["elsewhere"] = true;
    if (merge.pull != 0) fields["pull"] = merge.pull;
    if (!merge.forced.empty()) fields["forced"] = merge.forced;
    CO_TRY(world_.journal.write_once(record_, "task.merged", std::move(fields)));
    CO_TRY(const auto definition, world_.workflows.pinned(record_.task.workflow, record_.task.workflow_hash));
    CO_TRY(auto synced, co_await turns_.sync_bodies(record_));
    const engine::TransitionFacts given{record_.task, synced.artifacts, record_.entry_sections};
    auto decision = engine::decide_done(*definition, given);
    if (!decision) {
        auto error = decision.error();
        error.message +=
            "\nIts workflow has no transition to done. Move the task to another workflow:\n  orange task update " +
            record_.task.id.value + " --workflow NAME";
        co_return error;
    }
    decision->actions.push_back({std::string(actions::k_retire_branch), {}, {}});
    auto finished = record_;
    finished.merge->phase = MergePhase::done;
    auto by = merging_for(merge.by);
    turn_.release();  // the workflow's hooks may take long
    if (checks_place) checks_place->release();
    CO_TRY(auto moved, co_await runner_.transitions.perform(std::move(finished), definition, std::move(*decision),
                                                            std::move(synced), std::move(by)));
    auto& notes = outcome.notes;
    notes.insert(notes.end(), moved.notes.begin(), moved.notes.end());
    co_return Result<void>{};
}

std::string MergeRun::identity_note() const {
    return git::missing_text(missing_identity_) + ". To set yours:\n  " + git::missing_command(missing_identity_);
}

/// Moves the local branch after the merge is published. An obstacle is the user's to remove, and only becomes a note.
Awaitable<void> MergeRun::follow_locally() {
    const auto& merge = *record_.merge;
    const bool brought = merge.elsewhere || merge.pull != 0;  // this merge pushed nothing
    if (!merge.push && !brought) co_return;                   // the local branch was the publication
    if (merge.pull != 0) {
        const std::chrono::milliseconds deadline = k_fetch_deadline;
        const auto fetched = co_await git::fetch(world_.git, request_.repo, deadline);
        if (!fetched) outcome.notes.push_back("origin could not be fetched: " + first_line(fetched.error().message));
    }
    const auto lock = co_await world_.repositories.acquire(request_.repo);
    auto to = merge.commit;
    if (brought && request_.has_origin.value_or(false)) {
        const auto remote = co_await git::commit_of(world_.git, request_.repo, "refs/remotes/origin/" + merge.target);
        if (remote && !remote->empty()) to = *remote;
    }
    if (!brought) request_.base = merge.base;
    const auto followed = co_await git::follow(world_.git, request_, to);
    if (followed) co_return;
    const auto pull = "git -C " + shell_word(request_.repo) + " pull ";
    const auto from = " origin " + shell_word(merge.target);  // the local branch may have no upstream
    const auto ahead = followed.error().details.find("ahead");
    if (ahead != followed.error().details.end()) {
        const auto count = static_cast<std::size_t>(std::atoi(ahead->second.c_str()));
        outcome.notes.push_back(merge.target + " has " + counted(count, "commit") + " that " +
                                (count == 1 ? "is" : "are") + " not on origin; " +
                                (count == 1 ? "it was" : "they were") + " not merged. Next: " + pull + "--rebase" +
                                from);
    } else {
        outcome.notes.push_back("origin has the merge, but your local " + merge.target + " was not updated: " +
                                followed.error().message + "\nThen: " + pull + "--ff-only" + from);
    }
}

}  // namespace orange
