#include "daemon/runner/committed.hpp"

#include "common/base/try.hpp"
#include "daemon/git/refs.hpp"
#include "daemon/runner/merge_target.hpp"

namespace orange {
namespace {

const std::string k_heads = "refs/heads/";

}  // namespace

Awaitable<Result<void>> Committed::refresh(std::string project, std::vector<TaskId> ids) {
    CO_TRY(const auto copy, registered_project(world_, project));
    const auto repository = copy.path, default_branch = copy.default_branch;
    auto names = git::refs_of_branch(default_branch);
    for (const auto& id : ids) {
        const auto* record = world_.tasks.find(id);
        if (!record) continue;
        names.push_back(k_heads + record->task.branch);
        if (record->task.base) names.push_back(*record->task.base);
        const auto target = merge_target(world_, *record, copy);
        if (target.is_parents()) names.push_back(k_heads + target.branch);
    }
    CO_TRY(const auto refs, co_await git::refs(world_.git, repository, std::move(names)));
    CO_TRY(const auto base,
           co_await git::base_of(world_.git, repository, default_branch, refs, merges_of(world_, copy)));
    int left = k_most_at_once;
    for (const auto& id : ids) {
        const auto* record = world_.tasks.find(id);
        if (!record) continue;
        const auto tip = refs.find(k_heads + record->task.branch);
        if (tip == refs.end()) {
            counted_.erase(id);
            continue;
        }
        auto target = base.commit;
        const auto merged_into = merge_target(world_, *record, copy);
        const auto parents = refs.find(k_heads + merged_into.branch);
        if (merged_into.is_parents() && parents != refs.end()) target = parents->second.commit;
        if (record->task.base) {
            const auto own = refs.find(*record->task.base);
            const bool is_commit = record->task.base->find('/') == std::string::npos;
            if (is_commit) target = *record->task.base;
            if (own != refs.end()) target = own->second.commit;  // else it was merged, and its work is in the target
        }
        const auto known = counted_.find(id);
        if (known != counted_.end() && known->second.target == target && known->second.tip == tip->second.commit) {
            continue;
        }
        Counted counted{target, tip->second.commit, {}};
        if (counted.target != counted.tip) {
            if (left-- == 0) break;
            auto changes = co_await committed_changes(world_, repository, counted.target, counted.tip);
            if (!changes) {
                counted_.erase(id);
                continue;
            }
            counted.changes = *changes;
        }
        counted_[id] = std::move(counted);
    }
    std::erase_if(counted_, [&](const auto& entry) {
        const auto* record = world_.tasks.find(entry.first);
        return !record || store::has_ended(*record);
    });
    co_return Result<void>{};
}

const Changes* Committed::of(const TaskId& id) const {
    const auto found = counted_.find(id);
    return found == counted_.end() ? nullptr : &found->second.changes;
}

}  // namespace orange
