#include "daemon/runner/agents/exits.hpp"

#include <algorithm>
#include <csignal>
#include <functional>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/model/settings.hpp"
#include "daemon/async/async.hpp"
#include "daemon/engine/needs.hpp"
#include "daemon/git/worktree_status.hpp"
#include "daemon/log/log.hpp"
#include "daemon/pool/occupants.hpp"
#include "daemon/process/group.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/placing/walls.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {
namespace {

using namespace std::chrono_literals;

/// A program that cannot continue a conversation ends within this time.
constexpr auto k_resume_window = 15s;
constexpr int k_signalled = 128;
/// A program that ends by itself within this time has not begun to work.
constexpr auto k_start_window = 5s;
/// The call that starts an agent waits this long for its end, from the moment that its program runs. A shell, or a
/// program that refuses an option, needs a few milliseconds. Programs that need half a second to read their options
/// fail later, and only a notice reports that.
constexpr auto k_first_moment = 20ms;
/// The wait if it cannot be seen when the program begins; and for a shim whose program has ended.
constexpr auto k_start_patience = 100ms, k_end_patience = 10'000ms, k_end_look = 50ms;

Awaitable<void> tell_end(ExitWatcher& exits, std::int64_t pid, std::int64_t start_time,
                         std::shared_ptr<async::Wakeup> news) {
    const auto ended = co_await exits.wait(pid, start_time);
    if (ended) news->notify();
}

/// The first moment of a run, in which its program may turn out to be unable to work.
class FirstMoment {
  public:
    FirstMoment(const World& world, AgentRun run, Path run_folder, std::shared_ptr<async::Wakeup> news)
        : world_(world), run_(std::move(run)), run_folder_(std::move(run_folder)), news_(std::move(news)) {}

    /// Waits until the run has ended, or its program lives and the moment is over. `news`: look again.
    Awaitable<void> wait() {
        shim_ends_ = end_of(run_.pid, run_.start_time);
        for (;;) {
            look();
            auto left = std::chrono::ceil<std::chrono::milliseconds>(until_ - async::now());
            if (left <= 0ms || world_.launcher.liveness(run_) != agents::Liveness::alive) co_return;
            // Not every machine tells the end of a process.
            if (is_ending_) left = std::min<std::chrono::milliseconds>(left, k_end_look);
            (void)co_await news_->wait(left);
        }
    }

  private:
    void look() {
        if (!program_) see_program();
        // The shim writes its record before it ends the processes that the program has left, and ends then itself.
        const bool is_ending =
            has_program_ended() || !is_missing(world_.files, agents::Launcher::exit_file(run_folder_, run_.run));
        if (is_ending && !std::exchange(is_ending_, true)) until_ = async::now() + k_end_patience;
    }

    void see_program() {
        const auto program = world_.launcher.program_of(run_folder_, run_);
        if (!program) return;
        const auto started = world_.exits.start_time(*program);
        if (!started && started.error().code != ErrorCode::not_found) return;  // it cannot be looked at now
        program_ = program;
        program_start_ = started.value_or(0);
        if (started) program_ends_ = end_of(*program_, program_start_);
        if (!is_ending_) until_ = async::now() + k_first_moment;
    }

    bool has_program_ended() const {
        if (!program_) return false;
        const auto started = world_.exits.start_time(*program_);
        return started ? *started != program_start_ : started.error().code == ErrorCode::not_found;
    }

    async::Stopper end_of(std::int64_t pid, std::int64_t start_time) const {
        return async::spawn_stoppable(world_.executor, "start", tell_end(world_.exits, pid, start_time, news_));
    }

