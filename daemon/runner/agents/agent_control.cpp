#include "daemon/runner/agents/agent_control.hpp"

#include <unistd.h>

#include <algorithm>

#include "common/base/try.hpp"
#include "common/model/json.hpp"
#include "daemon/agents/placeholders.hpp"
#include "daemon/log/log.hpp"
#include "daemon/process/proc_info.hpp"
#include "daemon/process/process_runner.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {
namespace {

/// Moves a conversation that an older Orange has in the folder of the runs, where a run behind a wall does not see it.
void take_over_conversation(FileSystem& files, const Path& path) {
    const auto old = path.parent_path().parent_path() / path.filename();
    if (!is_missing(files, path) || is_missing(files, old)) return;
    const auto text = files.read(old);
    if (text && files.replace(path, *text)) (void)files.remove(old);
}

}  // namespace

void AgentControl::drop_held(TaskRecord& record, Role role) {
    std::erase_if(record.held, [role](const DeferredStart& start) { return start.role == role; });
}

agents::Liveness AgentControl::liveness(const TaskRecord& record, Role role) const {
    const auto* run = record.run_of(role);
    return run ? world_.launcher.liveness(*run) : agents::Liveness::none;
}

bool AgentControl::alive(const TaskRecord& record, Role role) const {
    const auto* run = record.run_of(role);
    return run && !run->ending && agents::may_live(world_.launcher.liveness(*run));
}

Path AgentControl::log_file(const TaskRecord& record, const AgentRun& run) const {
    return world_.tasks.folder(record) / "logs" / (run.window_name + "-" + run.run.value + ".log");
}

/// A conversation is continued only by the same program in the same worktree, and only if its file exists and ends with
/// a whole record.
bool AgentControl::can_resume(const TaskRecord& record, const agents::HarnessEntry& harness,
                              const agents::LaunchRequest& launch, Role role) const {
    const auto& session = harness.harness.session;
    const auto* known = record.session_of(role);
    if (!known || !session.can_resume() || known->harness != harness.harness.name) return false;
    if (known->worktree != launch.worktree) return false;
    if (!known->transcript.empty() && !world_.files.facts_of(known->transcript))
        return false;  // nothing was said in it
    if (session.file.empty()) return true;
    const std::map<std::string, std::string> values = {
        {"session", known->id}, {"task_dir", launch.task_dir}, {"talk_dir", launch.talk_dir}};
    const Path path = agents::filled(session.file, values);
    if (path.parent_path() == launch.talk_dir) take_over_conversation(world_.files, path);
    constexpr std::size_t k_longest_line = std::size_t{8} * 1024 * 1024;  // an image may be in it
    const auto piece = world_.files.read_before(path, std::nullopt, k_longest_line);
    if (!piece) return false;
    const auto& text = piece->bytes;
    const auto end = text.rfind('\n');
    if (end == std::string::npos) return false;
    const auto begin = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
    const auto from = begin == std::string::npos ? 0 : begin + 1;
    return Json::parse(text.substr(from, end - from), nullptr, false).is_object();
}

Awaitable<void> AgentControl::learn_session(Caller caller) {
    const auto is_known = [&](const TaskRecord& record) {
        const auto* run = record.run_of(caller.role);
        return !run || run->run != caller.run || record.session_of(caller.role) != nullptr;
    };
    const auto found = world_.tasks.awake(caller.task);
    if (!found || is_known(*found)) co_return;
    const auto harness = world_.harnesses.find(found->run_of(caller.role)->harness);
    if (!harness) co_return;
    const auto& session = harness->harness.session;
    std::string id;
    if (!session.variable.empty()) {
        id = process::environ_of(caller.pid, session.variable).value_or("");
    } else if (!session.list.empty() && listing_.insert(caller.run.value).second) {
        const auto record = *found;
        id = co_await listed_session(record, *harness, *record.run_of(caller.role));
        listing_.erase(caller.run.value);
    }
    if (!session.permits(id)) co_return;
    auto turn = co_await turns_.begin_turn(caller.task);
    if (!turn || is_known(turn->record)) co_return;
    auto& record = turn->record;
    record.sessions.push_back({caller.role, record.run_of(caller.role)->harness, id, worktree_of(record).string()});
    turns_.save(record);
}

void AgentControl::learn_conversation(TaskRecord& record, const AgentRun& run,
                                      const std::optional<agents::Conversation>& told) const {
    if (!told) return;
    const bool is_elsewhere = run.place && run.place->is_elsewhere();  // its file is on another machine
    NativeSession now{run.role, run.harness, told->id, worktree_of(record).string(), {}};
    if (!is_elsewhere) now.transcript = told->transcript;
    const auto* known = record.session_of(run.role);
    if (known && *known == now) return;
    std::erase_if(record.sessions, [&](const NativeSession& old) { return old.role == run.role; });
    record.sessions.push_back(std::move(now));
}

