#include "daemon/runner/after_children.hpp"

#include <utility>

#include "common/base/try.hpp"
#include "daemon/engine/start.hpp"
#include "daemon/runner/children.hpp"
#include "daemon/runner/facts.hpp"

namespace orange {

Awaitable<Result<engine::ChildrenOutcome>> decide_after_children(World& world, Turns& turns, const TaskRecord& record) {
    CO_TRY(const auto definition, turns.definition_of(record.task));
    engine::Facts facts;
    facts.children = children_of(world, record);
    if (engine::have_come_back(*definition, record.task, facts.children)) {
        CO_TRY(facts.own_work, co_await has_own_work(world, record));
        facts.children = children_of(world, record);  // another one may have been created meanwhile
    }
    const engine::Artifacts none;
    const engine::Situation situation{record.task, none, record.entry_sections, facts};
    co_return engine::decide_children(*definition, situation);
}

bool wants_workspace(const TaskRecord& record, const engine::ChildrenOutcome& outcome) {
    const auto* decision = std::get_if<engine::Decision>(&outcome);
    return decision != nullptr && !record.task.workspace && engine::needs_workspace(*decision);
}

Awaitable<Result<Outcome>> move_after_children(World& world, Turns& turns, Transitions& transitions,
                                               TaskRecord record) {
    CO_TRY(auto outcome, co_await decide_after_children(world, turns, record));
    auto* decision = std::get_if<engine::Decision>(&outcome);
    if (decision == nullptr) {
        if (std::exchange(record.queued, false)) CO_TRY(turns.try_save(record));
        co_return Outcome{};
    }
    CO_TRY(const auto definition, turns.definition_of(record.task));
    CO_TRY(auto stepped, co_await turns.step_bodies(record));
    Caller by;
    by.role = Role::system;
    by.evidence = "sub-tasks";
    co_return co_await transitions.perform(std::move(record), definition, std::move(*decision), std::move(stepped), by);
}

}  // namespace orange