    const World& world_;
    AgentRun run_;
    Path run_folder_;
    std::shared_ptr<async::Wakeup> news_;
    async::Moment until_ = async::now() + k_start_patience;
    std::optional<std::int64_t> program_;  ///< its pid, once it runs
    std::int64_t program_start_ = 0;
    bool is_ending_ = false;
    async::Stopper shim_ends_, program_ends_;
};

/// An agent that left its artifact has finished. So has an agent that exits with 0 while its task expects nothing of
/// it. Every other end that Orange did not cause is a death.
bool has_died(const engine::ExitOutcome& outcome, int exit_status) {
    if (const auto* advance = std::get_if<engine::Advance>(&outcome)) return advance->crash.has_value();
    return !std::holds_alternative<engine::NothingToDo>(outcome) || exit_status != 0;
}

/// Returns true if the task's state waits for an agent of that role.
bool is_awaited(const engine::Definition& definition, const Task& task, Role role) {
    const auto* state = definition.state(task.status);
    if (state == nullptr) return false;
    return state->agent ? state->agent == role : engine::is_for_agent(definition, *state);
}

/// Returns true for a line that is Orange's and not the agent's: a message, a call of orange, or its reply, which
/// begins with the task's id and mark.
bool is_echo(std::string_view line, const TaskId& id) {
    if (line.starts_with("[orange]") || line.starts_with("$ orange ")) return true;
    const auto end = line.find("  ");
    if (end == std::string_view::npos || end < 4 || !id.value.starts_with(line.substr(0, end))) return false;
    const auto rest = trim(line.substr(end));
    return rest.starts_with("●") || rest.starts_with("○") || rest.starts_with("✗");
}

/// Returns the first and the last lines of a log, without blank ones and Orange's own; empty if there are none. A
/// program that cannot start says why in its first line or in its last one.
std::string shown_lines(std::string_view log, const TaskId& id, std::size_t first, std::size_t last) {
    constexpr std::size_t k_longest_line = 200;
    std::vector<std::string> lines;
    for (const auto line : split_lines(log)) {
        if (!trim(line).empty() && !is_echo(trim(line), id))
            lines.push_back(ellipsized(printable(trim(line)), k_longest_line));
    }
    if (lines.size() > first + last) {
        const auto begin = lines.begin() + static_cast<std::ptrdiff_t>(first);
        lines.erase(begin, lines.end() - static_cast<std::ptrdiff_t>(last));
        if (first > 0) lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(first), "…");
    }
    return join(lines, " / ");
}

/// Changes the reason of a death in each kind of outcome.
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

/// Returns the fields of agent.crashed: those of agent.exited, and how the crash counts.
std::map<std::string, Scalar> crash_fields(std::map<std::string, Scalar> exited, const TaskRecord& record,
                                           const engine::Crash& crash) {
    exited["status"] = record.task.status;
    exited["crash_count"] = crash.crash_count;
    exited["reason"] = crash.reason;
    return exited;
}

/// Returns why the kernel killed the agent itself because memory was used up; empty if it did not. The run counts the
/// processes of the agent that were killed before.
std::string memory_reason(const AgentRun& run, const agents::RunEnd& end) {
    if (end.signal != SIGKILL || !end.use || end.use->oom_kills <= run.oom_kills) return {};
    const auto used = "it used " + size_text(end.use->memory_peak);
    const bool by_limit = end.use->memory_limit > 0 && end.use->at_limit > 0;
    if (by_limit && end.use->memory_peak == 0) {  // the kernel does not report the peak
        return "it used all of " + size_text(end.use->memory_limit) + " (limits.memory)";
    }
    if (by_limit) return used + " of " + size_text(end.use->memory_limit) + " (limits.memory)";
    return "memory of the machine was used up" + (end.use->memory_peak > 0 ? "; " + used : std::string());
}

/// Returns why Orange ended the agent.
std::string disk_reason(const AgentRun& run) {
    return "it used " + size_text(run.disk_used) + " of " + size_text(run.disk_limit) + " (limits.disk)";
}

