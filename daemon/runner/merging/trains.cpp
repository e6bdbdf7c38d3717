#include "daemon/runner/merging/trains.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "daemon/runner/family/attempts.hpp"
#include "daemon/runner/merging/merge_target.hpp"
#include "daemon/runner/merging/train_run.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {
namespace {

/// Returns the tasks among `ids` whose work has to be in the target before this one's.
std::vector<TaskId> merged_before(const World& world, const TaskRecord& record, const std::vector<TaskId>& ids) {
    std::vector<TaskId> before;
    for (const auto& id : ids) {
        const auto other = world.tasks.awake(id);
        const bool is_its_part = other && other->into_parent && task_above(world, *other) == record.task.id;
        if (is_its_part || id == record.task.on || (!id.empty() && id == record.stacked_on)) before.push_back(id);
    }
    return before;
}

/// The ids of each project's tasks; projects and tasks in the order in which they are given.
std::vector<std::pair<std::string, std::vector<TaskId>>> by_project(const World& world,
                                                                    const std::vector<TaskId>& ids) {
    std::vector<std::pair<std::string, std::vector<TaskId>>> all;
    for (const auto& id : ids) {
        const auto* task = world.tasks.brief(id);
        const auto name = task ? std::string(task->project.text()) : std::string();
        auto found = std::ranges::find(all, name, &std::pair<std::string, std::vector<TaskId>>::first);
        if (found == all.end()) found = all.insert(all.end(), {name, {}});
        found->second.push_back(id);
    }
    return all;
}

std::map<TaskId, std::string> statuses_of(const World& world, const std::vector<TaskId>& ids) {
    std::map<TaskId, std::string> statuses;
    for (const auto& id : ids) {
        if (const auto* task = world.tasks.brief(id)) statuses[id] = std::string(task->status.text());
    }
    return statuses;
}

/// A task that was moved since its merge was asked for, when it had the status `was`, is not merged by another try:
/// says only that. One that is done, or whose human has something to confirm, keeps its error.
void say_that_it_moved(const World& world, TrainEnd& end, const std::string& was) {
    const auto* task = world.tasks.brief(end.id);
    const bool is_other = task && end.what == TrainEnd::What::left && end.error && task->status.text() != was;
    if (!is_other || end.error->code == ErrorCode::needs_force) return;
    const auto definition = world.workflows.pinned(task->workflow, task->workflow_hash);
    const auto status = std::string(task->status.text());
    const bool is_cancelled = definition && (*definition)->means(status, engine::Meaning::cancelled);
    if (task->ended && !is_cancelled) return;
    end.error = Error(
        ErrorCode::conflict,
        "task " + end.id.value + (is_cancelled ? " was cancelled meanwhile" : " is " + printable(status) + " now"));
}

/// Keeps the tasks of a train in a map for the lifetime of this object.
class Riding {
  public:
    Riding(std::shared_ptr<std::map<TaskId, std::size_t>> all, std::vector<TaskId> ids)
        : all_(std::move(all)), ids_(std::move(ids)) {
        for (const auto& id : ids_) (*all_)[id] = ids_.size();
    }
    ~Riding() {
        for (const auto& id : ids_) all_->erase(id);
    }
    Riding(const Riding&) = delete;
    Riding& operator=(const Riding&) = delete;

  private:
    std::shared_ptr<std::map<TaskId, std::size_t>> all_;
    std::vector<TaskId> ids_;
};

}  // namespace

std::vector<TrainPlace> Trains::order(std::vector<TaskId> ids, bool as_given) const {
    if (!as_given) {
        std::ranges::stable_sort(ids, {}, [this](const TaskId& id) {
            const auto record = world_.tasks.awake(id);
            return record ? record->task.created_at : Timestamp::max();
        });
    }
    std::vector<TrainPlace> places;
    for (const auto& [project, of_project] : by_project(world_, ids)) {
        std::vector<TrainCar> cars;
        for (const auto& id : of_project) {
            TrainCar car{id, world_.tasks.short_id(id), runner_.forecast.of(id)};
            if (const auto record = world_.tasks.awake(id)) {
                car.after = merged_before(world_, *record, of_project);
                car.can_go_back = can_ride(id, {}) && !record->stands_on_other();
            }
            cars.push_back(std::move(car));
        }
        auto ordered = as_given ? train_as_given(std::move(cars)) : train_order(std::move(cars));
        std::ranges::move(ordered, std::back_inserter(places));
    }
    return places;
}