void AgentControl::learn_last_conversation(TaskRecord& record, const AgentRun& run) const {
    const auto harness = world_.harnesses.find(run.harness);
    if (!harness || harness->harness.events.session.empty()) return;
    agents::EventReader reader;
    reader.read(harness->harness, world_.files, agents::events_file(run_folder(record), run.run));
    learn_conversation(record, run, reader.conversation());
}

void AgentControl::has_ended(const TaskRecord& record, const AgentRun& run) {
    const auto harness = world_.harnesses.find(run.harness);
    if (!harness || harness->harness.session.list.empty() || record.session_of(run.role) != nullptr) return;
    std::erase_if(unlisted_, [this](const auto& each) {
        const auto task = world_.tasks.awake(TaskId{each.first.first});
        return task == nullptr || store::has_ended(*task);
    });
    unlisted_[{record.task.id.value, run.role}] = run;
}

/// The program may have died before it answered the first query, or before the agent called `orange`.
Awaitable<void> AgentControl::find_session(TaskRecord& record, Role role) {
    const auto found = unlisted_.find({record.task.id.value, role});
    if (found == unlisted_.end() || record.session_of(role) != nullptr) co_return;
    const auto run = found->second;
    const auto harness = world_.harnesses.find(run.harness);
    if (!harness) co_return;
    auto id = co_await listed_session(record, *harness, run);
    if (harness->harness.session.permits(id))
        record.sessions.push_back({role, run.harness, std::move(id), worktree_of(record).string()});
}

/// Worker and reviewer share the worktree, and earlier tasks have used it. The conversation of a run is the first one
/// that began there after the run.
Awaitable<std::string> AgentControl::listed_session(const TaskRecord& record, const agents::HarnessEntry& entry,
                                                    AgentRun run) {
    constexpr auto k_patience = std::chrono::seconds(60);  // opencode needs 25 seconds on a busy machine
    const auto worktree = worktree_of(record).string();
    Command command;
    command.argv = {entry.program};
    command.argv.insert(command.argv.end(), entry.harness.session.list.begin(), entry.harness.session.list.end());
    command.cwd = worktree;
    command.env = environment(record, {}, run.role, run.run, entry.path_variable);
    command.deadline = k_patience;
    const auto done = co_await world_.processes.run(std::move(command));
    co_return done && done->ok() ? agents::session_in(done->out, worktree, run.spawned_at, entry.harness.session)
                                 : std::string();
}

void AgentControl::tell_started(const TaskRecord& record, const AgentRun& run, bool respawn) {
    const auto tell = [&](const char* type, std::map<std::string, Scalar> fields) {
        fields["run"] = run.run.value;
        world_.journal.note_once(record, type, std::move(fields));
    };
    if (run.resumed) tell("agent.resumed", {{"role", name_text(run.role)}});
    std::map<std::string, Scalar> started = {{"role", name_text(run.role)},
                                             {"harness", run.harness},
                                             {"window", run.window_name},
                                             {"workspace", record.task.workspace.value_or("")},
                                             {"tmux_session", record.task.tmux_session.value_or("")}};
    if (!run.model.empty()) started["model"] = run.model;
    tell(respawn ? "agent.respawned" : "agent.spawned", std::move(started));
    if (run.role == Role::reviewer && !respawn) tell("review.started", {{"round", record.task.review_round()}});
}

Awaitable<bool> AgentControl::reap_dead(TaskRecord& record, Role role) {
    const auto* dead = record.run_of(role);
    if (!dead) co_return false;
    const auto old = *dead;
    learn_last_conversation(record, old);
    const auto used = co_await runner_.tokens.settle(record, old.run);
    co_await world_.launcher.reap(old, run_folder(record), log_file(record, old), worktree_of(record));
    co_await runner_.placements.leave(record, old);
    forget_run(record, role);
    record.died.insert(role);
    if (used) {
        std::map<std::string, Scalar> fields = {{"role", name_text(role)}, {"run", old.run.value}};
        add_fields(fields, *used);
        world_.journal.note_once(record, "agent.exited", std::move(fields));
    }
    co_return true;
}

/// An order that already waits keeps its place.
void AgentControl::put_off(TaskRecord& record, const SpawnOrder& order) const {
    const auto* before = record.held_start(order.role);
    auto since = before ? before->since : world_.clock.now();
    for (const auto& id : world_.tasks.held()) {  // keeps the order even if the clock was set back
        if (!before) since = std::max(since, world_.tasks.awake(id)->held.front().since + std::chrono::milliseconds(1));
    }
    drop_held(record, order.role);
    record.held.push_back(
        {order.role, order.prompt, order.permissions, order.intent, order.respawn, order.resume, since});
    record.died.erase(order.role);
    keep_time(world_, turns_, record);
}