/// Lets an end count as a crash although the agent's section is written: Orange has ended the agent in its work.
void keep_from_going_on(const Task& task, engine::ExitOutcome& outcome) {
    const auto* advance = std::get_if<engine::Advance>(&outcome);
    const bool goes_on = (advance && !advance->crash) || std::holds_alternative<engine::AwaitChecks>(outcome);
    if (goes_on) outcome = engine::Crash{task.crash_count() + 1, false, "the agent was ended"};
}

/// Removes the run from the record. A death stays noted until an agent of that role is started or released.
void forget_run(Activities& activities, TaskRecord& record, const AgentRun& run, bool died) {
    const auto* known = record.run_of(run.role);
    if (known != nullptr && known->run == run.run) activities.close(record, run.role);
    if (record.runs.empty()) record.task.tmux_session.reset();
    record.died.erase(run.role);
    if (died && !record.ended) record.died.insert(run.role);
}

}  // namespace

bool Exits::is_unhandled(const TaskId& id, const RunId& run) const {
    const auto record = world_.tasks.awake(id);
    if (record == nullptr) return false;
    const auto found = std::ranges::find(record->runs, run, &AgentRun::run);
    return found != record->runs.end() && !found->ending && world_.launcher.liveness(*found) == agents::Liveness::dead;
}

Awaitable<void> Exits::agent_exited(TaskId id, RunId run_id, std::string unchecked) {
    auto under_way = is_unhandled(id, run_id) ? under_way_ : nullptr;  // the turn may begin much later
    auto turn = co_await turns_.begin_turn(id);
    if (!turn) co_return;
    auto& record = turn->record;
    const auto found =
        std::find_if(record.runs.begin(), record.runs.end(), [&](const AgentRun& run) { return run.run == run_id; });
    if (found == record.runs.end()) co_return;  // already handled
    const auto run = *found;
    if (world_.launcher.liveness(run) != agents::Liveness::dead) co_return;
    if (runner_.gates.end_waits(id)) co_return;                 // the checks call this again when they have run
    if (record.intent) co_return;                               // resume() comes first, and handles dead agents itself
    if (record.merge && record.merge->unfinished()) co_return;  // the merge ends the task, or the poll calls again
    const bool has_ended = co_await runner_.placements.has_ended(id, run, runner_.agents.run_folder(record));
    if (!has_ended) co_return;  // the poll calls again until it is known
    co_await handle_exit(std::move(record), run, std::move(unchecked), std::move(under_way));
}

/// Reads how the run ended, and ends the processes that it has left.
Awaitable<Exits::End> Exits::reap(TaskRecord& record, AgentRun run, std::vector<process::StrayProcess> left) {
    End end;
    runner_.agents.learn_last_conversation(record, run);
    const auto used = co_await runner_.tokens.settle(record, run.run);
    auto window = co_await world_.launcher.window_of(run);
    end.is_lost = window.server == agents::ServerOfRun::is_gone;
    end.how =
        co_await world_.launcher.reap(run, runner_.agents.run_folder(record), runner_.agents.log_file(record, run),
                                      runner_.agents.worktree_of(record), std::move(left), std::move(window));
    co_await runner_.placements.leave(record, run);
    if (end.how.started_at && !run.has_begun())
        run.place->started_at = begin_of(run, *end.how.started_at, world_.clock.now());
    end.how.not_started = end.how.not_started && !run.has_begun();
    const bool is_of_disk = run.disk_used > 0;
    const auto why = is_of_disk ? disk_reason(run) : memory_reason(run, end.how);
    if (!why.empty()) end.used_up = (is_of_disk ? "Orange: " : "the kernel: ") + why;
    end.age = world_.clock.now() - run.began_at();
    end.by_itself = end.how.exit_status > 0 && end.how.exit_status < k_signalled && !is_of_disk;
    end.moved_task = record.entered_at && *record.entered_at > run.spawned_at;
    end.fields = {{"role", name_text(run.role)}, {"run", run.run.value}};
    if (end.how.exit_status >= 0) end.fields["exit_status"] = std::int64_t{end.how.exit_status};
    if (!end.how.error.empty()) end.fields["error"] = end.how.error;
    if (!end.how.left.empty()) end.fields["left"] = end.how.left;
    if (!end.used_up.empty()) end.fields[is_of_disk ? "out_of_disk" : "out_of_memory"] = true;
    if (end.how.not_started) end.fields["not_started"] = true;
    if (used) add_fields(end.fields, *used);
    end.run = std::move(run);
    co_return end;
}

