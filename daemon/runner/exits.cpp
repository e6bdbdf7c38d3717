#include "daemon/runner/exits.hpp"

#include <algorithm>
#include <csignal>
#include <functional>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/model/settings.hpp"
#include "daemon/async/async.hpp"
#include "daemon/engine/needs.hpp"
#include "daemon/git/standing.hpp"
#include "daemon/log/log.hpp"
#include "daemon/pool/occupants.hpp"
#include "daemon/process/group.hpp"
#include "daemon/runner/facts.hpp"
#include "daemon/runner/messages.hpp"
#include "daemon/runner/notices.hpp"
#include "daemon/runner/worktree.hpp"

namespace orange {
namespace {

using namespace std::chrono_literals;

/// A program that cannot continue a conversation says so and ends at once.
constexpr auto k_resume_window = 15s;
constexpr int k_signalled = 128;
/// A program that ends by itself so soon has not begun to work.
constexpr auto k_start_window = 5s;
/// The call that started an agent waits so long for its end. A shell or a program that refuses an option needs a few
/// milliseconds; programs that need half a second to read their options are told by their notice.
constexpr auto k_start_patience = 100ms;
constexpr auto k_start_step = 5ms;

Caller exit_monitor(const AgentRun& run) {
    Caller caller;
    caller.role = Role::system;
    caller.evidence = "exit of " + name_text(run.role) + " run " + run.run.value;
    return caller;
}

/// An agent that left its artifact has finished, as has one that ended well while nothing was expected of it. Every
/// other end that Orange did not bring about is a death.
bool has_died(const engine::ExitOutcome& outcome, const engine::AgentExit& exit) {
    if (const auto* advance = std::get_if<engine::Advance>(&outcome)) return advance->crash.has_value();
    return !std::holds_alternative<engine::NothingToDo>(outcome) || exit.exit_status != 0;
}

/// The first and the last lines that its window showed, without blank ones: a program that cannot start says why in its
/// first line or in its last one. Empty if there are none.
std::string shown_lines(std::string_view log, std::size_t first, std::size_t last) {
    constexpr std::size_t k_longest_line = 200;
    std::vector<std::string> lines;
    for (const auto line : split_lines(log)) {
        if (!trim(line).empty()) lines.push_back(ellipsized(printable(trim(line)), k_longest_line));
    }
    if (lines.size() > first + last) {
        const auto begin = lines.begin() + static_cast<std::ptrdiff_t>(first);
        lines.erase(begin, lines.end() - static_cast<std::ptrdiff_t>(last));
        if (first > 0) lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(first), "…");
    }
    return join(lines, " / ");
}

/// Changes the reason of a death, wherever the outcome says it.
void change_reason(engine::ExitOutcome& outcome, const std::function<std::string(const std::string&)>& changed) {
    if (auto* crash = std::get_if<engine::Crash>(&outcome)) crash->reason = changed(crash->reason);
    if (auto* dead = std::get_if<engine::MarkDead>(&outcome)) dead->reason = changed(dead->reason);
    auto* advance = std::get_if<engine::Advance>(&outcome);
    if (advance == nullptr || !advance->crash) return;
    auto& reason = advance->crash->reason;
    auto& told = advance->decision.auto_reason;
    const auto better = changed(reason);
    if (const auto at = told.rfind(reason); at != std::string::npos) told.replace(at, reason.size(), better);
    reason = better;
}

/// What agent.crashed says: all that agent.exited says, and what it counts as.
std::map<std::string, Scalar> crash_fields(std::map<std::string, Scalar> exited, const TaskRecord& record,
                                           const engine::Crash& crash) {
    exited["status"] = record.task.status;
    exited["crash_count"] = crash.crash_count;
    exited["reason"] = crash.reason;
    return exited;
}

/// Why the kernel ended the agent itself, if it did so because memory was used up. Processes that the agent started and
/// that were ended before have been noted in the run.
std::string memory_reason(const AgentRun& run, const agents::RunEnd& end) {
    if (end.signal != SIGKILL || !end.use || end.use->oom_kills <= run.oom_kills) return {};
    const auto used = "it used " + size_text(end.use->memory_peak);
    const bool by_limit = end.use->memory_limit > 0 && end.use->at_limit > 0;
    if (by_limit && end.use->memory_peak == 0) {  // a kernel that does not count it
        return "it used all of " + size_text(end.use->memory_limit) + " (limits.memory)";
    }
    if (by_limit) return used + " of " + size_text(end.use->memory_limit) + " (limits.memory)";
    return "memory of the machine was used up" + (end.use->memory_peak > 0 ? "; " + used : std::string());
}

/// The run leaves the record, and its death stays in it until an agent of that role is started or released.
void forget_run(TaskRecord& record, const AgentRun& run, bool died) {
    std::erase_if(record.runs, [&](const AgentRun& one) { return one.run == run.run; });
    if (record.runs.empty()) record.task.tmux_session.reset();
    record.died.erase(run.role);
    if (died && !record.ended) record.died.insert(run.role);
}

}  // namespace

