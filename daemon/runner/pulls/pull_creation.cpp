#include "daemon/runner/pulls/pulls.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/engine/permissions.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {
namespace {

Result<void> check_under_way(const engine::Definition& definition, const TaskRecord& record) {
    const auto& id = record.task.id.value;
    const auto* state = definition.state(record.task.status);
    if (state && state->meaning == engine::Meaning::initial) {
        return Error(ErrorCode::conflict, "task " + id + " is " + record.task.status +
                                              " and has no work yet. Start it:\n  orange task spawn " + id);
    }
    if (store::has_ended(record)) {
        return Error(ErrorCode::conflict, "task " + id + " is " + record.task.status +
                                              ". To go on with its work in a new task:\n  orange task restore " + id +
                                              " --create");
    }
    if (!record.merge || !record.merge->unfinished()) return {};
    return Error(ErrorCode::conflict,
                 "a merge of task " + id + " is not finished. Finish it:\n  orange task merge " + id);
}

/// Returns the state to which the workflow moves a task when its pull request is opened; empty: the task stays.
std::string step_that_opens(const engine::Definition& definition, const TaskRecord& record) {
    for (const auto& to : definition.targets_from(record.task.status)) {
        for (const auto* edge : definition.between(record.task.status, to)) {
            const bool opens = std::any_of(edge->hooks.begin(), edge->hooks.end(),
                                           [](const Action& hook) { return hook.name == "create_pr"; });
            if (opens && !edge->force && engine::may_ask(*edge, Role::human)) return to;
        }
    }
    return {};
}

std::string said(const TaskRecord& record, const pulls::Opened& opened) {
    if (!opened.pull) return pulls::pushed_only(record, opened.url);
    return (opened.adopted ? "pushed; " : "opened ") + pulls::name_of(*opened.pull) +
           (opened.adopted ? " was open already: " : ": ") + opened.url;
}

}  // namespace

Awaitable<Result<Outcome>> create_pull_request(Runner& runner, TaskId id, pulls::PullText text, Caller by) {
    auto& world = runner.world;
    CO_TRY(auto turn, co_await runner.transitions.begin_turn(id));
    auto& record = turn.record;
    CO_TRY(const auto definition, runner.turns.definition_of(record.task));
    CO_TRY(check_under_way(*definition, record));
    CO_TRY(const auto opened, co_await pulls::open(world, record, std::move(text)));
    if (opened.pull) CO_TRY(runner.turns.try_save(record));
    Outcome outcome;
    outcome.notes = {said(record, opened)};
    engine::Request request;
    request.to = opened.pull ? step_that_opens(*definition, record) : std::string();
    if (request.to.empty()) {
        co_await runner.turns.show(record, &outcome);
        co_return outcome;
    }
    Edit nothing;
    auto moved = co_await runner.transitions.request(record, request, by, std::move(nothing));
    if (!moved) {
        outcome.notes.push_back("the task stays in " + record.task.status + ": " + moved.error().message);
        co_await runner.turns.show(record, &outcome);
        co_return outcome;
    }
    outcome.notes.insert(outcome.notes.end(), moved->notes.begin(), moved->notes.end());
    outcome.spawn_error = moved->spawn_error;
    co_return outcome;
}

}  // namespace orange
