#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "daemon/async/keyed_mutex.hpp"
#include "daemon/git/merge.hpp"
#include "daemon/runner/merging/merges.hpp"

namespace orange {

/// The deadline of a fetch during a merge that a caller waits for.
inline constexpr std::chrono::milliseconds k_fetch_deadline = std::chrono::seconds(60);

/// True if the checks have not run on what the merge would publish. `details` then has the commit (`untested`), its
/// `tree`, and the name that the branch is `merged_with`.
bool is_untested(const Error& error);

/// One merge at work, from its plan to its end. How far it has come is in the task's state.json (MergeRecord): each
/// phase is saved before what belongs to the next one begins. So a daemon that finds an unfinished merge knows what may
/// have been published, asks, and goes on from there; what it repeats recognizes what was done.
///
///     planned ── look, build ──► merged ── push until it lands ──► pushed ── follow, tell, transition ──► done
///
/// merge_run.cpp has the phases, merge_commit.cpp the commit that is published, merge_pull.cpp a merge that the forge
/// makes, merge_end.cpp what follows.
class MergeRun : Owner {
  public:
    /// `turn` ensures that one merge of a repository runs at a time. `force`: a human has confirmed all concerns, also
    /// those that are found later.
    MergeRun(Runner& runner, TaskRecord& record, git::MergeRequest request, async::Mutex::Lock turn, bool force);

    /// Runs the merge from its saved phase to its end. After a failure the caller undoes the merge, unless it
    /// may_be_published().
    Awaitable<Result<void>> go_on();
    /// For a train: builds the commit on `base`, the result of the task before it, which conflicts name `shown`. Puts
    /// it into the merge, and saves and publishes nothing.
    Awaitable<Result<void>> build_on(std::string base, std::string shown);
    /// For a train: publishes the commit of the merge with all that it was built on, if the target still is at
    /// `expected` (of a push: origin's). Waits for an answer for a while. Saves nothing.
    Awaitable<Result<git::PushAnswer>> publish_built(std::string expected);

    /// True if the commit is published or may be. Then nothing is undone.
    bool may_be_published() const { return arriving_ || record_.merge->phase == MergePhase::pushed; }

    const TaskRecord& record() const { return record_; }
    MergeRecord& merge() { return *record_.merge; }
    MergeOutcome outcome;
    async::Mutex::Lock* checks_place = nullptr;  ///< released when the merge is published

  private:
    Awaitable<Result<void>> look_at_repository();
    Awaitable<Result<void>> publish();
    Awaitable<Result<bool>> is_published();
    Awaitable<Result<git::PushAnswer>> push_once();
    Result<void> check_target();
    Awaitable<Result<void>> publish_at_forge();
    Awaitable<Result<void>> merge_at_forge(ForgePlace place, PullRequest pull);
    Error not_landed(const git::PushAnswer& answer);

    Awaitable<Result<void>> build();
    Result<void> check_tip(const std::string& tip);
    Awaitable<Result<void>> find_elsewhere(std::string target);
    Awaitable<Result<void>> check_own_commits();
    Result<void> accept_unsigned(const std::string& why);
    Awaitable<Result<void>> check_result(std::string commit);
    Awaitable<Result<std::string>> commit_on(std::string base, bool may_have_it);
    /// Adds the command that resolves the conflict: for the worker, otherwise for the human in the worktree.
    Error with_next_step(Error conflict);
    std::string giving_back(const std::string& conflicting);

    Awaitable<Result<void>> complete();
    Awaitable<void> follow_locally();
    std::string identity_note() const;

    TaskRecord& record_;
    git::MergeRequest request_;
    async::Mutex::Lock turn_;
    bool force_;
    bool arriving_;                              ///< the commit may have been published
    bool not_signed_ = false;                    ///< a human has accepted that the commit is not signed
    bool looked_ = false;                        ///< the target was searched completely for the work
    std::vector<std::string> missing_identity_;  ///< settings of the user that the built commit needed
    std::string remote_;                         ///< origin's target at the last fetch
};

}  // namespace orange
