#include "daemon/engine/blocking.hpp"

#include <map>
#include <set>
#include <utility>

#include "common/base/orange_command.hpp"
#include "common/base/text.hpp"

namespace orange::engine {

std::string_view name_of(BlockerState state) {
    return state == BlockerState::open ? "open" : state == BlockerState::done ? "done" : "gone";
}

std::string gone_text(const std::vector<Blocker>& gone) {
    std::vector<std::string> fates, names;
    for (const auto& blocker : gone) {
        fates.push_back(blocker.short_id + " " + blocker.fate);
        names.push_back(blocker.short_id);
    }
    return "it waits for a task that will never be done: " + join(fates, ", and ") + ". Start it without (--unblock " +
           join(names, ",") + "), or cancel it (" + task_command("cancel").text() + ")";
}

std::vector<TaskId> cycle_through(const TaskId& task, const std::vector<TaskId>& blockers, const BlockersOf& of) {
    std::map<TaskId, TaskId> came_from;
    std::vector<TaskId> open;
    const auto look = [&](const TaskId& from, const std::vector<TaskId>& next) {
        for (const auto& id : next) {
            if (came_from.emplace(id, from).second) open.push_back(id);
        }
    };
    look(task, blockers);
    while (!open.empty() && !came_from.contains(task)) {
        const auto id = open.back();
        open.pop_back();
        look(id, of(id));
    }
    if (!came_from.contains(task)) return {};
    std::vector<TaskId> way = {task};
    do {
        way.insert(way.begin(), came_from.at(way.front()));
    } while (way.front() != task);
    return way;
}

Result<void> may_leave(const TaskRecord& record, const Definition& definition, const Decision& decision,
                       std::string why) {
    const auto* to = definition.state(decision.to);
    if (!record.blocked() || (to != nullptr && to->terminal)) return {};
    return {ErrorCode::guard_failed, std::move(why)};
}

}  // namespace orange::engine
