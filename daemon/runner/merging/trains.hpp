#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "daemon/runner/merging/merges.hpp"
#include "daemon/runner/merging/train_order.hpp"
#include "daemon/runner/transitions/turns.hpp"

/// Trains: several tasks are merged with one request, each onto the result of the one before it (train_run.hpp). The
/// project's checks run on the results, of several tasks at once, and the default branch moves only to a result that
/// has passed. A task that conflicts, or with which they fail, goes back to its worker, and the others go on.
///
/// A task is part of a train if its project has checks that run on the results of merges, and if it is merged into the
/// default branch from here. The others are merged alone, at their place (Merges::merge).
namespace orange {

/// The end of one task of a request.
struct TrainEnd {
    enum class What {
        merged,
        back,  ///< its worker has it again
        left,  ///< it is not merged, or not to its end; `error` says why
    };
    TaskId id;
    What what = What::left;
    MergeOutcome outcome = {};        ///< of a merged one; of the others only the notes
    std::optional<Error> error = {};  ///< of the others: what is in the way
};

class Trains : Owner {
  public:
    using Owner::Owner;

    /// Returns the order in which merge() should get the tasks, with reasons. Each project's tasks are together.
    std::vector<TrainPlace> order(std::vector<TaskId> ids, bool as_given) const;

    /// Merges the tasks in this order: each project's tasks as one train, as far as they can be part of it.
    /// The merged ones come first, in the order of their merges.
    Awaitable<std::vector<TrainEnd>> merge(std::vector<TaskId> ids, MergeOrder order, Caller by);

    /// True while the merge of the task is published together with others. Nobody else may change it then.
    bool is_publishing(const TaskId& id) const { return publishing_->contains(id); }
    /// conflict while is_publishing().
    Result<void> check_not_published(const TaskId& id) const;

    /// Returns a clause about the train that the task is in; empty if it is in none.
    std::string under_way(const TaskId& id) const;
    bool any_under_way() const { return !riding_->empty(); }

  private:
    bool can_ride(const TaskId& id, const MergeOrder& order) const;
    Awaitable<void> merge_alone(TaskId id, MergeOrder order, Caller by, std::vector<TrainEnd>& ends);
    Awaitable<void> merge_together(std::vector<TaskId> ids, MergeOrder order, Caller by, std::vector<TrainEnd>& ends);

    /// The tasks of trains under way, with the number of tasks in theirs. Coroutines may outlive this object.
    std::shared_ptr<std::map<TaskId, std::size_t>> riding_ = std::make_shared<std::map<TaskId, std::size_t>>();
    std::shared_ptr<std::set<TaskId>> publishing_ = std::make_shared<std::set<TaskId>>();
};

}  // namespace orange
