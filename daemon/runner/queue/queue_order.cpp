#include "daemon/runner/queue/queue_order.hpp"

#include <algorithm>
#include <set>

namespace orange::queue {
namespace {

int left(const std::map<Resource, int>& room, const Resource& resource) {
    const auto found = room.find(resource);
    return found == room.end() ? 1 : found->second;
}

bool fits(const std::map<Resource, int>& room, const Candidate& candidate) {
    return std::ranges::all_of(candidate.needs, [&](const Resource& need) { return left(room, need) > 0; });
}

bool competes(const Snapshot& snapshot, const Candidate& a, const Candidate& b) {
    return std::ranges::any_of(a.needs, [&](const Resource& need) {
        return snapshot.room.contains(need) && std::ranges::find(b.needs, need) != b.needs.end();
    });
}

}  // namespace

std::vector<TaskId> due(const Snapshot& snapshot) {
    std::vector<TaskId> ids;
    auto room = snapshot.room;
    for (const auto& task : snapshot.waiting) {
        if (task.starting || !fits(room, task)) continue;
        for (const auto& need : task.needs) {
            if (const auto found = room.find(need); found != room.end()) --found->second;
        }
        ids.push_back(task.id);
    }
    return ids;
}

std::vector<TaskId> held_back(const Snapshot& snapshot) {
    auto unlimited = snapshot;
    std::erase_if(unlimited.room, [](const auto& each) { return each.first.what != "workspace"; });
    const auto now = due(snapshot);
    const std::set<TaskId> starting(now.begin(), now.end());
    auto ids = due(unlimited);
    std::erase_if(ids, [&](const TaskId& id) { return starting.contains(id); });
    return ids;
}

bool is_next(const Snapshot& snapshot, const Candidate& newcomer) {
    if (!fits(snapshot.room, newcomer)) return false;
    for (const auto& task : snapshot.waiting) {
        if (task.id == newcomer.id) return true;
        if (!task.starting && competes(snapshot, task, newcomer)) return false;
    }
    return true;
}

}  // namespace orange::queue