Awaitable<bool> Exits::ask_executor(TaskRecord& record, AgentRun& run) {
    if (run.ending || !run.place || run.place->ended.empty() || run.place->ended_as) co_return true;
    auto why = co_await runner_.placements.why_ended(record.task.id, run, runner_.agents.run_folder(record));
    if (!why) co_return false;
    run.place->ended_as = std::move(why);
    std::ranges::find(record.runs, run.run, &AgentRun::run)->place = run.place;
    co_return turns_.save(record);  // not saved: the poll sees the same death again
}

Awaitable<void> Exits::handle_exit(TaskRecord record, AgentRun run, std::string unchecked,
                                   std::shared_ptr<void> under_way) {
    const bool is_known = co_await ask_executor(record, run);  // may take seconds, so it comes before the slot
    if (!is_known) co_return;
    // Search before the wait for a slot: one search then serves all agents that died together.
    auto left = co_await world_.launcher.left_by(run, runner_.agents.run_folder(record));
    auto place = co_await burials_.take();
    auto end = co_await reap(record, std::move(run), std::move(left));
    end.under_way = std::move(under_way);
    if (end.run.place && end.used_up.empty()) end.ended_as = end.run.place->ended_as.value_or("");
    if (!end.ended_as.empty()) {
        end.by_itself = false;
        end.fields["ended_by"] = "executor";
        end.fields["state"] = end.ended_as;
    }
    if (end.how.not_started && !end.run.ending && !end.is_lost) {
        co_await undo_start(std::move(record), std::move(end));
        co_return;
    }
    auto synced = co_await turns_.sync_bodies(record);
    if (!synced) log::error("runner", synced.error().message);
    place.reset();
    const auto definition = turns_.definition_of(record.task);
    const bool unreadable = !definition && definition.error().code == ErrorCode::io;  // a lost one gives another error
    if (end.run.ending || end.is_lost || (synced && !definition && !unreadable)) {
        end_without_rule(record, end, definition ? std::string() : definition.error().message);
    } else if (!synced) {
        keep_for_later(record.task.id, end.run.role, "TASK.md cannot be read: " + synced.error().message);
    } else if (unreadable) {
        keep_for_later(record.task.id, end.run.role, "its workflow cannot be read: " + definition.error().message);
    } else {
        co_await apply_rules(std::move(record), *definition, std::move(*synced), std::move(end), std::move(unchecked));
    }
}

Awaitable<void> Exits::undo_start(TaskRecord record, End end) {
    const auto role = name_text(end.run.role);
    const auto executor = end.run.place ? end.run.place->executor : std::string(agents::k_local);
    const auto lines = lines_of(record, end.run, 2, 3);
    auto why = end.how.error;
    if (why.empty()) why = "it ended with status " + std::to_string(end.how.exit_status);
    if (end.how.exit_status < 0) why = "it was ended before the agent had begun";
    if (!lines.empty()) why += ": " + lines;
    forget_run(runner_.activities, record, end.run, true);
    if (!end.run.resumed) {  // its conversation has not begun either
        std::erase_if(record.sessions, [&](const auto& session) { return session.role == end.run.role; });
    }
    forget_copy(record, end.run.run);
    auto text = "the " + role + " could not be started by the executor " + executor + ": " + why + "\n" +
                to_start_again(record.task, executor);
    auto command = way_out_of(text);
    raise(world_, record, NoticeKind::start_failed, std::move(text), std::move(command), role);
    if (!turns_.save(record)) co_return;  // the poll sees the same end again
    end.fields["executor"] = executor;
    world_.journal.write(record, "agent.exited", std::move(end.fields));
    co_await turns_.show(record);
    async::spawn(world_.executor, "undone start", give_back_untouched(record.task.id));
}

