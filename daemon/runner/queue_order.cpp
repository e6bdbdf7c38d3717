#include "daemon/runner/queue_order.hpp"

namespace orange::queue {

std::vector<TaskId> due(const Look& look) {
    std::vector<TaskId> ids;
    int room = look.free - look.unclaimed_starts;
    for (const auto& task : look.waiting) {
        if (task.starting) continue;
        if (!task.has_claim && room <= 0) continue;
        if (!task.has_claim) --room;
        ids.push_back(task.id);
    }
    return ids;
}

bool is_next(const Look& look, const TaskId& id) {
    if (look.free - look.unclaimed_starts <= 0) return false;
    for (const auto& task : look.waiting) {
        if (task.id == id) return true;
        if (!task.starting) return false;
    }
    return true;
}

}  // namespace orange::queue
