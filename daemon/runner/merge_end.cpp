#include <chrono>
#include <cstdlib>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/actions/actions.hpp"
#include "daemon/runner/merge_run.hpp"

/// What follows when a merge is published, and what one leaves that failed.
namespace orange {
namespace {

Caller merging_for(const Caller& human) {
    Caller caller = human;
    caller.role = Role::system;
    caller.evidence = "merge command of " + human.evidence;
    return caller;
}

/// A conflict or a refusal is the branch's or the remote's, and stands until somebody does something about it.
bool stands(const Error& error) {
    return error.details.contains("files") || error.details.contains("refused") || error.details.contains("raced");
}

}  // namespace

/// Published: nothing can refuse it any more. What comes now is repeated after a crash, and recognized.
Awaitable<Result<void>> Runner::complete_merge(MergeRun& run) {
    auto& merge = run.merge();
    co_await follow_locally(run);
    run.outcome.commit = merge.commit;
    run.outcome.pushed = merge.push && !merge.elsewhere;
    run.outcome.elsewhere = merge.elsewhere;
    run.outcome.forced = merge.forced;
    std::map<std::string, Scalar> fields = {{"commit", merge.commit}, {"pushed", run.outcome.pushed}, {"tx", merge.tx}};
    if (merge.elsewhere) fields["elsewhere"] = true;
    if (!merge.forced.empty()) fields["forced"] = merge.forced;
    CO_TRY(world_.journal.write_once(run.record, "task.merged", std::move(fields)));
    CO_TRY(const auto definition, definition_of(run.record.task));
    CO_TRY(auto stepped, co_await step_bodies(run.record));
    const engine::Situation situation{run.record.task, stepped.artifacts, run.record.entry_sections};
    auto decision = engine::decide_done(*definition, situation);
    if (!decision) {
        auto error = decision.error();
        error.message += "\nIts workflow has no way to done; give it another:\n  orange task update " +
                         run.record.task.id.value + " --workflow NAME";
        co_return error;
    }
    decision->actions.push_back({std::string(actions::k_retire_branch), {}, {}});
    auto finished = run.record;
    finished.merge->phase = MergePhase::done;
    auto by = merging_for(merge.by);
    run.turn.release();  // the workflow's hooks may take long
    CO_TRY(auto moved,
           co_await perform(std::move(finished), definition, std::move(*decision), std::move(stepped), std::move(by)));
    auto& notes = run.outcome.notes;
    notes.insert(notes.end(), moved.notes.begin(), moved.notes.end());
    co_return Result<void>{};
}

/// The local branch after the merge is published; whatever is in its way is the user's, and only told.
Awaitable<void> Runner::follow_locally(MergeRun& run) {
    const auto& merge = run.merge();
    if (!merge.push && !merge.elsewhere) co_return;  // that was the publication
    const auto lock = co_await world_.repositories.acquire(run.request.repo);
    auto to = merge.commit;
    if (merge.elsewhere) {
        const auto remote =
            co_await git::commit_of(world_.git, run.request.repo, "refs/remotes/origin/" + merge.target);
        if (remote && !remote->empty()) to = *remote;
    }
    const auto followed = co_await git::follow(world_.git, run.request, to);
    if (followed) co_return;
    const auto pull = "git -C " + shell_word(run.request.repo) + " pull ";
    const auto from = " origin " + shell_word(merge.target);  // it may follow no branch there
    const auto ahead = followed.error().details.find("ahead");
    if (ahead != followed.error().details.end()) {
        const auto count = static_cast<std::size_t>(std::atoi(ahead->second.c_str()));
        run.outcome.notes.push_back(merge.target + " has " + counted(count, "commit") + " that " +
                                    (count == 1 ? "is" : "are") + " not on origin; " +
                                    (count == 1 ? "it was" : "they were") + " left out. Next: " + pull + "--rebase" +
                                    from);
    } else {
        run.outcome.notes.push_back("origin has the merge, but your local " + merge.target + " was left as it is: " +
                                    followed.error().message + "\nThen: " + pull + "--ff-only" + from);
    }
}

Awaitable<Error> Runner::merge_failed(MergeRun& run, Error error, bool resumed) {
    const auto& id = run.record.task.id;
    if (run.arriving || run.merge().phase == MergePhase::pushed) {
        const bool known = run.merge().phase == MergePhase::pushed;
        error.message = "the merge of " + id.value +
                        (known ? " is published, but not finished: "
                               : " is not finished: whether it was published is not known: ") +
                        error.message + "\nThe daemon tries again by itself. To try now:\n  orange task merge " +
                        id.value;
        log::warn("runner", error.message, {{"task", id.value}});
        merge_tried_[id] = std::chrono::steady_clock::now();
        changed_(id);
        co_return error;
    }
    error = in_context("cannot merge " + id.value, std::move(error));
    auto record = record_of(id);
    if (!record) co_return error;
    record->task.attention = run.record.task.attention;
    record->merge = run.merge();
    record->merge->phase = MergePhase::failed;
    record->merge->failure = error.message;
    if ((stands(error) || resumed) && !record->task.attention) record->task.attention = error.message;
    if (auto saved = world_.tasks.save(*record); !saved) log::error("runner", saved.error().message);
    changed_(id);
    co_return error;
}

}  // namespace orange
