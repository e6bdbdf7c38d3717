#include "daemon/runner/transitions/transitions.hpp"

#include <algorithm>

#include "common/base/sha256.hpp"
#include "common/base/shortage.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/async/async.hpp"
#include "daemon/engine/blocking.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/engine/enter.hpp"
#include "daemon/engine/permissions.hpp"
#include "daemon/engine/start.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/actions/actions.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/family/family.hpp"
#include "daemon/runner/placing/walls.hpp"
#include "daemon/runner/runner.hpp"
#include "daemon/runner/transitions/given_files.hpp"
#include "daemon/store/sections.hpp"

/// The story of a transition, in the order in which it happens:
///
///   ask      begin_turn() takes the task's lock and finishes an interrupted transition. request() is called.
///   decide   request() syncs TASK.md, finds out what gates name of the branch, and asks the engine. An agent's end,
///            passed checks, a merge, an idle agent and ended sub-tasks come with a decision of their own.
///   prepare  prepare() applies the edit, makes the branch of a task that begins with another's, and takes a workspace.
///            If one of them fails, undo() takes back the others.
///   commit   perform() makes the record with engine::enter() and saves it. From here on the transition has happened.
///   act      finish() shows the status in TASK.md and runs the actions. Each is then marked done and
///            saved; the mark of the last one is saved together with the removal of the intent.
///   tell     finish() raises notices for failed actions, writes the history and removes the intent.
///
/// A daemon that dies before the commit has changed nothing but the prepared things, which the next daemon finds. After
/// the commit it leaves the intent, and the next daemon continues at finish().
namespace orange {
namespace {

Durability durability_of(const Action& done) {
    const auto* known = actions::find(done.name);
    return known ? known->mark : Durability::atomic;
}

/// Returns the role of the agent that an action starts; nothing if it starts none.
std::optional<Role> started_by(const Action& action) {
    if (action.name != engine::k_ensure_agent) return engine::spawned_role(action);
    return role_from(action.param("role")).value_or(Role::worker);
}

constexpr std::string_view k_not_told = "the transition is not recorded in the history yet: ";

/// Names the caller, and for an agent the programs through which it has called.
std::string evidence_of(const Caller& by) {
    return by.programs.empty() ? by.evidence : by.evidence + ": " + by.programs;
}

std::string unattested(const Caller& by, const std::string& section) {
    auto why =
        by.through.empty() ? "the reviewer died after writing its verdict" : "the verdict came from " + by.through;
    if (!by.programs.empty()) why += ", which the reviewer ran";
    return "the review is not verified, because " + why + ". Read ## " + section + " yourself";
}

/// Returns a sentence if the verdict of this round has the same words as the one before: a human decides whether it was
/// meant.
std::string same_verdict(const engine::Definition& definition, const TaskRecord& before,
                         const engine::Decision& decision, const engine::Artifacts& artifacts) {
    const auto section = engine::verdict_section(definition, decision.from, decision.to);
    if (!artifacts.rewritten.contains(section) || !engine::is_unchanged(artifacts, before.entry_sections, section)) {
        return {};
    }
    return "## " + section + " was written again in this round, in the very same words as before. Read it yourself";
}

/// Remembers which commit the words of a verdict are about: those of earlier rounds are about others.
void note_review(TaskRecord& record, const engine::Definition& definition, const engine::Decision& decision,
                 const engine::Artifacts& artifacts) {
    if (!decision.verdict) return;
    const auto section = artifacts.sections.find(engine::verdict_section(definition, decision.from, decision.to));
    if (section == artifacts.sections.end()) return;
    record.reviews[section->first] = record.reviewed_commit + " " + sha256(section->second.text);
}

Error without_workspace(const TaskRecord& record, const engine::Decision& decision, Error error) {
    // The queue handles a full pool for a task that has not begun.
    if (std::any_of(decision.actions.begin(), decision.actions.end(),
                    [](const Action& action) { return action.name == "acquire_workspace"; })) {
        return error;
    }
    const auto what = decision.from + " → " + decision.to + " starts an agent, and task " + record.task.id.value +
                      " has no workspace for it";
    return in_context(what, std::move(error));
}

}  // namespace

Awaitable<Result<TaskTurn>> Transitions::begin_turn(TaskId id) {
    CO_TRY(auto turn, co_await turns_.begin_turn(std::move(id)));
    CO_TRY(co_await finish_interrupted(turn.record));
    co_return turn;
}

Awaitable<Result<void>> Transitions::finish_interrupted(TaskRecord& record) {
    if (!record.intent) co_return Result<void>{};
    CO_TRY(const auto definition, turns_.definition_of(record.task));
    co_await finish(record, definition);
    CO_TRY(record, turns_.record_of(record.task.id));
    if (!record.intent) co_return Result<void>{};
    co_return Error(ErrorCode::io, "the transition from " + record.intent->from + " to " + record.intent->to +
                                       " must be finished first: " + record.task.attention.value_or("see orange.log"));
}

Awaitable<Result<Outcome>> Transitions::request(TaskRecord record, engine::Request request, Caller by, Edit edit,
                                                std::optional<engine::AwaitChecks>* checks) {
    CO_TRY(const auto definition,
           edit.workflow ? runner_.edits.workflow_for(record, *edit.workflow, by) : turns_.definition_of(record.task));
    CO_TRY(engine::may_change(record, by, request.force));
    request.by = by.role;
    request.vouched = by.through.empty();
    CO_TRY(request.to, engine::target_of(*definition, record.task, request));
    CO_TRY(auto synced, co_await read_bodies(record, *definition, request));
    const auto facts = co_await facts_of(world_, record, *definition, request.to, world_.clock.now());
    const engine::TransitionFacts given{record.task, synced.artifacts, record.entry_sections, facts};
    auto outcome = engine::decide_request(*definition, given, request);
    if (const auto* refusal = std::get_if<engine::Refusal>(&outcome)) {
        if (checks != nullptr) *checks = refusal->checks;
        remember_readiness(record, *definition, by, *refusal);
        co_return explained(*refusal, *definition, given, by);
    }
    const auto folder = world_.tasks.folder(record);
    CO_TRY(auto files, give_files(runner_, record, edit.files));
    if (!files.taken.empty()) edit.feedback = feedback_with(edit.feedback.value_or(""), files);
    Result<void> sent;
    const auto* back = engine::rejection_target(*definition, record.task);
    if (back != nullptr && back->name == request.to) {
        sent = co_await send_comments(record, edit, by, request.to, synced.body);
    }
    Result<Outcome> performed = Error{};
    if (!sent) performed = sent.error();
    if (sent) {
        performed = co_await perform(std::move(record), definition, std::get<engine::Decision>(std::move(outcome)),
                                     std::move(synced), std::move(by), std::move(edit));
    }
    if (!performed) runner_.uploads.take_back(std::move(files.taken), folder);
    co_return performed;
}

/// Sends comments with what goes back to the worker: a human's all, and if Orange itself does it those of the pull
/// request.
Awaitable<Result<void>> Transitions::send_comments(TaskRecord& record, Edit& edit, const Caller& by, std::string to,
                                                   std::string body) {
    const auto which = by.role == Role::human ? engine::Drafts::all : engine::Drafts::of_pull_request;
    auto free = edit.feedback.value_or(std::string());
    CO_TRY(auto text, co_await runner_.comments.send(record, std::move(free), std::move(to), std::move(body), which));
    if (!text.empty()) edit.feedback = std::move(text);
    co_return Result<void>{};
}

/// Reads TASK.md for a transition. A cancel does not depend on it, and an end not on all of it.
Awaitable<Result<SyncedBodies>> Transitions::read_bodies(TaskRecord& record, const engine::Definition& definition,
                                                         const engine::Request& request) {
    auto synced = co_await turns_.sync_bodies(record);
    if (!synced && definition.means(request.to, engine::Meaning::cancelled)) {
        log::warn("runner", synced.error().message, {{"task", record.task.id.value}});
        SyncedBodies unread;
        unread.notices_before = record.notices;
        co_return unread;
    }
    const auto* to = definition.state(request.to);
    const bool needs_all = !request.force && !(to && to->terminal);
    if (synced && needs_all && !synced->unread.empty()) {
        co_return Error(ErrorCode::invalid_argument, synced->unread);
    }
    co_return synced;
}

/// The worker of a stuck task may ask for a step that only a human can take: then its question says that it is ready.
void Transitions::remember_readiness(TaskRecord& record, const engine::Definition& definition, const Caller& by,
                                     const engine::Refusal& refusal) {
    if (by.role != Role::worker || !definition.means(record.task.status, engine::Meaning::stuck)) return;
    if (refusal.attention.empty()) return;
    raise(world_, record, NoticeKind::agent_asks, refusal.attention + "; the agent reports that the problem is fixed",
          refusal.command.text());
    turns_.save(record);
}

Awaitable<Result<Transitions::Prepared>> Transitions::prepare(TaskRecord record, const engine::Definition& definition,
                                                              const engine::Decision& decision, const Edit& edit,
                                                              Caller by) {
    CO_TRY(auto edited, co_await runner_.edits.apply(std::move(record), edit, std::move(by)));
    Prepared prepared{std::move(edited), {}, {}};
    auto& changed = prepared.record;
    auto ready = engine::may_leave(changed, definition, decision, waits_sentence(world_, changed));
    const auto* to = definition.state(decision.to);
    const bool has_branch = changed.attempts.empty() && !changed.stacked_on.empty();
    const bool starts = has_branch && !changed.blocked() && to && !to->terminal;
    if (ready && starts) ready = co_await put_on_base(world_, turns_, changed);
    if (ready) ready = co_await take_workspace(prepared, decision);
    if (ready && to && to->agent == Role::reviewer) ready = co_await take_over_work(changed);
    if (ready) co_return prepared;
    co_await undo(std::move(prepared));
    co_return ready.error();
}

/// Tasks that were created in a later state may have no workspace yet: their first transition that starts an agent
/// takes one, as if it began with acquire_workspace.
Awaitable<Result<void>> Transitions::take_workspace(Prepared& prepared, const engine::Decision& decision) {
    auto& record = prepared.record;
    if (record.task.workspace || !engine::needs_workspace(decision)) co_return Result<void>{};
    auto taken = co_await actions::prepare_workspace(world_, record);
    if (!taken) {
        // The failed attempt held a workspace for a while: let the queue run again.
        if (taken.error().code != ErrorCode::pool_exhausted && !runner_.queue.is_starting(record.task.id)) {
            runner_.queue.schedule(record.task.project);
        }
        co_return without_workspace(record, decision, taken.error());
    }
    prepared.workspace = *record.task.workspace;
    prepared.notes = std::move(*taken);
    co_return Result<void>{};
}

/// A reviewer sees only commits that could be taken over from behind a wall: else its worker is told why not.
Awaitable<Result<void>> Transitions::take_over_work(const TaskRecord& record) {
    if (!record.task.workspace || !world_.pool.is_walled(*record.task.workspace)) co_return Result<void>{};
    CO_TRY(co_await open_worktree(world_, record, Commits::must_be_taken_over));
    co_return Result<void>{};
}

Awaitable<void> Transitions::undo(Prepared prepared) {
    const bool has_taken = !prepared.workspace.empty();
    auto record = prepared.record;
    co_await runner_.edits.undo(std::move(prepared));
    if (has_taken) co_await give_back(std::move(record));
}

Awaitable<Result<Outcome>> Transitions::perform(TaskRecord record, workflow::Library::DefinitionPtr definition,
                                                engine::Decision decision, SyncedBodies synced, Caller by, Edit edit) {
    const auto* to = definition->state(decision.to);
    const bool goes_on = by.role == Role::human && to != nullptr && !to->terminal;
    const auto pass = goes_on ? runner_.budgets.let_pass(record) : std::string();
    CO_TRY(auto prepared, co_await prepare(std::move(record), *definition, decision, edit, by));
    if (!pass.empty()) prepared.notes.push_back(pass);
    auto& changed = prepared.record;
    if (edit.feedback) {  // the new state begins with the feedback
        synced.artifacts = store::parse_sections(store::with_section(synced.body, "Feedback", *edit.feedback));
    }
    const auto same = same_verdict(*definition, changed, decision, synced.artifacts);
    if (auto taken = runner_.comments.take_answers(changed, *definition, synced.artifacts, decision.from, decision.to);
        !taken) {
        co_await undo(std::move(prepared));
        co_return taken.error();
    }
    note_review(changed, *definition, decision, synced.artifacts);
    engine::enter(changed, *definition, decision,
                  {random_id(12), by, world_.clock.now(), synced.artifacts.hashes(), std::move(synced.notices_before)});
    changed.intent->workspace = prepared.workspace;
    runner_.tokens.look_at_all(changed);
    runner_.tokens.mark(changed, true);
    changed.intent->tokens = runner_.tokens.counted_of(changed);
    if (!same.empty()) {
        raise(world_, changed, NoticeKind::unverified_review, same, "orange task show " + changed.task.id.value);
    }
    co_await note_handover(prepared, *definition);
    const bool begins = to != nullptr && to->agent == Role::worker && changed.task.workspace;
    if (begins) co_await tell_of_same_plans(world_, changed, synced.artifacts);
    const auto edited = co_await runner_.edits.commit(changed, std::move(by));
    if (!edited) {
        co_await undo(std::move(prepared));
        co_return edited.error();
    }
    auto outcome = co_await finish(std::move(changed), definition);
    outcome.notes.insert(outcome.notes.begin(), prepared.notes.begin(), prepared.notes.end());
    outcome.notes.insert(outcome.notes.begin(), edited->begin(), edited->end());
    co_return outcome;
}

/// Records the commit that the reviewer looks at, and whether the worktree has work on another branch, which neither
/// the reviewer nor a merge sees.
Awaitable<void> Transitions::note_handover(Prepared& prepared, const engine::Definition& definition) {
    auto& record = prepared.record;
    const auto* state = definition.state(record.task.status);
    const bool is_reviewed = state && state->agent == Role::reviewer;
    if (is_reviewed) co_await note_reviewed_commit(record);
    if (!is_reviewed && !(state && engine::can_be_merged_from(definition, state->name))) co_return;
    co_await watch_branch(world_, record);
    const auto* elsewhere = engine::find_notice(record, NoticeKind::other_branch);
    if (elsewhere) prepared.notes.push_back(elsewhere->text + ". To use that work:\n  " + elsewhere->command);
}

/// Records the commit that the reviewer sees, since a verdict does not cover later commits.
Awaitable<void> Transitions::note_reviewed_commit(TaskRecord& record) {
    record.reviewed_commit = "none";  // an unreadable worktree or an orphan branch counts as nothing seen
    if (!record.task.workspace) co_return;
    auto commit = Result<std::string>(std::string());
    if (const auto worktree = co_await open_worktree(world_, record)) {
        commit = co_await git::commit_of(world_.git, *worktree, "HEAD");
    } else {
        commit = worktree.error();
    }
    if (!commit) log::warn("runner", commit.error().message, {{"task", record.task.id.value}});
    if (commit && !commit->empty()) record.reviewed_commit = std::move(*commit);
}

Awaitable<Outcome> Transitions::finish(TaskRecord record, workflow::Library::DefinitionPtr definition) {
    co_await take_workspace_again(record);
    if (const auto& workspace = record.intent->workspace; !workspace.empty()) {
        world_.journal.note_once(record, "workspace.acquired", {{"workspace", workspace}, {"tx", record.intent->id}});
    }
    // Agents read the status in TASK.md, so TASK.md shows it before an agent is started.
    co_await turns_.show(record);
    const auto alarm_before = alarm_of(record);
    Outcome outcome;
    outcome.notes = co_await run_actions(record, *definition);
    record.task.counters.erase("crash_count");
    mark_failures(record, *definition, outcome);
    const bool took_workspace = !record.intent->workspace.empty();
    if (took_workspace && !outcome.spawn_error.empty()) co_await release_unstarted(record, *definition);
    const auto intent = *record.intent;
    if (!intent.attested) {
        raise(world_, record, NoticeKind::unverified_review,
              unattested(intent.by, engine::verdict_section(*definition, intent.from, intent.to)),
              "orange task show " + record.task.id.value);
    }
    if (auto alarm = alarm_of(record); alarm != alarm_before) outcome.notes.push_back(std::move(alarm));
    if (auto told = write_history(record, intent); told) {
        co_await conclude(record, *definition, outcome);
    } else {
        keep_intent(record, told.error(), outcome);
    }
    co_return outcome;
}

/// The workspace was given back because the agent could not be started, and then the end of the transition could not
/// be saved: no agent may start in it, since it may be another task's by now.
Awaitable<void> Transitions::take_workspace_again(TaskRecord& record) {
    const bool is_lost =
        !record.intent->workspace.empty() && record.task.workspace && !world_.pool.has_claim(record.task.id);
    if (!is_lost) co_return;
    record.task.workspace.reset();
    const auto taken = co_await actions::prepare_workspace(world_, record);
    if (taken) record.intent->workspace = *record.task.workspace;
    if (!taken) log::warn("runner", taken.error().message, {{"task", record.task.id.value}});
}

Awaitable<std::vector<std::string>> Transitions::run_actions(TaskRecord& record, const engine::Definition& definition) {
    actions::Context context{world_, runner_, record, record.intent->id, definition};
    for (std::size_t i = 0; i < record.intent->actions.size(); ++i) {
        if (record.intent->actions[i].done) continue;
        const auto action = record.intent->actions[i].action;
        const auto* known = actions::find(action.name);
        Result<void> done = Error(ErrorCode::not_found, "this version has no action " + action.name);
        if (known) done = co_await known->run(context, action);
        if (!done) {
            record.intent->actions[i].failure = done.error().message;
            record.intent->actions[i].later = started_by(action) && shortage_in(done.error());
            log::warn("runner", "hook failed",
                      {{"task", record.task.id.value}, {"hook", action.name}, {"why", done.error().message}});
            world_.journal.write(record, "hook.failed", {{"hook", action.name}, {"error", done.error().message}});
        }
        record.intent->actions[i].done = true;
        if (i + 1 == record.intent->actions.size()) break;  // saved with the end of the transition
        turns_.save(record, durability_of(action));
    }
    co_return std::move(context.notes);
}

/// Lets agents wait whose start failed for want of disk, descriptors or memory: that is no fault of the task, which
/// keeps its workspace. Of two orders for the same agent the first one has the hook's prompt.
void Transitions::put_off_starts(TaskRecord& record) {
    for (auto& planned : record.intent->actions) {
        if (!planned.later) continue;
        const auto role = started_by(planned.action).value_or(Role::worker);
        planned.later = !runner_.agents.alive(record, role);
        if (!planned.later || record.held_start(role)) continue;
        runner_.agents.put_off(record, order_of(planned.action, role, record.intent->id));
    }
}

void Transitions::mark_failures(TaskRecord& record, const engine::Definition& definition, Outcome& outcome) {
    const auto& id = record.task.id.value;
    std::vector<std::string> starts, others;
    put_off_starts(record);
    for (const auto& planned : record.intent->actions) {
        if (planned.failure.empty()) continue;
        const bool is_start = started_by(planned.action).has_value();
        if (is_start && !planned.later) outcome.spawn_error = planned.failure;
        auto& failures = is_start ? starts : others;
        auto failure = (is_start ? "the agent could not be started: " : planned.action.name + ": ") + planned.failure +
                       (planned.later ? "; Orange tries again" : "");
        // Two actions may try to start the same agent.
        if (std::ranges::find(failures, failure) != failures.end()) continue;
        outcome.notes.push_back((is_start ? "" : "failed: ") + failure + "\n  orange task why " + id);
        failures.push_back(std::move(failure));
    }
    const auto tell = [&](NoticeKind kind, const std::vector<std::string>& failures, const char* again) {
        if (failures.empty()) return;
        auto text = failures.front();
        auto command = way_out_of(text, again + id);
        if (failures.size() > 1) text += "\n(and " + counted(failures.size() - 1, "more failed action") + ")";
        raise(world_, record, kind, std::move(text), std::move(command));
    };
    tell(NoticeKind::start_failed, starts,
         engine::respawn_need(definition, record.task) ? "orange task respawn " : "orange task why ");
    tell(NoticeKind::hook_failed, others, "orange task show ");
}

Result<void> Transitions::write_history(const TaskRecord& record, const Intent& intent) {
    std::map<std::string, Scalar> fields = {{"from", intent.from}, {"to", intent.to}, {"tx", intent.id}};
    if (intent.at != Timestamp{}) fields["at"] = to_rfc3339(intent.at);  // the events of its effects are older
    if (!intent.auto_reason.empty()) {
        auto advanced = fields;
        advanced["reason"] = intent.auto_reason;
        TRY(world_.journal.write_once(record, "auto.advanced", std::move(advanced)));
    }
    fields["by"] = name_text(intent.by.role);
    fields["evidence"] = evidence_of(intent.by);
    if (!intent.attested) fields["attested"] = false;
    if (intent.tokens > 0) fields["tokens"] = intent.tokens;
    TRY(world_.journal.write_once(record, "status.changed", std::move(fields)));
    const auto definition = turns_.definition_of(record.task);
    if (!definition || !(*definition)->means(intent.to, engine::Meaning::cancelled)) return {};
    return world_.journal.write_once(record, "task.cancelled", {{"tx", intent.id}});
}

void Transitions::keep_intent(TaskRecord& record, const Error& not_told, Outcome& outcome) {
    log::error("runner", not_told.message, {{"task", record.task.id.value}});
    const auto why = std::string(k_not_told) + not_told.message;
    raise(world_, record, NoticeKind::transition_unfinished, why);
    turns_.save(record);
    outcome.notes.push_back(why);
}

Awaitable<void> Transitions::conclude(TaskRecord& record, const engine::Definition& definition, Outcome& outcome) {
    (void)clear(record, NoticeKind::transition_unfinished);
    const auto& actions = record.intent->actions;
    const bool to_be_sure = std::any_of(actions.begin(), actions.end(), [](const auto& planned) {
        return durability_of(planned.action) == Durability::synced;
    });
    record.intent.reset();
    const auto* state = definition.state(record.task.status);
    const bool ended = state && state->terminal;
    if (ended) drop_messages(record, outcome);
    turns_.save(record, to_be_sure ? Durability::synced : Durability::atomic);
    co_await turns_.show(record);
    if (ended) world_.task_files.forget(record.task.id);
}

void Transitions::drop_messages(TaskRecord& record, Outcome& outcome) {
    for (const auto& message : record.outbox) {
        if (message.from != Role::human) continue;
        world_.journal.write(record, "message.dropped", {{"role", name_text(message.to)}, {"message", message.text}});
        outcome.notes.push_back("the " + name_text(message.to) +
                                " did not get your message before the task ended: " + printable(message.text));
    }
    record.outbox.clear();
}

Awaitable<void> Transitions::give_back(TaskRecord record) {
    const auto* project = world_.projects.find(record.task.project);
    if (!record.task.workspace || !project) co_return;
    const auto copy = *project;
    auto task = record.task;
    const auto left = co_await walls::give_up(world_, std::move(task));
    for (const auto& note : left) log::warn("walls", note, {{"task", record.task.id.value}});
    const auto released = co_await world_.pool.release(copy, record.task);
    if (!released) log::error("runner", released.error().message);
    // If the task is starting, its failed start looks at the queue itself.
    if (!runner_.queue.is_starting(record.task.id)) runner_.queue.schedule(copy.name);
}

Awaitable<void> Transitions::release_unstarted(TaskRecord& record, const engine::Definition& definition) {
    if (!record.task.workspace || !record.runs.empty() || !record.held.empty()) co_return;
    const auto tx = record.intent ? record.intent->id : std::string();
    actions::Context context{world_, runner_, record, tx, definition};
    const Action release{"release_workspace", {}, {}};
    const auto released = co_await actions::release_workspace(context, release);
    if (!released) log::warn("runner", released.error().message, {{"task", record.task.id.value}});
}

Awaitable<Result<std::vector<engine::EdgeExplanation>>> Transitions::explain(TaskId id) {
    CO_TRY(auto turn, co_await turns_.begin_turn(id));
    auto& record = turn.record;
    CO_TRY(const auto definition, turns_.definition_of(record.task));
    CO_TRY(const auto synced, co_await turns_.sync_bodies(record));
    const auto facts = co_await facts_of(world_, record, *definition);
    const engine::TransitionFacts given{record.task, synced.artifacts, record.entry_sections, facts};
    auto edges = engine::explain(*definition, given);
    for (auto& edge : edges) {
        const auto* to = definition->state(edge.to);
        if (!record.blocked() || (to && to->terminal)) continue;
        edge.gate_problem = "The task waits for " + waits_text(world_, record);
    }
    co_return edges;
}

}  // namespace orange