/// Keeps the run in the record: without TASK.md or the workflow, Orange cannot tell whether the agent left its
/// artifact. The poll reports the same death again.
void Exits::keep_for_later(const TaskId& id, Role role, const std::string& problem) {
    auto record = turns_.record_of(id).value();
    const auto before = record.notices;
    raise(world_, record, NoticeKind::agent_ended, "the " + name_text(role) + " ended, and " + problem, {},
          name_text(role));
    if (record.notices != before) turns_.save(record);
}

/// Records an end for which the workflow has no rule: Orange ended the agent, the tmux server ended with it, or the
/// workflow is lost (`problem`).
void Exits::end_without_rule(TaskRecord& record, const End& end, const std::string& problem) {
    const auto role = name_text(end.run.role);
    forget_run(runner_.activities, record, end.run, !end.run.ending);
    if (end.run.ending) runner_.budgets.wait_again(record, end.run.role);
    if (end.is_lost && !end.run.ending) {
        raise(world_, record, NoticeKind::session_lost, "the tmux server ended, and the " + role + " with it", {},
              role);
    } else if (!problem.empty()) {
        raise(world_, record, NoticeKind::agent_ended, "the " + role + " ended: " + problem, {}, role);
    }
    if (!turns_.save(record)) return;  // not counted: the poll sees the same death again
    world_.journal.write(record, end.is_lost ? "session.lost" : "agent.exited", end.fields);
}

/// Finds out what follows from the agent's end, and performs it. The first answer counts: a conversation that cannot be
/// continued, checks that have to run first, a usage limit, the end of the executor, and then the workflow's rules.
Awaitable<void> Exits::apply_rules(TaskRecord record, workflow::Library::DefinitionPtr definition, SyncedBodies synced,
                                   End end, std::string unchecked) {
    const auto limit = limit_behind(record, *definition, end);
    if (!limit && has_failed_to_resume(end)) {
        co_await begin_anew(std::move(record), definition, std::move(end), true);
        co_return;
    }
    auto outcome = co_await decide(record, *definition, synced, end, std::move(unchecked));
    if (end.run.disk_used > 0) keep_from_going_on(record.task, outcome);
    const bool died = has_died(outcome, end.how.exit_status);
    if (auto* wanted = std::get_if<engine::AwaitChecks>(&outcome)) {
        wait_for_checks(record.task.id, end.run.run, std::move(*wanted));
    } else if (died && limit) {
        runner_.usage.add(end.run.harness, limit->resets);
        end.fields["usage_limit"] = limit->text;
        co_await begin_anew(std::move(record), definition, std::move(end), false);
    } else if (died && !end.ended_as.empty()) {
        co_await end_with_executor(std::move(record), std::move(end));
    } else {
        co_await follow_rule(std::move(record), definition, std::move(outcome), std::move(synced), std::move(end));
    }
}

/// Returns the usage limit for which the agent ended by itself while its task was waiting for it.
std::optional<agents::Reading> Exits::limit_behind(const TaskRecord& record, const engine::Definition& definition,
                                                   const End& end) const {
    if (!end.by_itself || !is_awaited(definition, record.task, end.run.role)) return std::nullopt;
    return usage_limit_of(record, end.run);
}

bool Exits::has_failed_to_resume(const End& end) {
    return end.run.resumed && end.by_itself && !end.moved_task && end.age < k_resume_window;
}

Awaitable<engine::ExitOutcome> Exits::decide(const TaskRecord& record, const engine::Definition& definition,
                                             const SyncedBodies& synced, const End& end, std::string unchecked) {
    auto facts = co_await facts_of(world_, record, definition);
    if (!unchecked.empty()) facts.unknown = std::move(unchecked);
    const engine::TransitionFacts given{record.task, synced.artifacts, record.entry_sections, facts};
    co_return engine::decide_exit(definition, given, {end.run.role, end.how.exit_status});
}