Deaths::Open Exits::death_of(const TaskId& id, const RunId& run) {
    const auto* record = world_.tasks.find(id);
    if (record == nullptr) return {};
    const auto found = std::ranges::find(record->runs, run, &AgentRun::run);
    const bool has_ended =
        found != record->runs.end() && !found->ending && world_.launcher.liveness(*found) == agents::Liveness::dead;
    return has_ended ? deaths_.begin(run, async::now()) : Deaths::Open();
}

Awaitable<void> Exits::agent_exited(TaskId id, RunId run_id, std::string unchecked) {
    const auto death = death_of(id, run_id);  // counts from now on, however long its turn takes to begin
    auto turn = co_await turns_.begin_turn(id);
    if (!turn) co_return;
    auto& record = turn->record;
    const auto found =
        std::find_if(record.runs.begin(), record.runs.end(), [&](const AgentRun& run) { return run.run == run_id; });
    if (found == record.runs.end()) co_return;  // dealt with already
    const auto run = *found;
    if (world_.launcher.liveness(run) != agents::Liveness::dead) co_return;
    if (gates_.end_waits(id)) co_return;                        // for checks; they come back to it
    if (record.intent) co_return;                               // resume() comes first, and looks at the dead itself
    if (record.merge && record.merge->unfinished()) co_return;  // it ends the task, or the poll looks again
    co_await handle_exit(std::move(record), run, std::move(unchecked));
}

