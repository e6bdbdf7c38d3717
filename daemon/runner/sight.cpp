#include "daemon/runner/sight.hpp"

namespace orange {

Needs needs_of(const Runner& runner, const TaskRecord& record) {
    const auto& task = record.task;
    const auto definition = runner.turns.definition_of(task);
    if (!definition) {
        return {Need::help, definition.error().message, "orange task update " + task.id.value + " --workflow default",
                record.entered_at.value_or(task.updated_at)};
    }
    engine::Sight sight;
    const auto* state = (*definition)->state(task.status);
    if (state && state->agent) sight.agent_alive = runner.agents.alive(record, *state->agent);
    if (state && !state->agent) sight.agent_alive = runner.agents.alive(record, Role::worker);
    sight.restarting = !sight.agent_alive && runner.exits.is_restarting(task.id);
    sight.under_way = Merges::under_way(record);
    if (runner.queue.is_starting(task.id)) sight.under_way = "its workspace is made ready";
    if (record.queued) {
        const auto* project = runner.world.projects.find(task.project);
        sight.room = project && runner.world.pool.free(*project) > 0;
        sight.queue_place = runner.world.tasks.queue_place(record);
    }
    return engine::needs_of(**definition, record, sight);
}

}  // namespace orange
