#include "daemon/runner/merging/merge_target.hpp"

#include "common/base/try.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/runner/family/attempts.hpp"

namespace orange {
namespace {

store::RecordPtr parent_to_merge_into(const World& world, const TaskRecord& record) {
    const auto parent = record.into_parent ? world.tasks.awake(task_above(world, record)) : nullptr;
    return parent && !store::has_ended(*parent) ? parent : nullptr;
}

}  // namespace

std::string waiting_state(const World& world, const TaskRecord& record) {
    const auto definition = world.workflows.pinned(record.task.workflow, record.task.workflow_hash);
    if (!definition) return {};
    for (const auto& state : (*definition)->states) {
        if (state.children) return state.name;
    }
    return {};
}

MergeTarget merge_target(const World& world, const TaskRecord& record, const Project& project) {
    const auto parent = parent_to_merge_into(world, record);
    return parent ? MergeTarget{parent->task.branch, parent->task.id} : MergeTarget{project.default_branch};
}

std::string parents_branch(const World& world, const TaskRecord& record) {
    const auto* project = record.into_parent ? world.projects.find(record.task.project) : nullptr;
    if (!project) return {};
    const bool merged = record.merge && record.merge->phase == MergePhase::done;
    const auto branch = merged ? record.merge->target : merge_target(world, record, *project).branch;
    return branch == project->default_branch ? std::string() : branch;
}

bool has_lost_its_target(const World& world, const TaskRecord& record) {
    return record.into_parent && !parent_to_merge_into(world, record);
}

bool stays_local(const TaskRecord& record, const Project& project) {
    return record.into_parent && record.merge && !record.merge->push && record.merge->target != project.default_branch;
}

Result<void> check_parent_rests(const World& world, const MergeTarget& target) {
    const auto parent = target.is_parents() ? world.tasks.awake(target.parent) : nullptr;
    if (!parent) return {};
    const auto& id = target.parent.value;
    if (parent->merge && parent->merge->unfinished()) {
        return {ErrorCode::conflict, "a merge of its parent, task " + id +
                                         ", is not finished. Finish that first:\n  orange task merge " + id};
    }
    if (!parent->task.workspace && !world.pool.has_claim(target.parent)) return {};
    const auto state = waiting_state(world, *parent);
    const auto when = state.empty() ? "it has no workspace" : "it has the status " + state;
    return Error(ErrorCode::conflict,
                 "task " + id +
                     " is still being worked on in its workspace. Its sub-tasks can be merged into its "
                     "branch " +
                     target.branch + " when " + when + ". To look at it:\n  orange task show " + id,
                 {{"why", "parent_at_work"}, {"parent", id}});
}

Awaitable<Result<MergeTarget>> existing_target(World& world, const TaskRecord& record, const Project& project) {
    auto target = merge_target(world, record, project);
    if (!target.is_parents()) co_return target;
    const auto repository = project.path, default_branch = project.default_branch;
    CO_TRY(const auto there, co_await git::commit_of(world.git, repository, "refs/heads/" + target.branch));
    if (there.empty()) target = MergeTarget{default_branch};
    co_return target;
}

Awaitable<Result<std::string>> target_ref(World& world, const TaskRecord& record, const Project& project) {
    const auto repository = project.path;
    CO_TRY(const auto target, co_await existing_target(world, record, project));
    if (target.is_parents()) co_return "refs/heads/" + target.branch;
    co_return co_await git::base_ref(world.git, repository, target.branch, merges_of(world, project));
}

}  // namespace orange