Awaitable<void> Exits::handle_exit(TaskRecord record, AgentRun run, std::string unchecked) {
    auto place = co_await burials_.take();
    const bool lost = co_await world_.launcher.server_is_gone(run);
    const auto end = co_await world_.launcher.bury(run, agents_.run_folder(record), agents_.log_file(record, run),
                                                   agents_.worktree_of(record));
    auto stepped = co_await turns_.step_bodies(record);
    if (!stepped) log::error("runner", stepped.error().message);
    place.reset();

    const auto role = name_text(run.role);
    std::map<std::string, Scalar> fields = {{"role", role}, {"run", run.run.value}};
    if (end.exit_status >= 0) fields["exit_status"] = std::int64_t{end.exit_status};
    if (!end.error.empty()) fields["error"] = end.error;
    if (!end.left.empty()) fields["left"] = end.left;
    const auto out_of_memory = memory_reason(run, end);
    if (!out_of_memory.empty()) fields["out_of_memory"] = true;

    auto definition = turns_.definition_of(record.task);
    const bool unreadable = !definition && definition.error().code == ErrorCode::io;  // and not lost
    if ((!stepped || unreadable) && !run.ending && !lost) {
        // Whether it left its artifact, and what that means, is not known: nothing is concluded, and the poll sees the
        // same death again.
        record = turns_.record_of(record.task.id).value();
        const auto& what = stepped ? definition.error().message : stepped.error().message;
        const auto before = record.notices;
        raise(world_, record, NoticeKind::agent_ended,
              "the " + role + " ended, and " + (stepped ? "its workflow" : "TASK.md") + " cannot be read: " + what, {},
              role);
        if (!(record.notices == before)) turns_.save(record);
        co_return;
    }
    if (run.ending || lost || !definition) {
        forget_run(record, run, !run.ending);
        if (lost && !run.ending) {
            raise(world_, record, NoticeKind::session_lost, "the tmux server ended, and the " + role + " with it", {},
                  role);
        } else if (!definition) {
            raise(world_, record, NoticeKind::agent_ended, "the " + role + " ended: " + definition.error().message, {},
                  role);
        }
        if (!turns_.save(record)) co_return;  // not counted: the poll sees the same death again
        world_.journal.write(record, lost ? "session.lost" : "agent.exited", fields);
        co_return;
    }
    const auto age = world_.clock.now() - run.spawned_at;
    const bool went_on = record.entered_at && *record.entered_at > run.spawned_at;  // it did take its task up
    const bool by_itself = end.exit_status > 0 && end.exit_status < k_signalled;
    const auto* state = (*definition)->state(record.task.status);
    const bool is_awaited =
        state && (state->agent ? state->agent == run.role : engine::is_for_agent(**definition, *state));
    const auto limit = by_itself && is_awaited ? usage_limit_of(record, run) : std::nullopt;
    if (!limit && run.resumed && by_itself && !went_on && age < k_resume_window) {
        co_await begin_anew(std::move(record), *definition, run, fields, true);
        co_return;
    }
    auto facts = co_await facts_of(world_, record, **definition);
    if (!unchecked.empty()) facts.unknown = std::move(unchecked);
    const engine::Situation situation{record.task, stepped->artifacts, record.entry_sections, facts};
    const engine::AgentExit exit{run.role, end.exit_status};
    auto outcome = engine::decide_exit(**definition, situation, exit);
    if (auto* wanted = std::get_if<engine::AwaitChecks>(&outcome)) {
        // The run stays in the record: this daemon or the next one comes back to its end when they have run.
        const auto id = record.task.id;
        gates_.run_for_exit(id, std::move(*wanted), [this, id, run = run.run](std::string why) {
            async::spawn(world_.executor, "exit", agent_exited(id, run, std::move(why)));
        });
        co_return;
    }
    if (limit && has_died(outcome, exit)) {
        usage_.add(run.harness, limit->resets);
        fields["usage_limit"] = limit->text;
        co_await begin_anew(std::move(record), *definition, run, fields, false);
        co_return;
    }
    const bool died = has_died(outcome, exit);
    forget_run(record, run, died);
    if (!died) deaths_.has_not_died(run.run);
    agents_.has_ended(record, run);
    if (!out_of_memory.empty()) {
        change_reason(outcome, [&](const std::string&) { return role + " was ended by the kernel: " + out_of_memory; });
        if (auto* crash = std::get_if<engine::Crash>(&outcome)) crash->respawn = false;
    } else if (end.scope_killed) {
        change_reason(outcome, [&](const std::string&) {
            return role + " was killed from outside, with all of its processes. systemd-oomd does that if memory is " +
                   "short. To see whether it did: journalctl --user --unit=" + process::scope_of_run(run.run.value);
        });
        if (auto* crash = std::get_if<engine::Crash>(&outcome)) crash->respawn = false;
    } else if (by_itself && !went_on && !run.resumed && age < k_start_window) {
        tell_of_start(record, run, end.exit_status, outcome);
    } else if (end.exit_status != 0) {
        const auto lines = lines_of(record, run, 0, 3);
        change_reason(outcome, [&](const std::string& reason) {
            return reason + (lines.empty() ? "" : ". Its last lines: " + lines);
        });
    }

    if (auto* crash = std::get_if<engine::Crash>(&outcome)) {
        const auto counted = *crash;
        co_await handle_crash(std::move(record), *definition, run, counted, fields);
        co_return;
    }
    if (auto* dead = std::get_if<engine::MarkDead>(&outcome); dead && is_awaited && !record.stopped) {
        raise(world_, record, NoticeKind::agent_ended, "the " + dead->reason, {}, role);
    }
    if (auto* advance = std::get_if<engine::Advance>(&outcome)) {
        co_await advance_after(std::move(record), *definition, std::move(*advance), std::move(*stepped), run, fields);
        co_return;
    }
    if (!turns_.save(record)) co_return;  // not counted: the poll sees the same death again
    if (died) deaths_.has_died(run.run, async::now());
    world_.journal.write(record, "agent.exited", fields);
}

