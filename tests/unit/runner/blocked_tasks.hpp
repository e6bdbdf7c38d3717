#pragma once

#include <string>
#include <vector>

#include "daemon/runner/family/family.hpp"
#include "tests/unit/runner/changes.hpp"

/// Tasks that wait for others.
namespace orange::test {

/// Created with its blockers, and started when they are done unless `no_spawn`.
inline TaskRecord blocked_draft(RunnerWorld& world, const std::vector<TaskId>& blockers,
                                const std::string& branch = {}) {
    auto record = world.draft("it waits");
    record.task.workflow = "relay";
    if (!branch.empty()) record.task.branch = branch;
    std::vector<std::string> names;
    for (const auto& id : blockers) names.push_back(id.value);
    add_blockers(world.house().world(), record, names).value();
    return record;
}

inline TaskId make_blocked(RunnerWorld& world, const std::vector<TaskId>& blockers, bool no_spawn = false,
                           const std::string& branch = {}) {
    auto record = blocked_draft(world, blockers, branch);
    const auto id = record.task.id;
    world.create(std::move(record), "", no_spawn).value();
    return id;
}

inline void merge_now(RunnerWorld& world, const TaskId& id, git::MergeStrategy strategy = git::MergeStrategy::merge) {
    auto order = forced_order();
    order.strategy = strategy;
    world.house().go(world.house().runner().merges.merge(id, order, a_human())).value();
}

inline Result<Outcome> edit(RunnerWorld& world, const TaskId& id, const Edit& edit) {
    return world.house().go(world.house().runner().requests.edit(id, edit, a_human()));
}

inline Edit blocking(const std::vector<TaskId>& blockers) {
    Edit edit;
    for (const auto& id : blockers) edit.blocked_by.push_back(id.value);
    return edit;
}

inline Edit unblocking(const std::vector<TaskId>& blockers) {
    Edit edit;
    for (const auto& id : blockers) edit.unblock.push_back(id.value);
    return edit;
}

inline const Notice* notice_of(RunnerWorld& world, const TaskId& id, NoticeKind kind) {
    return engine::find_notice(world.record(id), kind);
}

}  // namespace orange::test
