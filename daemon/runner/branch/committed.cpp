#include "daemon/runner/branch/committed.hpp"

#include <utility>

#include "common/base/try.hpp"
#include "daemon/git/refs.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/merging/merge_target.hpp"

namespace orange {
namespace {

using namespace std::chrono_literals;

const std::string k_heads = "refs/heads/";
constexpr auto k_quiet = 300ms;
constexpr int k_most_waits = 10;

bool are_equal(const Changes& a, const Changes& b) {
    return a.commits == b.commits && a.files == b.files && a.added == b.added && a.removed == b.removed;
}

}  // namespace

void Committed::moved(const std::string& project) {
    moved_.insert(project);
    ++calls_;
    if (std::exchange(counting_, true)) return;
    async::spawn(world_.executor, "counting changes", count());
}

/// Waits until moved() is not called for 300 ms, at most 3 s. Returns false if the daemon ends.
Awaitable<bool> Committed::is_quiet() {
    for (int waits = 0; waits < k_most_waits; ++waits) {
        const auto calls = calls_;
        const bool slept = co_await async::sleep(k_quiet);
        if (!slept) co_return false;
        if (calls == calls_) break;
    }
    co_return true;
}

Awaitable<void> Committed::count() {
    while (!moved_.empty()) {
        const bool goes_on = co_await is_quiet();
        if (!goes_on) break;
        const auto projects = std::exchange(moved_, {});
        for (const auto& project : projects) {
            std::vector<TaskId> ids;
            world_.tasks.each_open([&](const TaskRecord& record) {
                if (record.task.project == project && !store::has_ended(record)) ids.push_back(record.task.id);
                return true;
            });
            if (ids.empty()) continue;
            auto name = project;
            const auto done = co_await refresh(std::move(name), std::move(ids));
            if (!done) log::debug("counts", done.error().message, {{"project", project}});
            if (done && observer_) observer_(project);
        }
    }
    counting_ = false;
}

void Committed::store(const TaskId& id, Counted counted) {
    auto& known = counted_[id];
    const bool differs = !are_equal(known.changes, counted.changes);
    known = std::move(counted);
    const auto* task = world_.tasks.brief(id);
    if (!differs || !task) return;
    HistoryEvent event;
    event.type = "changes.counted";
    event.fields = {{"commits", known.changes.commits},
                    {"files", known.changes.files},
                    {"added", known.changes.added},
                    {"removed", known.changes.removed}};
    world_.journal.publish(id, task->project, std::move(event));
}

Awaitable<Result<void>> Committed::refresh(std::string project, std::vector<TaskId> ids) {
    CO_TRY(const auto copy, registered_project(world_, project));
    const auto repository = copy.path, default_branch = copy.default_branch;
    auto names = git::refs_of_branch(default_branch);
    std::vector<store::RecordPtr> tasks;
    for (const auto& id : ids) {
        auto record = world_.tasks.read(id).value_or(nullptr);
        if (!record) continue;
        names.push_back(k_heads + record->task.branch);
        if (record->task.base) names.push_back(*record->task.base);
        const auto target = merge_target(world_, *record, copy);
        if (target.is_parents()) names.push_back(k_heads + target.branch);
        tasks.push_back(std::move(record));
    }
    CO_TRY(const auto refs, co_await git::refs(world_.git, repository, std::move(names)));
    CO_TRY(const auto base,
           co_await git::base_of(world_.git, repository, default_branch, refs, merges_of(world_, copy)));
    const auto now = world_.clock.now();
    for (const auto& record : tasks) {
        const auto& id = record->task.id;
        const auto tip = refs.find(k_heads + record->task.branch);
        if (tip == refs.end()) {
            counted_.erase(id);
            continue;
        }
        auto target = base.commit;
        const auto merged_into = merge_target(world_, *record, copy);
        const auto parents = refs.find(k_heads + merged_into.branch);
        if (merged_into.is_parents() && parents != refs.end()) target = parents->second.commit;
        const auto into = target;
        if (record->task.base) {
            const auto own = refs.find(*record->task.base);
            const bool is_commit = record->task.base->find('/') == std::string::npos;
            if (is_commit) target = *record->task.base;
            if (own != refs.end()) target = own->second.commit;  // a base that is gone was merged into the target
        }
        const auto known = counted_.find(id);
        if (known != counted_.end() && known->second.target == target && known->second.tip == tip->second.commit) {
            known->second.at = now;
            known->second.into = into;
            continue;
        }
        Counted counted{target, tip->second.commit, {}, now, into};
        if (counted.target != counted.tip) {
            auto before = known == counted_.end() ? Changes() : known->second.changes;
            auto changes =
                co_await committed_changes(world_, repository, counted.target, counted.tip, std::move(before));
            if (!changes) {
                counted_.erase(id);
                continue;
            }
            counted.changes = *changes;
        }
        store(id, std::move(counted));
    }
    std::erase_if(counted_, [&](const auto& entry) { return !world_.tasks.brief(entry.first); });
    co_return Result<void>{};
}

const Committed::Counted* Committed::of(const TaskId& id) const {
    const auto found = counted_.find(id);
    return found == counted_.end() || !world_.tasks.brief(id) ? nullptr : &found->second;
}

Changes Committed::known(const TaskId& id) const {
    const auto* counted = of(id);
    return counted ? counted->changes : Changes();
}

}  // namespace orange