Awaitable<std::string> Exits::failed_start(TaskId id) {
    const auto* found = world_.tasks.find(id);
    const auto runs = found ? found->runs : std::vector<AgentRun>();
    const auto status = found ? found->task.status : std::string();
    const auto alive = [this](const AgentRun& run) { return world_.launcher.liveness(run) == agents::Liveness::alive; };
    const auto end = async::now() + k_start_patience;
    for (const auto& run : runs) {
        const auto folder = agents_.run_folder(*found);
        while (alive(run) && async::now() < end) co_await async::sleep(k_start_step);
        // Its shim writes this before it ends what the program has left.
        if (alive(run) && !is_missing(world_.files, agents::Launcher::exit_file(folder, run.run))) {
            (void)co_await world_.exits.wait(run.pid, run.start_time);
        }
        if (world_.launcher.liveness(run) == agents::Liveness::dead) co_await agent_exited(id, run.run);
        found = world_.tasks.find(id);
        if (!found) co_return std::string();
    }
    // An agent that has moved its task on did start, however it ended.
    if (!found || is_restarting(id) || found->task.status != status) co_return std::string();
    std::string text;
    for (const auto kind : {NoticeKind::agent_crashed, NoticeKind::agent_ended}) {
        const auto* notice = engine::find_notice(*found, kind);
        if (notice && text.empty()) text = notice->text;
    }
    if (!text.empty()) co_await give_back_untouched(std::move(id));
    co_return text;
}

Awaitable<bool> Exits::is_untouched(const TaskRecord& record) {
    const auto worktree = co_await open_worktree(world_, record);
    if (!worktree || !workers_in(worktree->path()).empty()) co_return false;
    const auto standing = co_await git::standing_of(world_.git, *worktree);
    co_return standing && standing->known && standing->clean && standing->head == record.branch_start &&
        standing->branch == record.task.branch;
}

/// The cause may keep the next agents from starting, too, so no task of the queue is started because of it.
Awaitable<void> Exits::give_back_untouched(TaskId id) {
    auto turn = co_await turns_.begin_turn(id);
    if (!turn) co_return;
    auto& record = turn->record;
    const auto* registered = world_.projects.find(record.task.project);
    if (!registered || !record.task.workspace || !record.runs.empty() || !record.held.empty()) co_return;
    const auto project = *registered;
    const bool untouched = co_await is_untouched(record);
    if (!untouched) co_return;
    if (const auto retired = co_await turns_.retire_mirror(record); !retired) {
        log::warn("runner", retired.error().message, {{"task", id.value}});
        co_return;
    }
    const auto task = record.task;
    record.task.workspace.reset();
    record.programs.reset();
    if (!turns_.save(record)) co_return;
    co_await turns_.show(record);
    // A daemon that dies before this leaves a claim that the next one finds.
    if (const auto released = co_await world_.pool.release(project, task); !released) {
        log::warn("runner", released.error().message, {{"task", id.value}});
        co_return;
    }
    world_.journal.write(record, "workspace.released", {{"workspace", *task.workspace}});
}

std::string Exits::lines_of(const TaskRecord& record, const AgentRun& run, std::size_t first, std::size_t last) const {
    const auto log = world_.files.read(agents_.log_file(record, run));
    return log ? shown_lines(*log, first, last) : std::string();
}

/// What it did not write is not what is wrong: its program did not begin to work.
void Exits::tell_of_start(const TaskRecord& record, const AgentRun& run, int exit_status,
                          engine::ExitOutcome& outcome) const {
    const auto lines = lines_of(record, run, 2, 2);
    const auto reason = name_text(run.role) + " could not start: " + run.harness + " exited with status " +
                        std::to_string(exit_status) + (lines.empty() ? "" : ": " + lines) +
                        ". All of its output: orange task log " + record.task.id.value;
    change_reason(outcome, [&](const std::string&) { return reason; });
}

/// A one-shot program that its provider refuses says so and ends: there is no window that shows it.
std::optional<agents::Reading> Exits::usage_limit_of(const TaskRecord& record, const AgentRun& run) const {
    const auto entry = world_.harnesses.find(run.harness);
    if (!entry || entry->harness.mode != agents::Mode::oneshot) return std::nullopt;
    const auto log = world_.files.read(agents_.log_file(record, run));
    if (!log) return std::nullopt;
    auto limit = agents::limit_on(entry->harness, printable(*log, true));
    if (limit && !limit->usage_limit) limit.reset();
    return limit;
}

