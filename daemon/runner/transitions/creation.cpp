#include "daemon/runner/transitions/creation.hpp"

#include "common/base/sha256.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/engine/enter.hpp"
#include "daemon/engine/start.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/runner.hpp"
#include "daemon/runner/transitions/given_files.hpp"
#include "daemon/store/sections.hpp"
#include "daemon/store/task_folder.hpp"

namespace orange {

Result<void> Creation::tell_created(const TaskRecord& record) {
    TRY(auto events, world_.tasks.history(record.task.id, 1));
    if (!events.empty()) return {};
    std::map<std::string, Scalar> fields = {{"task_id", record.task.id.value},
                                            {"project", record.task.project},
                                            {"branch", record.task.branch},
                                            {"workflow", record.task.workflow}};
    if (record.task.base) fields["base"] = *record.task.base;
    if (!record.task.parent.empty()) fields["parent"] = record.task.parent.value;
    if (record.forked) {
        fields["commit"] = record.forked->commit;
        if (!record.forked->task.empty()) fields["fork_of"] = record.forked->task.value;
        if (record.forked->talk) fields["session"] = record.forked->talk->id;
    }
    world_.journal.write(record, "task.created", std::move(fields));
    return {};
}

/// The task was written in its target state, with the transition as its intent. Only the history is missing.
Awaitable<Result<Outcome>> Creation::enter_at_once(TaskId id, workflow::Library::DefinitionPtr definition) {
    CO_TRY(auto turn, co_await turns_.begin_turn(std::move(id)));
    if (!turn.record.intent) co_return Outcome{};  // another call has finished it
    co_return co_await runner_.transitions.finish(turn.record, definition);
}

/// The files are there before the task: its first TASK.md names them.
Result<void> Creation::write(TaskRecord& record, std::string body, const std::vector<std::string>& files) {
    const auto folder = world_.tasks.folder(record);
    GivenFiles given;
    if (!files.empty()) {
        TRY(auto there, world_.files.list(folder));
        std::erase(there, store::k_files);  // of a creation that failed
        if (!there.empty()) return Error(ErrorCode::conflict, "task " + record.task.id.value + " already exists");
        auto moved = give_files(runner_, record, files);
        if (!moved) {
            (void)world_.files.remove(folder);  // otherwise the next daemon does
            return moved.error();
        }
        given = std::move(*moved);
        body = store::with_lines(body, k_files_section, given.lines);
        record.unwritten_files.clear();
    }
    record.body_hash = sha256(body);
    auto written = world_.tasks.create(record, body);
    if (written || files.empty()) return written;
    runner_.uploads.take_back(std::move(given.taken), folder);
    auto removed = world_.files.remove(folder);
    return removed ? written : in_context(written.error().message, removed.error());
}

Result<void> Creation::write_queued(TaskRecord record, std::string body) {
    if (const auto other = world_.tasks.on_branch(record.task.project, record.task.branch)) {
        return {ErrorCode::conflict,
                "branch " + record.task.branch + " belongs to task " + other->task.value + " (" + other->status + ")"};
    }
    runner_.queue.enqueue(record);
    keep_time(world_, turns_, record);
    record.body_hash = sha256(body);
    TRY(world_.tasks.create(record, body));
    if (auto told = tell_created(record); !told) log::error("runner", told.error().message);
    return {};
}

Awaitable<Result<Outcome>> Creation::create(TaskRecord record, std::string context, bool no_spawn, Caller by,
                                            std::vector<std::string> files) {
    CO_TRY(const auto definition, turns_.definition_of(record.task));
    bool at_once = false;
    if (!no_spawn) runner_.queue.enqueue(record);
    keep_time(world_, turns_, record);
    std::string body;
    if (!context.empty()) body = store::with_section("", "Context", store::demoted(context));
    if (record.start) {
        CO_TRY(const auto decision, engine::decide_start(*definition, record));
        const bool waits = no_spawn && !record.attempts.empty();
        if (!engine::needs_workspace(decision) && !record.blocked() && !waits) {
            at_once = true;
            engine::Entrance entrance{random_id(12), by, world_.clock.now(), store::parse_sections(body).hashes(), {}};
            engine::enter(record, *definition, decision, std::move(entrance));
        }
    }
    CO_TRY(registered_project(world_, record.task.project));  // the project may have been removed meanwhile
    if (const auto other = world_.tasks.on_branch(record.task.project, record.task.branch)) {
        co_return Error(ErrorCode::conflict, "branch " + record.task.branch + " belongs to task " + other->task.value +
                                                 " (" + other->status + ")");
    }
    CO_TRY(write(record, std::move(body), files));
    if (auto told = tell_created(record); !told) log::error("runner", told.error().message);
    if (at_once) {
        auto entered = co_await enter_at_once(record.task.id, definition);
        co_return entered;
    }
    Outcome outcome;
    if (no_spawn) {
        const auto what = record.unapproved ? "not started. To approve it and start its agent:"
                          : record.blocked()
                              ? "not started. To start its agent when the task no longer waits for others:"
                              : "not started. To start its agent:";
        outcome.notes = {what + ("\n  orange task spawn " + record.task.id.value)};
        co_return outcome;
    }
    outcome = co_await runner_.queue.look_for(record.task.id, record.task.project);
    if (!outcome.spawn_error.empty()) co_return outcome;
    const auto after = turns_.record_of(record.task.id);
    if (after && after->task.attention) {
        outcome.notes.push_back("the task was created, but " + *after->task.attention);
    } else if (after && after->queued && outcome.notes.empty()) {
        outcome.notes.push_back(runner_.queue.waits(*after));
    }
    co_return outcome;
}

}  // namespace orange
