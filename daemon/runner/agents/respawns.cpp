#include "daemon/runner/agents/respawns.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/try.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {

bool Respawns::is_dead(const TaskRecord& record, Role role) const {
    if (const auto* run = record.run_of(role)) {
        return !run->ending && world_.launcher.liveness(*run) == agents::Liveness::dead;
    }
    if (record.held_start(role)) return false;
    if (record.died.contains(role)) return true;
    if (record.intent || record.stopped) return false;  // the actions have not started it yet, or a human ended it
    const auto definition = turns_.definition_of(record.task);
    const auto* state = definition ? (*definition)->state(record.task.status) : nullptr;
    return state && state->agent == role;
}

std::vector<TaskId> Respawns::with_dead_agents() const {
    std::vector<TaskId> found;
    for (const auto& id : world_.tasks.active()) {
        const auto record = world_.tasks.awake(id);
        if (!record) continue;
        const bool worker = is_dead(*record, Role::worker), reviewer = is_dead(*record, Role::reviewer);
        if (!worker && !reviewer) continue;
        const auto definition = turns_.definition_of(record->task);
        const auto need = definition ? engine::respawn_need(**definition, record->task) : definition.error();
        if (!need || (need->role == Role::reviewer ? reviewer : worker)) found.push_back(id);
    }
    return found;
}

Awaitable<Result<Role>> Respawns::start_again(TaskRecord& record, const engine::Definition& definition, bool fresh) {
    CO_TRY(const auto need, engine::respawn_need(definition, record.task, record.queued));
    const auto role = need.role;
    if (runner_.agents.alive(record, role)) {
        co_return Error(ErrorCode::conflict, "the " + name_text(role) + " of task " + record.task.id.value +
                                                 " is running. To open its terminal:\n  orange task attach " +
                                                 record.task.id.value);
    }
    SpawnOrder order;
    order.role = role;
    order.prompt = need.prompt;
    order.respawn = true;
    order.resume = !fresh;
    if (runner_.capacity.is_paused(record)) {  // after a usage limit, the human lets it continue
        for (auto& start : record.held) start.since = world_.clock.now();
        (void)clear(record, NoticeKind::usage_limit);
    }
    if (const auto* held = record.held_start(role)) {  // it was not started yet
        order = order_of(*held);
        order.resume = held->resume && !fresh;
    }
    CO_TRY(co_await runner_.agents.spawn(record, definition, order));
    co_return role;
}

Awaitable<Result<Outcome>> Respawns::respawn(TaskId id, Caller by, bool fresh) {
    // Look before the lock is taken: Orange itself may start the agent again while this call waits.
    const auto seen = turns_.record_of(id);
    std::set<Role> dead;
    for (const Role role : {Role::worker, Role::reviewer}) {
        if (seen && is_dead(*seen, role)) dead.insert(role);
    }
    CO_TRY(auto turn, co_await runner_.transitions.begin_turn(id));
    auto& record = turn.record;
    CO_TRY(const auto definition, turns_.definition_of(record.task));
    CO_TRY(const auto need, engine::respawn_need(*definition, record.task, record.queued));
    Outcome outcome;
    const auto role = name_text(need.role);
    if (dead.contains(need.role) && runner_.agents.alive(record, need.role)) {
        outcome.notes = {"Orange has already restarted the " + role};
        co_return outcome;
    }
    if (by.role == Role::human) {
        if (auto pass = runner_.budgets.let_pass(record); !pass.empty()) outcome.notes.push_back(std::move(pass));
    }
    const bool has_workspace = record.task.workspace.has_value();
    if (!runner_.agents.alive(record, need.role)) CO_TRY(co_await runner_.workspaces.make_ready(record, outcome));
    if (const auto started = co_await start_again(record, *definition, fresh); !started) {
        if (!has_workspace) {
            co_await runner_.transitions.release_unstarted(record, *definition);
            turns_.save(record);
        }
        co_return started.error();
    }
    record.died.clear();
    engine::clear_for_agents(record);
    record.stopped = false;
    keep_time(world_, turns_, record);
    record.task.updated_at = world_.clock.now();
    CO_TRY(turns_.try_save(record));
    log::info("runner", "respawned", {{"task", id.value}, {"by", name_text(by.role)}});
    if (record.held_start(need.role)) {
        const auto wait = runner_.capacity.wait_of(record);
        outcome.notes.push_back(wait ? waits_sentence(*wait, record.task.project) : "it starts in a moment");
        co_await turns_.show(record, &outcome);
        co_return outcome;
    }
    const auto* started = record.run_of(need.role);
    const bool resumed = started && started->resumed;
    outcome.notes.push_back("restarted the " + role + (resumed ? " in its previous conversation" : ""));
    co_await turns_.show(record, &outcome);
    co_return outcome;
}

Awaitable<Result<void>> Respawns::start_over(TaskId id, RunId run) {
    CO_TRY(auto turn, co_await runner_.transitions.begin_turn(id));
    auto& record = turn.record;
    const auto found =
        std::find_if(record.runs.begin(), record.runs.end(), [&](const AgentRun& each) { return each.run == run; });
    if (found == record.runs.end() || found->ending) co_return Result<void>{};
    CO_TRY(const auto definition, turns_.definition_of(record.task));
    SpawnOrder order;
    order.role = found->role;
    order.prompt = found->prompt;
    order.respawn = true;
    CO_TRY(co_await runner_.agents.end(record, order.role));
    CO_TRY(co_await runner_.agents.spawn(record, *definition, order));
    co_return Result<void>{};
}

Awaitable<Result<Outcome>> Respawns::stop(TaskId id) {
    CO_TRY(auto turn, co_await runner_.transitions.begin_turn(id));
    auto& record = turn.record;
    Outcome outcome;
    record.stopped = true;
    for (const auto& start : std::exchange(record.held, {})) {
        outcome.notes.push_back("the " + name_text(start.role) + " does not wait for its start any more");
    }
    for (const Role role : {Role::reviewer, Role::worker}) {
        if (!runner_.agents.alive(record, role)) continue;
        CO_TRY(co_await runner_.agents.end(record, role));
        outcome.notes.push_back("stopped the " + name_text(role));
    }
    if (outcome.notes.empty()) {
        co_return Error(ErrorCode::conflict, "task " + id.value + " has no running agent");
    }
    engine::clear_for_agents(record);
    keep_time(world_, turns_, record);
    record.task.updated_at = world_.clock.now();
    const auto asked = std::exchange(record.asked, std::nullopt);  // a stopped task does not move by itself
    CO_TRY(turns_.try_save(record));
    if (asked) {
        world_.journal.write(record, "status.dropped",
                             {{"to", asked->to}, {"commit", asked->commit}, {"why", std::string("it was stopped")}});
    }
    outcome.notes.push_back("To start it again:\n  orange task restart " + id.value);
    co_await turns_.show(record, &outcome);
    co_return outcome;
}

}  // namespace orange