/// Its end is no crash, and the next run has the same to do; `fresh`: because its conversation could not be continued,
/// which the next one does not try.
Awaitable<void> Exits::begin_anew(TaskRecord record, workflow::Library::DefinitionPtr definition, AgentRun run,
                                  std::map<std::string, Scalar> exited, bool fresh) {
    const auto role = name_text(run.role);
    deaths_.has_not_died(run.run);
    forget_run(record, run, true);
    if (fresh) std::erase_if(record.sessions, [&](const auto& session) { return session.role == run.role; });
    restarting_.insert(record.task.id);
    if (!turns_.save(record)) {  // the poll sees the same death again
        restarting_.erase(record.task.id);
        co_return;
    }
    world_.journal.write(record, "agent.exited", std::move(exited));
    if (fresh) world_.journal.write(record, "agent.resume_failed", {{"role", role}, {"run", run.run.value}});
    const auto started = co_await respawns_.start_again(record, *definition, fresh);
    if (!started) {
        raise(world_, record, NoticeKind::agent_ended,
              "the " + role + (fresh ? " could not continue its conversation" : " was at its usage limit") +
                  ", and could not be started: " + started.error().message,
              {}, role);
    }
    restarting_.erase(record.task.id);
    turns_.save(record);
    co_await turns_.show(record);
}

/// The run goes with the write that commits the transition: a daemon that died before it sees the same death again.
Awaitable<void> Exits::advance_after(TaskRecord record, workflow::Library::DefinitionPtr definition,
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
    const bool died = advance.crash.has_value();
    auto done = co_await transitions_.perform(record, definition, std::move(advance.decision), std::move(stepped), by);
    if (done && died) deaths_.has_died(run.run, async::now());
    if (done) co_return;
    log::error("runner", "auto-advance failed: " + done.error().message, {{"task", record.task.id.value}});
    if (done.error().code == ErrorCode::io) co_return;  // not committed: the poll sees the same death again
    raise(world_, record, NoticeKind::agent_ended,
          "the " + name_text(run.role) + " ended, and the task could not advance: " + done.error().message);
    turns_.save(record);
}

Awaitable<void> Exits::handle_crash(TaskRecord record, workflow::Library::DefinitionPtr definition, AgentRun run,
                                    engine::Crash crash, std::map<std::string, Scalar> exited) {
    const auto role = name_text(run.role);
    const bool held_back = crash.respawn && deaths_.are_many(run.run, world_.tasks.runs().count(), async::now());
    record.task.counters["crash_count"] = crash.crash_count;
    raise(world_, record, NoticeKind::agent_crashed,
          "the " + crash.reason + (held_back ? "; many agents died at once, so none is restarted automatically" : ""),
          {}, role);
    if (!crash.tell.empty()) {
        record.asked.reset();
        add_message(world_, record, run.role, Role::system, "Your last run ended, and " + crash.tell, true);
    }
    // Until it is started again this is so: a daemon that dies in between leaves somebody to be told.
    const bool restarts = crash.respawn && !held_back;
    if (restarts) restarting_.insert(record.task.id);
    if (!turns_.save(record)) {  // not counted: the poll sees the same death again
        restarting_.erase(record.task.id);
        co_return;
    }
    const auto death = deaths_.has_died(run.run, async::now());
    world_.journal.write(record, "agent.exited", exited);
    world_.journal.write(record, "agent.crashed", crash_fields(std::move(exited), record, crash));
    if (restarts) {
        const auto started = co_await respawns_.start_again(record, *definition);
        if (record.run_of(run.role)) deaths_.is_back(death);
        (void)clear(record, NoticeKind::agent_crashed);
        if (!started) {
            raise(world_, record, NoticeKind::agent_crashed,
                  "the " + role + " crashed and could not be started again: " + started.error().message, {}, role);
        }
        restarting_.erase(record.task.id);
        turns_.save(record);
    }
    co_await turns_.show(record);
}

}  // namespace orange
