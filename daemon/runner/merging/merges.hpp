#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/async/keyed_mutex.hpp"
#include "daemon/engine/definition.hpp"
#include "daemon/forge/forge.hpp"
#include "daemon/git/merge.hpp"
#include "daemon/runner/checks/checks.hpp"
#include "daemon/runner/merging/merge_target.hpp"
#include "daemon/runner/transitions/turns.hpp"

/// Merges of tasks' branches: what has to hold before one begins (merges.cpp, merge_concerns.cpp, merge_checks.cpp),
/// one merge at work (merge_run.cpp, merge_commit.cpp, merge_end.cpp), and what an interrupted one leaves
/// (merge_recovery.cpp).
///
/// A merge is asked for by a human, or by the workflow. Before it begins, the engine must allow the transition, the
/// project's checks must have passed on the commit, and a human must have confirmed what is odd about it
/// (merge_concerns.hpp). Checks run without the task's lock; after them everything is decided again. Then MergeRun goes
/// from phase to phase, each saved before the next one begins. Until the commit may be published, a failure undoes the
/// merge; after that it is only ever finished. Merges into one repository run one after the other.
namespace orange {

class MergeRun;

/// The options of `orange task merge`.
struct MergeOrder {
    std::optional<git::MergeStrategy> strategy = {};  ///< unset: a merge commit, or what the forge prefers
    bool local = false;                               ///< without a query for a pull request
    bool via_pull = false;                            ///< at the forge, through its pull request
    bool force = false;                               ///< merge although there are concerns
    std::optional<bool> push = {};                    ///< to origin, if there is one; unset: the project's setting
    std::optional<bool> keep_branch = {};  ///< leave the local branch when the task is done; unset: the setting
    bool include_unpushed = false;         ///< publish the user's own commits of the target with it
    bool checks = true;                    ///< run the project's checks first, if they have not passed on the tip
    std::string tip = {};                  ///< the commit that the human was shown; empty: any
    std::string confirmed = {};            ///< the concerns that the human has confirmed, a line each
};

/// Returns a command such as "orange task merge 4f2a --via pr".
std::string merge_command(const TaskId& id, const char* option = "");
std::string merge_command(const TaskId& id, const MergeOrder& order);

struct MergeOutcome {
    std::string commit;      ///< the target's new commit, or the commit that brought the work
    bool pushed = false;     ///< origin has it too
    bool elsewhere = false;  ///< the target already had the work: nothing was merged
    std::int64_t pull = 0;   ///< the pull request that brought it; 0: none
    std::string forced;      ///< the concerns that were confirmed; empty: none
    std::vector<std::string> notes;
};

/// The merges of all tasks. Before any other change of a task, its caller gives up an unfinished merge with give_up().
class Merges : Owner {
  public:
    using Owner::Owner;

    /// Merges the task's branch and moves the task to `done`. Finishes an interrupted merge. Succeeds for a task that
    /// was already merged. needs_force names what a human has to confirm (`details`: facts, question, tip).
    Awaitable<Result<MergeOutcome>> merge(TaskId id, MergeOrder order, Caller by);

    /// The result of preview(): what is known here of a merge before it is asked for.
    struct Preview {
        std::string concerns;                ///< lines; empty: nothing has to be confirmed
        std::string confirms;                ///< MergeOrder::confirmed for them
        std::vector<std::string> conflicts;  ///< files that git cannot merge by itself, as far as it is known
    };
    /// Looks at what a merge of the commit would ask. Fetches and changes nothing. `tries`: also lets git merge,
    /// without a ref; a merge driver of the repository may run then.
    Awaitable<Result<Preview>> preview(TaskRecord record, std::string tip, bool tries);

    /// A task that may be merged together with others.
    struct Boarded {
        TaskRecord record;  ///< with the merge that is planned, which is not saved
        Project project;
        std::vector<std::string> notes;
    };
    /// Looks at a task as merge() does before it begins, and begins nothing. Nothing if the task has to be merged alone
    /// (trains.hpp). An Error is what merge() would say.
    Awaitable<Result<std::optional<Boarded>>> board(TaskId id, MergeOrder order, Caller by);
    /// Completes a merge that a train has published. Called under the task's lock; the record has its merge.
    Awaitable<Result<MergeOutcome>> complete_published(TaskRecord record, std::vector<std::string> notes);
    /// Acquires the repository's turn of merging. A caller that holds a task's lock, too, has taken that before.
    Awaitable<async::Mutex::Lock> repository_turn(const Project& project) {
        return repository_turns_.acquire(project.path);
    }
    git::MergeRequest request_for(const TaskRecord& record, const Project& project) const;

