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
#include "daemon/runner/checks.hpp"
#include "daemon/runner/merge_target.hpp"
#include "daemon/runner/transitions.hpp"
#include "daemon/runner/world.hpp"

/// Merging a task's branch: what has to hold before (merges.cpp, merge_concerns.cpp, merge_checks.cpp), one merge at
/// work (merge_run.cpp, merge_commit.cpp, merge_end.cpp), and what is left of one that was interrupted
/// (merge_recovery.cpp).
namespace orange {

class MergeRun;

/// The options of `orange task merge`.
struct MergeOrder {
    std::optional<git::MergeStrategy> strategy = {};  ///< nothing: a merge commit, or what the forge prefers
    bool local = false;                               ///< without asking for a pull request
    bool via_pull = false;                            ///< at the forge, by its pull request
    bool force = false;                               ///< merge although something has to be confirmed
    std::optional<bool> push = {};                    ///< to origin, if there is one; unset: the project's setting
    std::optional<bool> keep_branch = {};  ///< leave the local branch when the task is done; unset: the setting
    bool include_unpushed = false;         ///< publish the user's own commits of the target with it
    bool checks = true;                    ///< run the project's checks first, if they have not passed on the tip
    std::string tip = {};                  ///< the commit that the human was shown; empty: whichever
};

/// "orange task merge 4f2a --via pr".
std::string merge_command(const TaskId& id, const char* option = "");
std::string merge_command(const TaskId& id, const MergeOrder& order);

struct MergeOutcome {
    std::string commit;      ///< what the target is at, or the commit that brought the work
    bool pushed = false;     ///< origin has it too
    bool elsewhere = false;  ///< it was there already: nothing was merged
    std::int64_t pull = 0;   ///< the pull request that brought it; 0: none
    std::string forced;      ///< what was confirmed; empty: nothing had to be
    std::vector<std::string> notes;
};

/// The merges of all tasks. Whoever is about to do something else to a task asks here first (give_up).
class Merges {
  public:
    Merges(World& world, Turns& turns, Transitions& transitions, Checks& checks)
        : world_(world), turns_(turns), transitions_(transitions), checks_(checks), repository_turns_(world.executor) {}

    /// Merges the task's branch and moves it to `done`; finishes a merge that was interrupted; success for a task that
    /// was merged already. needs_force names what a human has to confirm (`details`: facts, question, tip).
    Awaitable<Result<MergeOutcome>> merge(TaskId id, MergeOrder order, Caller by);

    /// The same needs_force for a task that could be merged otherwise, without beginning anything.
    Awaitable<Result<void>> check(TaskRecord record);

    /// Makes a merge that has not begun to publish anything fail soon, for a task that is being given up.
    void stop(const TaskId& id) { checks_.stop(id); }

    /// A sentence about a merge that was begun and not finished; empty if there is none.
    static std::string under_way(const TaskRecord& record);

    /// Under the task's lock, before something else is done to it: undoes an unfinished merge in `record`, which the
    /// caller saves. conflict if it is published; unavailable if nobody can say so, unless `force`. Returns notes.
    Awaitable<Result<std::vector<std::string>>> give_up(TaskRecord& record, bool force);

    /// Under the task's lock: goes on with a merge that is not finished; from time to time only, if that fails.
    Awaitable<void> resume(TaskRecord record);

    /// Under the task's lock: the task is done, since its forge says that this pull request of its was merged.
    /// conflict if the task has ended, or, with the notice merged_without, if it has work that the pull request had
    /// not. `keep_branch`: unset: the project's setting.
    Awaitable<Result<MergeOutcome>> finish_merged(TaskRecord record, PullRequest pull, std::optional<bool> keep_branch,
                                                  Caller by);

    /// Removes what merges of killed daemons left in the project's repository and beside its workspaces.
    Awaitable<void> remove_left(Project project);

  private:
    enum class Start { asked, forced, resumed };
    /// The answer of the task's pull request to a merge (merge_pull.cpp).
    struct PullFirst {
        std::optional<PullRequest> merged;   ///< nothing is left to merge
        std::optional<PullRequest> through;  ///< the open one that is to be merged
        PullMethod method = PullMethod::merge;
        std::vector<std::string> notes;
    };
    /// The state of a call on its way through checks to the merge.
    struct Way {
        std::optional<CheckOrder> wanted;  ///< what has to pass before the merge can be tried again
        Project project;
        MergeTarget target;
        PullFirst pull;
        async::Mutex::Lock place;  ///< of the project's checks
        bool has_place = false;
    };
    /// Merges, unless checks have to pass first: an Error then, and `way.wanted`.
    Awaitable<Result<MergeOutcome>> attempt(TaskId id, MergeOrder order, Caller by, Way& way);
    /// The project's checks that have to pass on this commit before its merge begins; those of the result come later.
    Awaitable<Result<std::optional<CheckOrder>>> checks_before(TaskRecord record, Project project, std::string tip,
                                                               bool via_pull);
    /// The commit that may be merged; `merge.forced`: what had to be confirmed, and was. If checks of the workflow have
    /// to pass first, that is an Error, and `way.wanted` has them.
    Awaitable<Result<std::string>> confirmed_tip(TaskRecord& record, const engine::Definition& definition,
                                                 MergeOrder order, MergeRecord& merge, Way& way);
    Awaitable<Result<void>> check_own_branch(TaskRecord& record);
    /// Sets the commit that is to be merged. If checks have to pass first, that is an Error, and `way.wanted` has them.
    Awaitable<Result<void>> choose_tip(TaskRecord& record, const engine::Definition& definition, MergeOrder order,
                                       MergeRecord& merge, Way& way);
    /// Completes the record of a merge that may begin. Returns notes for the caller.
    Awaitable<Result<std::vector<std::string>>> plan(const TaskRecord& record, const MergeOrder& order,
                                                     MergeRecord& merge, const Way& way);
    std::map<std::string, std::string> unpushed(const Project& project, const std::string& target) const;
    git::MergeRequest request_for(const TaskRecord& record, const Project& project) const;
    Awaitable<Result<MergeOutcome>> run(TaskRecord record, std::vector<std::string> notes, Start start,
                                        async::Mutex::Lock* checks_place = nullptr);
    Error failed(MergeRun& run, Error error, bool resumed);
    /// A merge of an earlier call that is not finished: undone if nothing was published, else finished.
    Awaitable<Result<MergeOutcome>> finish(TaskRecord record);
    Awaitable<Result<bool>> was_published(TaskRecord record, Project project);

    Awaitable<Result<PullFirst>> ask_pull_request(TaskRecord& record, Project project, MergeOrder order);

    World& world_;
    Turns& turns_;
    Transitions& transitions_;
    Checks& checks_;
    async::KeyedMutex
        repository_turns_;  ///< one a repository, taken after a task's lock and before the repository's own
    std::map<TaskId, async::Moment> tried_;  ///< of unfinished merges
};

}  // namespace orange