Result<void> AgentControl::hold(TaskRecord& record, const SpawnOrder& order) {
    put_off(record, order);
    TRY(turns_.try_save(record, Durability::atomic));
    const auto since = record.held_start(order.role)->since;
    const auto wait = runner_.capacity.wait_of(record);
    const auto role = name_text(order.role);
    world_.journal.note_once(record, "agent.waits",
                             {{"role", role}, {"since", to_rfc3339(since)}, {"reason", wait ? wait->reason : "order"}});
    return {};
}

void AgentControl::forget_run(TaskRecord& record, Role role) {
    runner_.activities.close(record, role);
}

void AgentControl::forget_unbegun(TaskRecord& record, Role role) {
    if (const auto* run = record.run_of(role)) forget_copy(record, run->run);
    forget_run(record, role);
}

Awaitable<Result<void>> AgentControl::end(TaskRecord& record, Role role) {
    co_await settle_starting(record);
    drop_held(record, role);
    auto* run = record.run_of(role);
    if (!run) co_return Result<void>{};
    world_.launcher.forget_unknown(run->run);
    const bool was_alive = agents::may_live(world_.launcher.liveness(*run));
    if (was_alive) record.died.erase(role);  // an agent that had died by itself keeps its mark
    if (!run->ending) {
        run->ending = true;
        CO_TRY(turns_.try_save(record, Durability::atomic));
    }
    auto ending = *run;
    CO_TRY(const auto closed, co_await world_.launcher.end(ending, log_file(record, ending)));
    if (closed) ending.window_id.clear();
    learn_last_conversation(record, ending);
    const auto used = co_await runner_.tokens.settle(record, ending.run);
    const auto ended =
        co_await world_.launcher.reap(ending, run_folder(record), log_file(record, ending), worktree_of(record));
    co_await runner_.placements.leave(record, ending);
    forget_run(record, role);
    std::erase_if(record.outbox,
                  [role](const Message& message) { return message.to == role && message.from == Role::system; });
    CO_TRY(turns_.try_save(record, Durability::atomic));
    if (was_alive) {
        std::map<std::string, Scalar> fields = {
            {"role", name_text(role)}, {"run", ending.run.value}, {"ended_by", "orange"}};
        if (!ended.left.empty()) fields["left"] = ended.left;
        if (used) add_fields(fields, *used);
        world_.journal.write(record, "agent.exited", std::move(fields));
    }
    co_return Result<void>{};
}

/// Closes windows that no record knows: after a start that timed out, or after a window could not be closed.
Awaitable<void> AgentControl::close_dead_windows(const TaskRecord& record, const TmuxState& state) {
    const auto own = "/" + record.task.id.value + "/run/";
    for (const auto& pane : state.panes) {
        if (!pane.dead || pane.command.find(own) == std::string::npos) continue;
        const auto window = pane.ref.window_id;
        if (auto closed = co_await world_.tmux.kill(window); !closed) log::warn("agents", closed.error().message);
    }
}

Awaitable<Result<void>> AgentControl::end_session(TaskRecord& record) {
    AgentRun last;
    for (const auto& run : record.runs) {
        if (!run.session_id.empty()) last = run;
    }
    for (const Role role : {Role::reviewer, Role::worker}) {
        CO_TRY(co_await end(record, role));
    }
    if (const auto state = co_await world_.tmux.list()) {
        const bool is_there = !last.session_id.empty() && agents::is_on_server(last, *state) &&
                              std::ranges::any_of(state->panes, [&](const PaneInfo& pane) {
                                  return pane.ref.session_id == last.session_id;
                              });
        if (is_there) CO_TRY(co_await world_.tmux.kill(last.session_id));
        co_await close_dead_windows(record, *state);
    }
    record.task.tmux_session.reset();
    co_return Result<void>{};
}

Awaitable<void> AgentControl::settle_starting(TaskRecord& record) {
    for (const Role role : {Role::worker, Role::reviewer}) {
        auto* run = record.run_of(role);
        if (!run || run->pid != 0) continue;
        const auto starting = *run;
        auto adopted = co_await world_.launcher.adopt(starting, run_folder(record));
        if (adopted) {
            *record.run_of(role) = *adopted;
            started_(record.task.id, *adopted);
        } else if (adopted.error().code == ErrorCode::not_found) {
            co_await runner_.placements.leave(record, starting);
            forget_unbegun(record, role);
        } else {
            co_return;  // tmux does not answer: leave the run as it is
        }
        turns_.save(record);
    }
}

}  // namespace orange