/// The run stays in the record: when the checks have run, this daemon or the next one handles its end again.
void Exits::wait_for_checks(const TaskId& id, const RunId& run, engine::AwaitChecks wanted) {
    runner_.gates.run_for_exit(id, std::move(wanted), [this, id, run](std::string why) {
        async::spawn(world_.executor, "exit", agent_exited(id, run, std::move(why)));
    });
}

/// Records that the executor has ended the run. This is not a crash: the agent has done nothing wrong.
Awaitable<void> Exits::end_with_executor(TaskRecord record, End end) {
    runner_.agents.has_ended(record, end.run);
    end_without_rule(record, end,
                     "executor " + end.run.place->executor + " has ended its run (" + end.ended_as +
                         "). To go on:\n  orange task respawn " + record.task.id.value);
    co_await turns_.show(record);
}

/// Performs the workflow's rule for this end.
Awaitable<void> Exits::follow_rule(TaskRecord record, workflow::Library::DefinitionPtr definition,
                                   engine::ExitOutcome outcome, SyncedBodies synced, End end) {
    const bool died = has_died(outcome, end.how.exit_status);
    if (!died) end.under_way.reset();
    forget_run(runner_.activities, record, end.run, died);
    runner_.agents.has_ended(record, end.run);
    explain_death(record, end, outcome);
    if (auto* crash = std::get_if<engine::Crash>(&outcome)) {
        co_await handle_crash(std::move(record), definition, std::move(end), std::move(*crash));
    } else if (auto* advance = std::get_if<engine::Advance>(&outcome)) {
        co_await advance_after(std::move(record), definition, std::move(*advance), std::move(synced), std::move(end));
    } else {
        const auto* dead = std::get_if<engine::MarkDead>(&outcome);
        const bool is_told = end.run.disk_used > 0 || is_awaited(*definition, record.task, end.run.role);
        const bool is_missed = dead && !record.stopped && is_told;
        if (is_missed) {
            raise(world_, record, NoticeKind::agent_ended, "the " + dead->reason, {}, name_text(end.run.role));
        }
        if (!turns_.save(record)) co_return;  // not counted: the poll sees the same death again
        world_.journal.write(record, "agent.exited", end.fields);
    }
}

/// Completes the reason of a death. An agent that was killed by the machine or from outside is not restarted
/// automatically.
void Exits::explain_death(const TaskRecord& record, const End& end, engine::ExitOutcome& outcome) const {
    const auto& run = end.run;
    const auto role = name_text(run.role);
    const auto replace_reason = [&](const std::string& reason) {
        change_reason(outcome, [&](const std::string&) { return role + reason; });
    };
    if (!end.used_up.empty()) {
        replace_reason(" was ended by " + end.used_up);
    } else if (end.how.scope_killed) {
        replace_reason(
            " was killed from outside, with all of its processes. systemd-oomd does that if memory is short. To see "
            "whether it did: journalctl --user --unit=" +
            process::scope_of_run(run.run.value));
    } else if (end.by_itself && !end.moved_task && !run.resumed && end.age < k_start_window) {
        const auto lines = lines_of(record, run, 2, 2);
        const auto tenths = end.age / std::chrono::milliseconds(100);
        replace_reason(" (" + run.harness + ") ended with status " + std::to_string(end.how.exit_status) + " after " +
                       std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s" +
                       (lines.empty() ? "" : ": " + lines) + ". All of its output: orange task log " +
                       record.task.id.value + " --window " + run.run.value);
    } else if (end.how.exit_status != 0) {
        const auto lines = lines_of(record, run, 0, 3);
        change_reason(outcome, [&](const std::string& reason) {
            return reason + (lines.empty() ? "" : ". Its last lines: " + lines);
        });
    }
    auto* crash = std::get_if<engine::Crash>(&outcome);
    if (crash && (!end.used_up.empty() || end.how.scope_killed)) crash->respawn = false;
}

