#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "daemon/async/keyed_mutex.hpp"
#include "daemon/git/merge.hpp"
#include "daemon/runner/merges.hpp"

namespace orange {

/// For a merge that somebody waits for.
inline constexpr std::chrono::milliseconds k_fetch_deadline = std::chrono::seconds(60);

/// The checks have not run on what the merge would publish: `details` has that commit (`untested`), its `tree`, and
/// what the branch is `merged_with`.
bool is_untested(const Error& error);

/// One merge at work, from its plan to its end. How far it has come is in the task's state.json (MergeRecord): each
/// phase is saved before what belongs to the next one begins. So a daemon that finds an unfinished merge knows what may
/// have been published, asks, and goes on from there; what it repeats recognizes what was done.
///
///     planned ── look, build ──► merged ── push until it lands ──► pushed ── follow, tell, transition ──► done
///
/// merge_run.cpp has the phases, merge_commit.cpp the commit that is published, merge_pull.cpp a merge that the forge
/// makes, merge_end.cpp what follows.
class MergeRun {
  public:
    /// `turn`: one merge of a repository at a time. `force`: a human has confirmed whatever is found out.
    MergeRun(World& world, Turns& turns, Transitions& transitions, TaskRecord& record, git::MergeRequest request,
             async::Mutex::Lock turn, bool force);

    /// From the phase that it is in to its end. Failing, it is to be undone unless it may_be_published().
    Awaitable<Result<void>> go_on();
    /// Nothing is undone on a mere suspicion.
    bool may_be_published() const { return arriving_ || record_.merge->phase == MergePhase::pushed; }

    const TaskRecord& record() const { return record_; }
    MergeRecord& merge() { return *record_.merge; }
    MergeOutcome outcome;
    async::Mutex::Lock* checks_place = nullptr;  ///< released when the merge is published

  private:
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
    /// Who resolves it: the worker; else the human, in the worktree.
    Error with_next_step(Error conflict);
    std::string giving_back(const std::string& conflicting);

    Awaitable<Result<void>> complete();
    Awaitable<void> follow_locally();

    World& world_;
    Turns& turns_;
    Transitions& transitions_;
    TaskRecord& record_;
    git::MergeRequest request_;
    async::Mutex::Lock turn_;
    bool force_;
    bool arriving_;                              ///< the commit may have been published
    bool not_signed_ = false;                    ///< a human has accepted that the commit is not signed
    bool looked_ = false;                        ///< whether the work is there already was asked in full
    std::vector<std::string> missing_identity_;  ///< of the user, in the commit that was built
    std::string remote_;                         ///< where origin's target was at the last look
};

}  // namespace orange
