#pragma once

#include <string>
#include <vector>

#include "daemon/runner/family/family.hpp"
#include "tests/unit/runner/blocked_tasks.hpp"

/// Tasks that are parts of others.
namespace orange::test {

/// A sub-task that is not created yet, in the workflow relay, whose branch begins with its parent's as task.create has
/// it.
inline TaskRecord child_draft(RunnerWorld& world, const TaskId& parent, const std::vector<TaskId>& blockers = {}) {
    auto record = blocked_draft(world, blockers);
    adopt(world.house().world(), record, world.record(parent)).value();
    record.stacked_on = parent;
    record.task.base = "refs/heads/" + world.record(parent).task.branch;
    return record;
}

inline TaskId create_child(RunnerWorld& world, TaskRecord record, bool no_spawn = false) {
    const auto id = record.task.id;
    world.create(std::move(record), "", no_spawn).value();
    return id;
}

inline TaskId make_child(RunnerWorld& world, const TaskId& parent, bool no_spawn = true) {
    return create_child(world, child_draft(world, parent), no_spawn);
}

inline std::filesystem::path worktree_of(RunnerWorld& world, const TaskId& id) {
    return world.house().world().pool.path_of(*world.record(id).task.workspace);
}

/// A file of the task's own, committed.
inline void work_on(RunnerWorld& world, const TaskId& id) {
    world.git.commit(worktree_of(world, id), "of-" + id.value, "it\n");
}

struct Family {
    TaskId parent;
    std::vector<TaskId> children;
};

/// A task that waits for its sub-tasks, which are in the queue or worked on; with a commit of its own, or none.
inline Family split_into(RunnerWorld& world, std::size_t count, bool commits, int pool_size = 1) {
    auto record = world.draft("the whole", pool_size);
    record.task.workflow = "relay";
    Family family{record.task.id, {}};
    world.create(std::move(record), "", true).value();
    world.move(family.parent, "working").value();
    if (commits) work_on(world, family.parent);
    std::string lines = "\n## Subtasks\n";
    for (std::size_t i = 0; i < count; ++i) {
        family.children.push_back(make_child(world, family.parent, false));
        lines += "- " + family.children.back().value + "\n";
    }
    world.append_body(family.parent, lines);
    world.move(family.parent, "delegated").value();
    return family;
}

/// With a file of its own, as it is in its worktree.
inline void finish_child(RunnerWorld& world, const TaskId& id,
                         git::MergeStrategy strategy = git::MergeStrategy::merge) {
    work_on(world, id);
    merge_now(world, id, strategy);
}

}  // namespace orange::test