void Exits::look_at_start(const TaskId& id) {
    const auto [begin, end] = starts_->equal_range(id);
    std::for_each(begin, end, [](const auto& each) { each.second->notify(); });
}

Awaitable<void> Exits::wait_for_start(TaskId id, AgentRun run, Path run_folder) {
    auto news = std::make_shared<async::Wakeup>(world_.executor);
    const auto at = starts_->emplace(std::move(id), news);
    const std::shared_ptr<void> listens(nullptr, [starts = starts_, at](void*) { starts->erase(at); });
    FirstMoment moment(world_, std::move(run), std::move(run_folder), std::move(news));
    co_await moment.wait();
}

Awaitable<std::string> Exits::failed_start(TaskId id) {
    auto found = world_.tasks.awake(id);
    const auto runs = found ? found->runs : std::vector<AgentRun>();
    const auto status = found ? found->task.status : std::string();
    for (const auto& run : runs) {
        auto folder = runner_.agents.run_folder(*found);
        co_await wait_for_start(id, run, std::move(folder));
        if (world_.launcher.liveness(run) == agents::Liveness::dead) co_await agent_exited(id, run.run);
        found = world_.tasks.awake(id);
        if (!found) co_return std::string();
    }
    // An agent that has moved its task did start, however it ended.
    if (!found || is_restarting(id) || found->task.status != status) co_return std::string();
    std::string text;
    for (const auto kind : {NoticeKind::agent_crashed, NoticeKind::agent_ended, NoticeKind::start_failed}) {
        const auto* notice = engine::find_notice(*found, kind);
        if (notice && text.empty()) text = notice->text;
    }
    if (!text.empty()) co_await give_back_untouched(std::move(id));
    co_return text;
}

Awaitable<bool> Exits::is_untouched(const TaskRecord& record) {
    const auto worktree = co_await open_worktree(world_, record);
    if (!worktree || !workers_in(worktree->path()).empty()) co_return false;
    const auto standing = co_await git::worktree_status(world_.git, *worktree);
    co_return standing && standing->known && standing->clean && standing->head == record.branch_start &&
        standing->branch == record.task.branch;
}

/// The cause may keep the next agents from starting, too. So the freed workspace does not start a queued task.
Awaitable<void> Exits::give_back_untouched(TaskId id) {
    auto turn = co_await turns_.begin_turn(id);
    if (!turn) co_return;
    auto& record = turn->record;
    const auto* registered = world_.projects.find(record.task.project);
    const bool is_used = !record.runs.empty() || !record.held.empty() || !record.left.empty();
    if (!registered || !record.task.workspace || is_used) co_return;
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
    auto copy = task;
    const auto left = co_await walls::give_up(world_, std::move(copy));
    for (const auto& note : left) log::warn("walls", note, {{"task", id.value}});
    // A daemon that dies before this leaves a claim that the next one finds.
    if (const auto released = co_await world_.pool.release(project, task); !released) {
        log::warn("runner", released.error().message, {{"task", id.value}});
        co_return;
    }
    world_.journal.write(record, "workspace.released", {{"workspace", *task.workspace}});
}

std::string Exits::lines_of(const TaskRecord& record, const AgentRun& run, std::size_t first, std::size_t last) const {
    const auto log = world_.files.read(runner_.agents.log_file(record, run));
    return log ? shown_lines(*log, record.task.id, first, last) : std::string();
}

/// A one-shot program at its limit says so in its output and ends: there is no window to look at.
std::optional<agents::Reading> Exits::usage_limit_of(const TaskRecord& record, const AgentRun& run) const {
    const auto entry = world_.harnesses.find(run.harness);
    if (!entry || entry->harness.mode != agents::Mode::oneshot) return std::nullopt;
    const auto log = world_.files.read(runner_.agents.log_file(record, run));
    if (!log) return std::nullopt;
    auto limit = agents::limit_on(entry->harness, printable(*log, true));
    if (limit && !limit->usage_limit) limit.reset();
    return limit;
}