    /// Returns the needs_force of a task that could be merged otherwise. Begins nothing.
    Awaitable<Result<void>> check(TaskRecord record);

    /// Returns a sentence about a merge that was begun and not finished; empty if there is none.
    static std::string under_way(const TaskRecord& record);

    /// Undoes an unfinished merge in `record`, which the caller saves. Called under the task's lock before another
    /// change of the task. conflict if the merge is published; unavailable if that is unknown, unless `force`. Returns
    /// notes.
    Awaitable<Result<std::vector<std::string>>> give_up(TaskRecord& record, bool force);

    /// Finishes a merge that may have been published, and ends one as failed that was only planned. Called under the
    /// task's lock; after a failure at most once a minute.
    Awaitable<void> resume(TaskRecord record);

    /// Finishes the task, since its forge reports that this pull request was merged. Called under the task's lock.
    /// conflict if the task has ended, or, with the notice merged_without, if it has work that the pull request did not
    /// have. If `keep_branch` is unset, the project's setting counts.
    Awaitable<Result<MergeOutcome>> finish_merged(TaskRecord record, PullRequest pull, std::optional<bool> keep_branch,
                                                  Caller by);

    /// Removes what merges of killed daemons left beside the project's workspaces.
    Awaitable<void> remove_left(Project project);

  private:
    enum class Start { asked, forced, resumed };
    /// The result of the query for the task's pull request (merge_pull.cpp).
    struct PullFirst {
        std::optional<PullRequest> merged;   ///< it is merged: nothing is left to merge
        std::optional<PullRequest> through;  ///< it is open, and is to be merged
        PullMethod method = PullMethod::merge;
        std::vector<std::string> notes;
    };
    /// The state of one call on its way through checks to the merge.
    struct MergeAttempt {
        std::optional<CheckOrder> wanted;  ///< checks that have to pass before the merge is tried again
        Project project;
        MergeTarget target;
        PullFirst pull;
        async::Mutex::Lock place;  ///< the lock of the checks' own place
        bool has_place = false;
    };
    /// Looks at the task's project, branches and pull request, and puts the results into `tried`.
    Awaitable<Result<void>> look_first(TaskRecord& record, MergeOrder order, MergeAttempt& tried);
    /// Merges, unless checks have to pass first: then sets `tried.wanted` and returns an Error.
    Awaitable<Result<MergeOutcome>> attempt(TaskId id, MergeOrder order, Caller by, MergeAttempt& tried);
    /// Returns the project's checks that have to pass on this commit before its merge begins. Checks of the result come
    /// later.
    Awaitable<Result<std::optional<CheckOrder>>> checks_before(TaskRecord record, Project project, std::string tip,
                                                               bool via_pull);
    /// Returns the commit that may be merged, and puts the confirmed concerns into `merge.forced`. If checks of the
    /// workflow have to pass first, sets `tried.wanted` and returns an Error.
    Awaitable<Result<std::string>> confirmed_tip(TaskRecord& record, const engine::Definition& definition,
                                                 MergeOrder order, MergeRecord& merge, MergeAttempt& tried);
    Awaitable<Result<void>> check_own_branch(TaskRecord& record);
    /// Sets the commit that is to be merged. If checks have to pass first, sets `tried.wanted` and returns an Error.
    Awaitable<Result<void>> choose_tip(TaskRecord& record, const engine::Definition& definition, MergeOrder order,
                                       MergeRecord& merge, MergeAttempt& tried);
    /// Completes the record of a merge that may begin. Returns notes for the caller.
    Awaitable<Result<std::vector<std::string>>> plan(const TaskRecord& record, const MergeOrder& order,
                                                     MergeRecord& merge, const MergeAttempt& tried);
    std::map<std::string, std::string> unpushed(const Project& project, const std::string& target) const;
    Awaitable<Result<MergeOutcome>> run(TaskRecord record, std::vector<std::string> notes, Start start,
                                        async::Mutex::Lock* checks_place = nullptr);
    Error failed(MergeRun& run, Error error, bool resumed);
    /// Ends an unfinished merge of an earlier call: undoes it if nothing was published, otherwise finishes it.
    Awaitable<Result<MergeOutcome>> finish(TaskRecord record);
    Awaitable<Result<bool>> was_published(TaskRecord record, Project project);

    Awaitable<Result<PullFirst>> ask_pull_request(TaskRecord& record, Project project, MergeOrder order);

    /// One per repository, taken after a task's lock and before the repository's own.
    async::KeyedMutex repository_turns_{world_.executor};
    std::map<TaskId, async::Moment> tried_;  ///< the last tries of unfinished merges
};

}  // namespace orange
