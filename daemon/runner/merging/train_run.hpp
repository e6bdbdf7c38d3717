#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "daemon/git/merge.hpp"
#include "daemon/runner/checks/checks.hpp"
#include "daemon/runner/merging/merges.hpp"
#include "daemon/runner/merging/trains.hpp"

namespace orange {

/// One train of one project at work.
///
///     board ──► build ──► test ──► publish ──► build …, until no task is left
///                 │         └─ failed: half of them, at last one task, twice: that goes back
///                 └─ conflicts with the target: that task goes back
///
/// Each task is merged onto the result of the one before it, in git alone. A batch, which are the first tasks of this
/// chain, is tested by the last of its results. What passed is published with one push: first each task's record gets
/// its merge (MergeRecord with `train`), then the target moves by compare-and-swap, then each task is completed as
/// after a merge of its own (Merges::complete_published). If the target has moved, the chain is built again, and has to
/// pass again. No task's lock is held while checks run or the push does, so each task is looked at again before its
/// record is changed: one that has changed meanwhile is left out.
///
/// A train saves nothing before a batch has passed. A killed daemon leaves records whose merge is published or not,
/// which the next daemon finds out for each (merge_recovery.cpp): it completes the ones and undoes the others.
class TrainRun : Owner {
  public:
    /// `riding` has the tasks, which leave it as they leave the train.
    TrainRun(Runner& runner, Project project, MergeOrder order, Caller by,
             std::shared_ptr<std::map<TaskId, std::size_t>> riding, std::shared_ptr<std::set<TaskId>> publishing);

    /// Merges the tasks. Puts into `ends` what became of each, and into `alone` those that have to be merged alone.
    Awaitable<void> go(std::vector<TaskId> ids);

    std::vector<TrainEnd> ends;
    std::vector<TaskId> alone;

  private:
    struct Member {
        TaskRecord record;  ///< as it was boarded, with the merge that is planned
        std::vector<std::string> notes;
        std::vector<std::string> notes_of_build = {};
        bool was_sought = false;  ///< its work was searched for in the target
        bool is_gone = false;     ///< it is not in the train any more

        const TaskId& id() const { return record.task.id; }
        MergeRecord& merge() { return *record.merge; }
    };
    using Batch = std::vector<Member*>;

    Awaitable<void> board(std::vector<TaskId> ids);
    void drop_gone();
    std::string wall_of(const Task& task) const;
    /// Builds, tests and publishes once. After an Error the train ends.
    Awaitable<Result<void>> step();
    Result<void> doubt(const Batch& batch, const Error& why);

    Awaitable<Result<void>> build();
    Awaitable<Result<void>> fetch(const Member& first);
    Awaitable<Result<void>> look_at_target(const Member& first);
    Awaitable<Result<void>> couple(Member& member);
    Awaitable<Result<bool>> is_elsewhere(Member& member, std::string base);
    Awaitable<Result<bool>> is_as_boarded(const Member& member, TaskRecord record);
    Awaitable<bool> drop_changed();

    std::size_t size_of_batch() const;
    Awaitable<Result<bool>> test(Batch batch);
    const Member* carrier_of(const Batch& batch) const;
    std::string merged_with(const Batch& batch, const Member& one) const;
    Awaitable<void> blame(Batch batch);
    Awaitable<Result<void>> publish(Batch batch);
    Awaitable<Result<bool>> mark_all(Batch batch);
    Awaitable<Result<bool>> mark(const Batch& batch, Member& member);
    Awaitable<void> unmark(Batch batch);
    Awaitable<void> complete(Member& member);
    Awaitable<Result<git::PushAnswer>> push(const Member& last, bool& may_arrive);

    void leave(Member& member, Error why);
    void leave_all(const Error& why);
    Awaitable<void> send_back(Member& member, std::string reason, std::string details);
    Awaitable<void> note_failure(const Member& member, std::string why);
    std::string merged_before() const;

    Project project_;
    MergeOrder order_;
    Caller by_;
    std::shared_ptr<std::map<TaskId, std::size_t>> riding_;
    std::shared_ptr<std::set<TaskId>> publishing_;
    std::string id_;        ///< of the train
    engine::Argvs checks_;  ///< that have to pass; the same for the whole train
    std::string wall_;      ///< of those of its tasks that have one
    std::deque<std::unique_ptr<Member>> rest_;
    Batch chain_;                          ///< those of `rest_` that are merged onto one another
    git::MergeView view_;                  ///< of the target, when the chain was built
    std::string shown_;                    ///< "origin/main"
    CheckReport report_;                   ///< of the last test
    std::string tree_;                     ///< that was tested last
    std::map<std::string, int> failures_;  ///< of trees
    std::map<TaskId, int> failures_alone_;
    std::size_t suspects_ = 0;  ///< the first so many tasks of the chain fail together; 0: not known
    bool was_doubted_ = false;  ///< a task is left because nothing could be tested with it
    int races_ = 0;
    std::vector<std::string> merged_;  ///< short ids
};

}  // namespace orange