Awaitable<Result<Role>> Exits::start_again(TaskRecord& record, const engine::Definition& definition, bool fresh) {
    auto& slots = record.task.executor.empty() ? restarts_ : placed_restarts_;  // an executor may be silent for long
    const auto place = co_await slots.take();
    co_return co_await runner_.respawns.start_again(record, definition, fresh);
}

/// Starts the agent again without counting a crash: the next run has the same work to do. `fresh`: the run could not
/// continue its conversation, so the next one begins a new one. Otherwise the run was at its usage limit.
Awaitable<void> Exits::begin_anew(TaskRecord record, workflow::Library::DefinitionPtr definition, End end, bool fresh) {
    const auto& run = end.run;
    const auto role = name_text(run.role);
    end.under_way.reset();
    forget_run(runner_.activities, record, run, true);
    if (fresh) std::erase_if(record.sessions, [&](const auto& session) { return session.role == run.role; });
    restarting_.insert(record.task.id);
    if (!turns_.save(record)) {  // the poll sees the same death again
        restarting_.erase(record.task.id);
        co_return;
    }
    world_.journal.write(record, "agent.exited", std::move(end.fields));
    if (fresh) world_.journal.write(record, "agent.resume_failed", {{"role", role}, {"run", run.run.value}});
    const auto started = co_await start_again(record, *definition, fresh);
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

/// The commit of the transition also removes the run. A daemon that dies before the commit leaves the same death to the
/// next.
Awaitable<void> Exits::advance_after(TaskRecord record, workflow::Library::DefinitionPtr definition,
                                     engine::Advance advance, SyncedBodies synced, End end) {
    world_.journal.note_once(record, "agent.exited", end.fields);
    if (advance.crash) {
        record.task.counters["crash_count"] = advance.crash->crash_count;
        world_.journal.note_once(record, "agent.crashed", crash_fields(std::move(end.fields), record, *advance.crash));
    }
    const auto by = daemon_for("exit of " + name_text(end.run.role) + " run " + end.run.run.value);
    auto done =
        co_await runner_.transitions.perform(record, definition, std::move(advance.decision), std::move(synced), by);
    if (done) co_return;
    log::error("runner", "auto-advance failed: " + done.error().message, {{"task", record.task.id.value}});
    if (done.error().code == ErrorCode::io) co_return;  // not committed: the poll sees the same death again
    raise(world_, record, NoticeKind::agent_ended,
          "the " + name_text(end.run.role) + " ended, and the task could not advance: " + done.error().message);
    turns_.save(record);
}

Awaitable<void> Exits::handle_crash(TaskRecord record, workflow::Library::DefinitionPtr definition, End end,
                                    engine::Crash crash) {
    const auto& run = end.run;
    const auto role = name_text(run.role);
    record.task.counters["crash_count"] = crash.crash_count;
    raise(world_, record, NoticeKind::agent_crashed, "the " + crash.reason, {}, role);
    if (!crash.tell.empty()) {
        record.asked.reset();
        add_message(world_, record, run.role, Role::system, "Your last run ended, and " + crash.tell, true);
    }
    // Save the notice before the restart: if the daemon dies in between, the human is still notified.
    if (crash.respawn) restarting_.insert(record.task.id);
    if (!turns_.save(record)) {  // not counted: the poll sees the same death again
        restarting_.erase(record.task.id);
        co_return;
    }
    end.under_way.reset();
    world_.journal.write(record, "agent.exited", end.fields);
    world_.journal.write(record, "agent.crashed", crash_fields(std::move(end.fields), record, crash));
    if (crash.respawn) {
        const auto started = co_await start_again(record, *definition, false);
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
