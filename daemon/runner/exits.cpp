#include <algorithm>
#include <filesystem>

#include "common/base/try.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/actions/actions.hpp"
#include "daemon/runner/programs.hpp"
#include "daemon/runner/runner.hpp"

/// What follows from an agent's death. Exit notification and poll both end in agent_exited(); the run's entry in
/// state.json is what makes a death count once: it goes in the same write that counts it.
namespace orange {
namespace {

using namespace std::chrono_literals;

constexpr auto k_mass_death_window = 10s;
constexpr std::size_t k_mass_death_least = 5;

Caller exit_monitor(const AgentRun& run) {
    Caller caller;
    caller.role = Role::system;
    caller.evidence = "exit of " + std::string(name_of(run.role)) + " run " + run.run.value;
    return caller;
}

/// An agent that left its artifact has finished, as has one that ended well while nothing was expected of it. Every
/// other end that Orange did not bring about is a death.
bool has_died(const engine::ExitOutcome& outcome, const engine::AgentExit& exit) {
    if (const auto* advance = std::get_if<engine::Advance>(&outcome)) return advance->crash.has_value();
    return !std::holds_alternative<engine::NothingToDo>(outcome) || exit.exit_status != 0;
}

/// What agent.crashed says: all that agent.exited says, and what it counts as.
std::map<std::string, Scalar> crash_fields(std::map<std::string, Scalar> exited, const TaskRecord& record,
                                           const engine::Crash& crash) {
    exited["status"] = record.task.status;
    exited["crash_count"] = crash.crash_count;
    exited["reason"] = crash.reason;
    return exited;
}

/// The run leaves the record, and its death stays in it until an agent of that role is started or released.
void forget_run(TaskRecord& record, const AgentRun& run, bool died) {
    std::erase_if(record.runs, [&](const AgentRun& one) { return one.run == run.run; });
    if (record.runs.empty()) record.task.tmux_session.reset();
    record.died.erase(run.role);
    if (died && !record.ended) record.died.insert(run.role);
}

}  // namespace

bool Runner::is_dead(const TaskRecord& record, Role role) {
    if (const auto* run = record.run_of(role)) {
        return !run->ending && world_.launcher.liveness(*run) == agents::Liveness::dead;
    }
    if (record.died.contains(role)) return true;
    if (record.intent) return false;  // its actions have still to start the agent
    const auto definition = definition_of(record.task);
    const auto* state = definition ? (*definition)->state(record.task.status) : nullptr;
    return state && state->agent == role;
}

Awaitable<void> Runner::agent_exited(TaskId id, RunId run_id) {
    const auto lock = co_await world_.task_locks.acquire(id.value);
    auto record = record_of(id);
    if (!record) co_return;
    const auto found =
        std::find_if(record->runs.begin(), record->runs.end(), [&](const AgentRun& run) { return run.run == run_id; });
    if (found == record->runs.end()) co_return;  // dealt with already
    const auto run = *found;
    if (world_.launcher.liveness(run) != agents::Liveness::dead) co_return;
    if (record->intent) co_return;                                // resume() comes first, and looks at the dead itself
    if (record->merge && record->merge->unfinished()) co_return;  // it ends the task, or the poll looks again
    co_await handle_exit(std::move(*record), run);
}

Awaitable<void> Runner::handle_exit(TaskRecord record, AgentRun run) {
    const bool lost = co_await world_.launcher.server_is_gone(run);
    const auto end = co_await world_.launcher.bury(run, agents_.run_folder(record), agents_.log_file(record, run),
                                                   agents_.worktree_of(record));
    auto stepped = co_await step_bodies(record);
    if (!stepped) log::error("runner", stepped.error().message);

    const auto role = std::string(name_of(run.role));
    std::map<std::string, Scalar> fields = {{"role", role}, {"run", run.run.value}};
    if (end.exit_status >= 0) fields["exit_status"] = std::int64_t{end.exit_status};
    if (!end.error.empty()) fields["error"] = end.error;

    auto definition = definition_of(record.task);
    const bool unreadable = !definition && definition.error().code == ErrorCode::io;  // and not lost
    if ((!stepped || unreadable) && !run.ending && !lost) {
        // Whether it left its artifact, and what that means, is not known: nothing is concluded, and the poll sees the
        // same death again.
        record = record_of(record.task.id).value();
        if (!record.task.attention) {
            const auto& what = stepped ? definition.error().message : stepped.error().message;
            record.task.attention =
                "the " + role + " ended, and " + (stepped ? "its workflow" : "TASK.md") + " cannot be read: " + what;
            if (auto saved = world_.tasks.save(record); !saved) log::error("runner", saved.error().message);
        }
        changed_(record.task.id);
        co_return;
    }
    if (run.ending || lost || !definition) {
        forget_run(record, run, !run.ending);
        if (lost && !run.ending) {
            record.task.attention = "the tmux server ended and took the " + role +
                                    " with it; start it again: orange task respawn " + record.task.id.value;
        } else if (!definition) {
            record.task.attention = "the " + role + " ended: " + definition.error().message;
        }
        if (auto saved = world_.tasks.save(record); !saved) {
            log::error("runner", saved.error().message);
            co_return;  // not counted: the poll sees the same death again
        }
        world_.journal.write(record, lost ? "session.lost" : "agent.exited", fields);
        changed_(record.task.id);
        co_return;
    }
    const engine::Situation situation{record.task, stepped->artifacts, record.entry_sections};
    const engine::AgentExit exit{run.role, end.exit_status};
    auto outcome = engine::decide_exit(**definition, situation, exit);
    forget_run(record, run, has_died(outcome, exit));

    if (auto* crash = std::get_if<engine::Crash>(&outcome)) {
        const auto counted = *crash;
        co_await handle_crash(std::move(record), *definition, run, counted, fields);
        co_return;
    }
    if (auto* dead = std::get_if<engine::MarkDead>(&outcome); dead && !record.task.attention) {
        const auto* state = (*definition)->state(record.task.status);
        if (state && state->agent == run.role) {
            record.task.attention = "the " + role + " ended (" + dead->reason +
                                    "); start it again: orange task respawn " + record.task.id.value;
        }
    }
    if (auto* advance = std::get_if<engine::Advance>(&outcome)) {
        co_await advance_after(std::move(record), *definition, std::move(*advance), std::move(*stepped), run, fields);
        co_return;
    }
    if (auto saved = world_.tasks.save(record); !saved) {
        log::error("runner", saved.error().message);
        co_return;  // not counted: the poll sees the same death again
    }
    world_.journal.write(record, "agent.exited", fields);
    changed_(record.task.id);
}

/// The run goes with the write that commits the transition: a daemon that died before it sees the same death again.
Awaitable<void> Runner::advance_after(TaskRecord record, workflow::Library::DefinitionPtr definition,
                                      engine::Advance advance, Stepped stepped, AgentRun run,
                                      std::map<std::string, Scalar> exited) {
    const auto note = [&](std::string type, std::map<std::string, Scalar> fields) {
        if (auto told = world_.journal.write_once(record, std::move(type), std::move(fields)); !told) {
            log::error("runner", told.error().message, {{"task", record.task.id.value}});
        }
    };
    note("agent.exited", exited);
    if (advance.crash) {
        record.task.counters["crash_count"] = advance.crash->crash_count;
        note("agent.crashed", crash_fields(std::move(exited), record, *advance.crash));
    }
    const auto by = exit_monitor(run);
    auto done = co_await perform(record, definition, std::move(advance.decision), std::move(stepped), by);
    if (done) co_return;
    log::error("runner", "auto-advance failed: " + done.error().message, {{"task", record.task.id.value}});
    if (done.error().code == ErrorCode::io) co_return;  // not committed: the poll sees the same death again
    record.task.attention =
        "the " + std::string(name_of(run.role)) + " ended, and the task could not be moved on: " + done.error().message;
    if (auto saved = world_.tasks.save(record); !saved) log::error("runner", saved.error().message);
    changed_(record.task.id);
}

Awaitable<void> Runner::handle_crash(TaskRecord record, workflow::Library::DefinitionPtr definition, AgentRun run,
                                     engine::Crash crash, std::map<std::string, Scalar> exited) {
    const auto role = std::string(name_of(run.role));
    const bool held_back = crash.respawn && many_die(run.run);
    record.task.counters["crash_count"] = crash.crash_count;
    record.task.attention = "the " + role + " crashed: " + crash.reason +
                            (held_back ? "; so many agents died at once that none is started again by itself" : "") +
                            "; start it again: orange task respawn " + record.task.id.value;
    // Until it is started again this is so: a daemon that dies in between leaves somebody to be told.
    if (auto saved = world_.tasks.save(record); !saved) {
        log::error("runner", saved.error().message);
        co_return;  // not counted: the poll sees the same death again
    }
    world_.journal.write(record, "agent.exited", exited);
    world_.journal.write(record, "agent.crashed", crash_fields(std::move(exited), record, crash));
    if (crash.respawn && !held_back) {
        const auto started = co_await start_again(record, *definition);
        record.task.attention.reset();
        if (!started) {
            record.task.attention =
                "the " + role + " crashed and could not be started again: " + started.error().message;
        }
        if (auto saved = world_.tasks.save(record); !saved) log::error("runner", saved.error().message);
    }
    if (auto again = co_await step_bodies(record); !again) log::error("runner", again.error().message);
    changed_(record.task.id);
}

bool Runner::many_die(const RunId& run) {
    const auto now = std::chrono::steady_clock::now();
    recent_crashes_.try_emplace(run.value, now);  // one that is seen again counts once
    std::erase_if(recent_crashes_, [&](const auto& crash) { return now - crash.second > k_mass_death_window; });
    std::size_t alive = 0;
    for (const auto& id : world_.tasks.active()) {
        const auto* record = world_.tasks.find(id);
        for (const Role role : {Role::worker, Role::reviewer}) {
            if (record && agents_.alive(*record, role)) ++alive;
        }
    }
    const auto all = alive + recent_crashes_.size();
    return all >= k_mass_death_least && recent_crashes_.size() * 2 >= all;
}

Awaitable<Result<Role>> Runner::start_again(TaskRecord& record, const engine::Definition& definition) {
    CO_TRY(const auto need, engine::respawn_need(definition, record.task));
    const auto role = need.role;
    if (agents_.alive(record, role)) {
        co_return Error(ErrorCode::conflict, "the " + std::string(name_of(role)) +
                                                 " is alive; look at it: orange task attach " + record.task.id.value);
    }
    SpawnOrder order;
    order.role = role;
    order.prompt = need.prompt;
    order.respawn = true;
    CO_TRY(co_await agents_.spawn(record, definition, order));
    co_return role;
}

Awaitable<Result<void>> Runner::take_workspace(TaskRecord& record, Outcome& outcome) {
    if (record.task.workspace) co_return Result<void>{};
    auto taken = co_await actions::prepare_workspace(world_, agents_, record);
    if (!taken) {
        auto error = in_context("task " + record.task.id.value + " has no workspace", taken.error());
        if (error.code == ErrorCode::pool_exhausted) {
            error.message += "; raise the limit: orange project update " + record.task.project + " --pool-size N";
        }
        co_return error;
    }
    co_await note_programs(world_, record);
    if (auto saved = world_.tasks.save(record); !saved) {
        Prepared unused;
        unused.workspace = *record.task.workspace;
        co_await give_back(record, unused);
        co_return saved.error();
    }
    world_.journal.write(record, "workspace.acquired", {{"workspace", *record.task.workspace}});
    outcome.notes = std::move(*taken);
    CO_TRY(co_await step_bodies(record));  // the agent reads TASK.md there
    co_return Result<void>{};
}

Awaitable<Result<Outcome>> Runner::respawn(TaskId id, Caller by) {
    // As the caller sees it: what died may be started again by Orange itself before the lock is free.
    const auto seen = record_of(id);
    std::set<Role> dead;
    for (const Role role : {Role::worker, Role::reviewer}) {
        if (seen && is_dead(*seen, role)) dead.insert(role);
    }
    const auto lock = co_await world_.task_locks.acquire(id.value);
    CO_TRY(auto record, co_await settled(id));
    CO_TRY(const auto definition, definition_of(record.task));
    CO_TRY(const auto need, engine::respawn_need(*definition, record.task));
    Outcome outcome;
    const auto role = std::string(name_of(need.role));
    if (dead.contains(need.role) && agents_.alive(record, need.role)) {
        outcome.notes = {"the " + role + " was started again by itself"};
        co_return outcome;
    }
    std::error_code error;
    if (!agents_.alive(record, need.role) && record.task.workspace &&
        !std::filesystem::exists(world_.pool.path_of(*record.task.workspace), error)) {
        CO_TRY(co_await remake_workspace(record));
        outcome.notes.push_back(*record.task.workspace + " was made anew: its folder was gone");
    }
    CO_TRY(co_await take_workspace(record, outcome));
    CO_TRY(co_await start_again(record, *definition));
    record.died.clear();
    record.task.attention.reset();
    record.task.updated_at = world_.clock.now();
    CO_TRY(world_.tasks.save(record));
    log::info("runner", "respawned", {{"task", id.value}, {"by", std::string(name_of(by.role))}});
    outcome.notes.push_back("the " + role + " was started again");
    co_await show(record, outcome);
    co_return outcome;
}

}  // namespace orange
