#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/rpc/task_queries.hpp"
#include "daemon/async/async.hpp"
#include "daemon/engine/edges.hpp"
#include "daemon/log/log.hpp"
#include "daemon/rpc/api.hpp"
#include "daemon/rpc/methods/picked_run.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/branch/branch.hpp"
#include "daemon/runner/family/family.hpp"
#include "daemon/store/history_chain.hpp"
#include "daemon/store/task_texts.hpp"

/// Methods that only read tasks; they are open to everybody.
namespace orange::rpc {
namespace {

constexpr std::size_t k_recent_events = 20;
/// A history is read in pieces, with other work of the daemon in between. A call returns at most this much of it.
constexpr std::size_t k_lines_at_once = 128, k_most_events = 5'000;
constexpr std::uintmax_t k_most_bytes = std::uintmax_t{16} << 20;
constexpr std::chrono::milliseconds k_step{20}, k_patience{1000};  // how long to wait for the holder of a task's lock

/// Returns the use of memory, processor and disk of the task's running agents, as far as it is known.
std::vector<AgentUse> uses_of(const Runner& runner, const TaskRecord& record) {
    const auto& world = runner.world;
    std::vector<AgentUse> uses;
    for (const auto& run : record.runs) {
        if (world.launcher.liveness(run) != agents::Liveness::alive) continue;
        AgentUse use{name_text(run.role), world.launcher.use_of(run), run.memory_limit, world.launcher.is_limited(run)};
        use.processes_limit = run.processes_limit;
        use.processes_enforced = world.launcher.has_processes_limited(run, runner.agents.run_folder(record));
        use.disk_limit = run.disk_limit;
        use.disk = runner.disks.last_of(record.task.id);
        if (use.use || use.limit > 0 || use.processes_limit > 0 || use.disk_limit > 0) uses.push_back(std::move(use));
    }
    return uses;
}

/// Returns the harness of each status for which the workflow names another one than the task's.
std::map<std::string, std::string> named_harnesses(Api& api, const Task& task) {
    std::map<std::string, std::string> named;
    const auto definition = api.runner().turns.definition_of(task);
    for (const auto& state : definition ? (*definition)->states : std::vector<engine::State>()) {
        const auto role = engine::role_of_state(**definition, state);
        const auto word = engine::harness_word(**definition, state.name, role);
        if (!engine::is_another_harness(word, role)) continue;
        named[state.name] = harness_of(api.world(), **definition, task, role, state.name);
    }
    return named;
}

Awaitable<Result<TaskShow::Reply>> show(Api& api, TaskShow params, Call call) {
    CO_TRY(const auto id, api.select(params, call));
    auto& world = api.world();
    CO_TRY(const auto record, world.tasks.read(id));
    TaskShow::Reply reply;
    reply.task = api.view(*record);
    for (const auto* messages : {&record->typed, &record->outbox}) {
        for (const auto& each : *messages) {
            reply.messages.push_back({name_text(each.to), name_text(each.from), each.text, std::string(each.state()),
                                      each.typed_at.value_or(each.queued_at)});
        }
    }
    if (const auto& parent = record->task.parent; !parent.empty()) reply.parent = api.related(parent, false);
    if (record->forked && !record->forked->task.empty()) {
        reply.fork_of = api.related(record->forked->task, false);
        if (!api.is_shown(record->forked->task, call)) reply.fork_of->summary.clear();
    }
    for (const auto& child : children_of(world, *record)) {
        if (child.made && !api.is_other_attempt(child.id, call)) reply.children.push_back(api.related(child));
    }
    reply.agents = uses_of(api.runner(), *record);
    for (const auto& each : api.runner().permits.of(id)) {
        const auto& request = each->request;
        reply.permits.push_back({each->number, each->role, each->harness, request.tool, request.line, request.text,
                                 request.whole, each->since});
    }
    reply.harnesses = named_harnesses(api, record->task);
    reply.body = store::read_body(world.files, world.tasks.folder(*record) / "TASK.md").value_or("");
    if (params.comments) {
        std::optional<Changes> none;
        CO_TRY(auto said, co_await comments_at(api, *record, call, CommentsOf::sections, std::move(none), reply.body));
        reply.comments = std::move(said.comments);
    }
    reply.kept = store::kept_texts(world.files, world.tasks.folder(*record));
    if (params.changes && !store::has_ended(*record)) {
        auto known = api.runner().committed.known(id);
        if (const auto changes = co_await changes_of(world, *record, std::move(known))) {
            reply.changes = counts_of(*changes);
        }
    }
    CO_TRY(const auto history, world.tasks.history(id, k_recent_events));
    for (const auto& event : history) reply.history.push_back(to_json(event));
    api.hide(reply.task, call);
    co_return reply;
}

Awaitable<Result<TaskHistory::Reply>> history(Api& api, TaskHistory params, Call call) {
    CO_TRY(const auto id, api.select(params, call));
    if (params.limit < 0) co_return Error(ErrorCode::invalid_argument, "limit must not be negative");
    TaskHistory::Reply reply;
    const auto limit = static_cast<std::size_t>(params.limit);
    auto reader = api.world().tasks.read_history(id);
    std::vector<Json> events;
    for (std::size_t lines = 1; limit == 0 || events.size() < limit; ++lines) {
        if (events.size() == k_most_events || reader.read() > k_most_bytes) {
            reply.left_out = true;
            break;
        }
        CO_TRY(const auto line, reader.next_line());
        if (!line) break;
        if (const auto event = store::event_from_line(*line)) events.push_back(to_json(*event));
        if (lines % k_lines_at_once == 0) co_await async::yield();
    }
    for (auto event = events.rbegin(); event != events.rend(); ++event) reply.events.push_back(std::move(*event));
    co_return reply;
}

Awaitable<Result<ChainReport>> verify_history(Api& api, TaskVerify params, Call call) {
    CO_TRY(auto id, api.select(params, call));
    co_return co_await store::verify_history(api.world().tasks, std::move(id));
}

}  // namespace

Result<AgentRun> pick_run(Api& api, const TaskId& id, const std::optional<std::string>& wanted) {
    TRY(const auto record, api.world().tasks.read(id));
    std::optional<Role> role;
    if (wanted) {
        role = role_from(*wanted);
        if (role != Role::worker && role != Role::reviewer) {
            return Error(ErrorCode::invalid_argument, "--role must be worker or reviewer");
        }
    }
    for (const Role candidate : {Role::reviewer, Role::worker}) {
        if (role && *role != candidate) continue;
        if (const auto* run = record->run_of(candidate); run && !run->pane_id.empty()) return *run;
    }
    TRY(const auto definition, api.runner().turns.definition_of(record->task));
    TRY(const auto need, engine::respawn_need(*definition, record->task, record->queued));
    return not_running(*definition, *record, role.value_or(need.role));
}

namespace {

Awaitable<Result<TaskPeek::Reply>> peek(Api& api, TaskPeek params, Call call) {
    CO_TRY(const auto id, api.select(params, call));
    if (params.lines < 1 || params.lines > 5000) {
        co_return Error(ErrorCode::invalid_argument, "--lines must be from 1 to 5000");
    }
    CO_TRY(const auto run, pick_run(api, id, params.role));
    TaskPeek::Reply reply;
    reply.role = name_of(run.role);
    CO_TRY(reply.text, co_await api.world().tmux.capture(run.pane_id, params.lines, params.colours));
    co_return reply;
}

Awaitable<Result<TaskAttach::Reply>> attach(Api& api, TaskAttach params, Call call) {
    CO_TRY(const auto id, api.select(params, call));
    CO_TRY(const auto run, pick_run(api, id, std::nullopt));
    const auto record = api.world().tasks.awake(id);
    TaskAttach::Reply reply;
    reply.argv = {"tmux", "-S", api.world().paths.tmux_socket().string(), "attach-session", "-t", run.window_id};
    reply.session = record ? record->task.tmux_session.value_or("") : "";
    reply.detach_key = api.world().settings.detach_key.spoken();
    co_return reply;
}

EdgeView edge_view(const engine::EdgeExplanation& edge) {
    EdgeView view;
    view.to = edge.to;
    view.means = name_of(edge.means);
    for (const auto role : edge.by) view.by.emplace_back(name_of(role));
    view.open = edge.open();
    view.needs_force = edge.needs_force;
    view.guard = edge.guard;
    view.guard_holds = edge.guard_holds;
    view.gate = edge.gate;
    view.missing = edge.gate_problem;
    return view;
}

/// Adds a hint for each dead agent, and the command that starts one again if the task's state has an agent.
void say_who_died(Api& api, const TaskRecord& record, const engine::Definition& definition, TaskWhy::Reply& reply) {
    bool any = false;
    const auto respawn = task_command("respawn", record.task.id.value).text();
    if (std::find(reply.hints.begin(), reply.hints.end(), respawn) != reply.hints.end()) return;
    for (const Role role : {Role::worker, Role::reviewer}) {
        if (!api.runner().respawns.is_dead(record, role)) continue;
        reply.hints.push_back("the " + name_text(role) + " is dead");
        any = true;
    }
    const auto need = engine::respawn_need(definition, record.task);
    if (!any || !need || api.runner().agents.alive(record, need->role)) return;
    reply.hints.push_back(respawn);
}

/// Keeps only the first of equal hints.
void name_each_once(std::vector<std::string>& hints) {
    std::set<std::string> seen;
    std::erase_if(hints, [&](const std::string& hint) { return !seen.insert(hint).second; });
    const auto all = hints;
    std::erase_if(hints, [&](const std::string& hint) {
        return std::ranges::any_of(all, [&](const std::string& other) {
            return other.size() > hint.size() && ("\n" + other + "\n").find("\n  " + hint + "\n") != std::string::npos;
        });
    });
}

/// Returns the text for an agent that a usage limit holds back: when it continues.
std::string limit_wait_text(const StartWait& wait, Timestamp now) {
    const auto role = "its " + name_text(wait.role);
    const auto time = wait.until ? spoken_time(*wait.until, now) : std::string();
    if (wait.reason == "resume" && wait.for_human) {
        return "you: the usage limit of " + wait.harness + " is over, and resume_after_limit leaves the start to you";
    }
    if (wait.reason == "resume") return "the hours of resume_after_limit; Orange starts " + role + " at " + time;
    return "the usage limit of " + wait.harness + " to reset; " +
           (wait.for_human ? "at " + time + " you can start " + role : "Orange starts " + role + " at " + time);
}

std::string wait_text(const StartWait& wait, const Task& task, Timestamp now) {
    const auto role = name_text(wait.role);
    const auto place = " (place " + std::to_string(wait.place) + ")";
    if (wait.reason == "order") return "its " + role + " to be started" + place;
    if (wait.reason == "usage_limit" || wait.reason == "resume") return limit_wait_text(wait, now) + place;
    if (wait.reason == "login")
        return "another " + wait.harness + " to start" + place + "; then Orange starts its " + role;
    if (wait.reason == "memory") return "memory" + place + ", which is short; then Orange starts its " + role;
    const auto full = std::to_string(wait.running) + " of " + std::to_string(wait.limit);
    if (wait.reason == "harness_limit") {
        return "room for its " + role + place + ": " + full + " agents with " + wait.harness +
               " run (harness_limits in config.yml)";
    }
    return "room for its " + role + place + ": " + full + " " + role + "s of project " + task.project + " run";
}

/// Adds the commands with which a human moves the task out of a state that waits for a decision.
void say_decisions(Api& api, const engine::Definition& definition, const TaskRecord& record, TaskWhy::Reply& reply) {
    const auto& task = record.task;
    const auto& id = task.id.value;
    if (engine::approval_target(definition, task) != nullptr) {
        reply.hints.push_back(task_command("reject", id, "\"...\"").text());
        return;
    }
    if (const auto first = check_below_is_merged(api.world(), record); !first) {
        reply.hints.push_back(first.error().message);
    } else if (definition.has_transition(task.status, definition.name_for(engine::Meaning::done))) {
        reply.hints.push_back(merge_command(task.id));
    }
    const auto* back = engine::rejection_target(definition, task);
    if (back != nullptr) reply.hints.push_back(task_command("reject", id, "\"...\"").text());
    for (const auto& to : definition.targets_from(task.status)) {
        if (!definition.state(to)->terminal && (back == nullptr || to != back->name)) {
            reply.hints.push_back(task_command("update", id, "--status " + to).text());
        }
    }
}

/// Says what the task needs (engine/needs.hpp decides it), as a sentence behind its status.
std::string situation_text(Api& api, const TaskRecord& record, const TaskView& view) {
    if (view.needs.kind != Need::nothing) return "you: " + view.needs.text;
    if (view.start_wait && view.start_wait->reason == "budget") return view.start_wait->text;
    if (view.start_wait) return "waits for " + wait_text(*view.start_wait, record.task, api.world().clock.now());
    return view.needs.text;
}

/// Adds the commands that change how long a task waits for its start.
void say_how_to_start(Api& api, const TaskRecord& record, TaskWhy::Reply& reply) {
    auto& hints = reply.hints;
    const auto& id = record.task.id.value;
    if (record.blocked()) {
        const auto blockers = waits_text(api.world(), record);
        const auto without = "To start it without:\n  " + task_command("update", id, "--unblock " + blockers).text();
        if (gone_text(api.world(), record).empty())
            hints.push_back(without);  // otherwise the need's own command is this one
        if (!record.queued) {
            hints.push_back("To have it started when it waits no longer:\n  " + task_command("spawn", id).text());
        }
    } else if (const auto& wait = reply.task.start_wait) {
        if (wait->reason == "usage_limit") hints.emplace_back("If it has reset already:\n  orange daemon reload");
        if (wait->reason == "resume") {
            const auto* verb = record.held.empty() ? "spawn" : "respawn";
            hints.push_back("To start it now:\n  " + task_command(verb, id).text());
            hints.emplace_back("To let all that the limit has held go on now:\n  orange daemon reload");
        }
        if (wait->reason == "budget") hints.push_back("To raise the budget:\n  " + wait->command);
        const auto command = command_for_more(*wait, record.task.project);
        if (!command.empty()) hints.push_back("To let one more run:\n  " + command);
    } else if (record.queued) {
        const auto* project = api.world().projects.find(record.task.project);
        const auto waiting = api.world().tasks.queue(record.task.project);
        if (project && !waiting.empty() && waiting.front().value != id && api.world().pool.free(*project) > 0) {
            hints.push_back("To start the one that waits longest:\n  " +
                            task_command("spawn", waiting.front().value).text());
        }
        const auto command = project ? project->command_for_more_room() : std::string();
        if (!command.empty()) hints.push_back("To allow one more workspace:\n  " + command);
    }
}

/// Adds what the human should know, and the commands that help.
void say_what_helps(Api& api, const TaskRecord& record, const engine::Definition& definition, TaskWhy::Reply& reply) {
    auto& hints = reply.hints;
    const auto& id = record.task.id.value;
    const auto* state = definition.state(record.task.status);
    for (const auto& notice : reply.task.notices) hints.push_back(notice.text);
    if (!hints.empty()) hints.push_back(task_command("ack", id).text());
    std::erase(hints, reply.task.needs.text);  // the client shows it behind the status
    if (!reply.task.needs.command.empty()) hints.push_back(reply.task.needs.command.text());
    if (!Merges::under_way(record).empty()) {
        hints.push_back(merge_command(record.task.id));
    } else if (state && !state->terminal && !record.intent) {
        say_how_to_start(api, record, reply);
        for (const auto& child : children_of(api.world(), record)) {
            const bool is_open = state->children && child.state == engine::ChildState::open;
            if (is_open) hints.push_back(task_command("show", child.id.value).text());
        }
        const bool decides = reply.task.needs.kind == Need::review || state->meaning == engine::Meaning::stuck;
        if (decides) say_decisions(api, definition, record, reply);
        const bool works = state->agent && api.runner().agents.alive(record, *state->agent);
        if (works && reply.task.needs.kind == Need::nothing) hints.push_back(task_command("attach", id).text());
    }
    say_who_died(api, record, definition, reply);
    for (const auto& message : record.outbox) {
        hints.push_back("not delivered to the " + name_text(message.to) + " yet: " + message.text);
    }
    name_each_once(hints);
}

/// True while a change or the start of the task is under way, which may hold its lock for minutes.
bool is_held_up(Api& api, const TaskId& id) {
    const auto now = api.world().tasks.awake(id);
    return now && (now->intent || api.runner().queue.is_starting(id));
}

/// Waits for a moment until nothing works on the task. Returns true if something still does.
Awaitable<bool> stays_busy(Api& api, TaskId id) {
    const auto is_busy = [&] { return is_held_up(api, id) || api.world().task_locks.busy(id.value); };
    for (std::chrono::milliseconds waited{}; is_busy() && !is_held_up(api, id) && waited < k_patience;
         waited += k_step) {
        co_await async::sleep(k_step);
    }
    co_return is_busy();
}

/// Closes the edges of a task that waits in the queue, without those that end it.
void close_while_queued(TaskWhy::Reply& reply) {
    const bool waits_in_queue = reply.task.queue_place > 0 && reply.task.needs.kind != Need::start;
    if (!waits_in_queue) return;
    for (auto& edge : reply.edges) {
        const bool ends =
            edge.means == name_of(engine::Meaning::done) || edge.means == name_of(engine::Meaning::cancelled);
        if (!edge.open || ends) continue;
        edge.open = false;
        const auto& needs = reply.task.needs;
        edge.missing = needs.kind == Need::nothing ? "it " + needs.text : needs.text;
    }
}

/// Checks whether the merge that the reply offers would be refused, and says why at its edge and instead of its hint.
Awaitable<void> check_offered_merge(Api& api, const TaskRecord& record, TaskWhy::Reply& reply) {
    const auto by_merge = std::ranges::find_if(reply.edges, [](const rpc::EdgeView& edge) {
        return edge.open && !edge.needs_force && edge.means == name_of(engine::Meaning::done);
    });
    const auto merge = std::ranges::find(reply.hints, merge_command(record.task.id));
    if (by_merge == reply.edges.end() && merge == reply.hints.end()) co_return;
    const auto ready = co_await api.runner().merges.check(record);
    if (ready) co_return;
    const auto& problem = ready.error().message;
    if (merge != reply.hints.end()) *merge = problem;
    if (by_merge == reply.edges.end()) co_return;
    by_merge->open = false;
    by_merge->needs_force = problem.find("--force") != std::string::npos;
    by_merge->missing = std::string(first_line(problem));
}

/// Returns what holds up the end of an agent that is gone; empty if nothing does. Its window is read first, so that
/// takes as long as tmux does not answer.
Awaitable<std::string> what_holds_up_end(Api& api, const TaskRecord& record, bool busy) {
    const auto dead = std::ranges::find_if(
        record.runs, [&](const AgentRun& run) { return api.world().launcher.liveness(run) == agents::Liveness::dead; });
    const bool waits_for_checks = !api.runner().checks.under_way(record.task.id).empty();
    if (dead == record.runs.end() || waits_for_checks) co_return std::string();
    const auto role = name_text(dead->role);
    const auto answer = co_await api.world().tmux.list();
    if (answer && !busy) co_return std::string();
    if (answer) co_return "Orange, which looks at how the " + role + " has ended";
    co_return "tmux, which does not answer. The " + role + " has ended, and Orange goes on when tmux answers";
}

/// Replaces what the task waits for if something works on it now.
Awaitable<void> say_what_works(Api& api, const TaskRecord& record, bool busy, TaskWhy::Reply& reply) {
    const auto& id = record.task.id;
    const bool is_held = is_held_up(api, id);
    std::string held_up;
    if (!is_held) held_up = co_await what_holds_up_end(api, record, busy);
    if (const auto* keeping = api.world().pool.keeping(id)) {
        reply.waiting_for = "Orange, which " + keeping->text();
    } else if (!held_up.empty()) {
        reply.waiting_for = std::move(held_up);
        reply.hints.emplace_back("orange doctor");
    } else if (busy && !is_held) {
        reply.task.in_progress = "a long operation";
        reply.waiting_for = "a merge, a respawn or the setup of its workspace to end";
    }
}

Awaitable<Result<TaskWhy::Reply>> why(Api& api, TaskWhy params, Call call) {
    CO_TRY(const auto id, api.select(params, call));
    TaskWhy::Reply reply;
    const bool busy = co_await stays_busy(api, id);
    if (!busy) {  // the edges need the lock of the task
        CO_TRY(const auto edges, co_await api.runner().transitions.explain(id));
        for (const auto& edge : edges) reply.edges.push_back(edge_view(edge));
    }
    CO_TRY(const auto record, api.runner().turns.record_of(id));
    reply.task = api.view(record);
    close_while_queued(reply);
    CO_TRY(const auto definition, api.runner().turns.definition_of(record.task));
    reply.waiting_for = situation_text(api, record, reply.task);
    say_what_helps(api, record, *definition, reply);
    if (const auto next = api.runner().reconciler.upcoming(record)) {
        reply.next = rpc::NextStep{next->what, next->in.count(), next->why};
    }
    reply.agents = uses_of(api.runner(), record);
    if (!busy && Merges::under_way(record).empty()) {
        co_await check_offered_merge(api, record, reply);
        name_each_once(reply.hints);
    }
    if (!busy && reply.task.needs.kind != Need::nothing && record.task.workspace) {
        auto text = co_await half_done(api.world(), record);
        if (!text.empty()) reply.hints.insert(reply.hints.begin(), std::move(text));
    }
    co_await say_what_works(api, record, busy, reply);
    api.hide(reply.task, call);
    co_return reply;
}

}  // namespace

void add_task_views(MethodTable& table, Api& api) {
    using enum ErrorCode;
    table.add<TaskShow>(Access::read, "Shows a task: fields, body, last events.", {not_found}, api, show);
    table.add<TaskHistory>(Access::read, "A task's history.", {not_found}, api, history);
    table.add<TaskVerify>(Access::read, "Verifies the chain of a task's history.", {not_found}, api, verify_history);
    table.add<TaskPeek>(Access::read, "The end of an agent's screen.", {not_found, conflict}, api, peek);
    table.add<TaskAttach>(Access::read, "What to execute to join an agent's window.", {not_found, conflict}, api,
                          attach);
    table.add<TaskWhy>(Access::read, "What a task waits for: every way out of its state, and what is missing.",
                       {not_found}, api, why);
}

}  // namespace orange::rpc