Result<void> Trains::check_not_published(const TaskId& id) const {
    if (!is_publishing(id)) return {};
    return {ErrorCode::conflict, "task " + id.value +
                                     " is merged right now, together with others. Try again in a moment; to see "
                                     "what became of it:\n  orange task show " +
                                     id.value};
}

std::string Trains::under_way(const TaskId& id) const {
    const auto found = riding_->find(id);
    if (found == riding_->end()) return {};
    return found->second == 1 ? "its merge is under way"
                              : "its merge is under way, with " + counted(found->second - 1, "other task");
}

bool Trains::can_ride(const TaskId& id, const MergeOrder& order) const {
    const auto record = world_.tasks.awake(id);
    const auto* project = record ? world_.projects.find(record->task.project) : nullptr;
    if (!project || !order.checks || order.via_pull) return false;
    if (record->task.pr_url && !order.local) return false;
    const auto settings = settings_of(world_, *project);
    return !settings.checks->empty() && *settings.merge_checks == "result" &&
           !merge_target(world_, *record, *project).is_parents();
}

Awaitable<std::vector<TrainEnd>> Trains::merge(std::vector<TaskId> ids, MergeOrder order, Caller by) {
    std::vector<TrainEnd> ends;
    const auto statuses = statuses_of(world_, ids);
    const auto projects = by_project(world_, ids);
    for (const auto& [project, of_project] : projects) {
        std::vector<TaskId> together;
        for (const auto& id : of_project) {
            if (can_ride(id, order)) {
                together.push_back(id);
                continue;
            }
            co_await merge_together(std::move(together), order, by, ends);
            together.clear();
            co_await merge_alone(id, order, by, ends);
        }
        co_await merge_together(std::move(together), order, by, ends);
    }
    for (auto& end : ends) {
        const auto was = statuses.find(end.id);
        if (was != statuses.end()) say_that_it_moved(world_, end, was->second);
    }
    // The merged ones stay in the order of their merges.
    std::ranges::stable_sort(ends, {}, [&](const TrainEnd& end) {
        return end.what == TrainEnd::What::merged ? 0 : 1 + (std::ranges::find(ids, end.id) - ids.begin());
    });
    co_return ends;
}

Awaitable<void> Trains::merge_alone(TaskId id, MergeOrder order, Caller by, std::vector<TrainEnd>& ends) {
    TrainEnd end{id};
    Result<MergeOutcome> merged = Error(ErrorCode::conflict, "the daemon ends");
    if (!runner_.checks.have_ended()) merged = co_await runner_.merges.merge(id, std::move(order), std::move(by));
    if (merged) {
        end.what = TrainEnd::What::merged;
        end.outcome = std::move(*merged);
    } else {
        end.error = merged.error();
    }
    ends.push_back(std::move(end));
}

Awaitable<void> Trains::merge_together(std::vector<TaskId> ids, MergeOrder order, Caller by,
                                       std::vector<TrainEnd>& ends) {
    if (ids.empty()) co_return;
    const auto record = world_.tasks.awake(ids.front());
    const auto* project = record ? world_.projects.find(record->task.project) : nullptr;
    std::vector<TaskId> alone = ids;
    if (project) {
        const Riding riding(riding_, ids);
        TrainRun train(runner_, *project, order, by, riding_, publishing_);
        co_await train.go(ids);
        std::ranges::move(train.ends, std::back_inserter(ends));
        alone = std::move(train.alone);
        // A task that is built on another one comes after that.
        std::ranges::stable_sort(alone, {}, [&](const TaskId& id) { return std::ranges::find(ids, id) - ids.begin(); });
    }
    for (const auto& id : alone) co_await merge_alone(id, order, by, ends);
}

}  // namespace orange
