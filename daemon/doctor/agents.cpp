#include <algorithm>
#include <set>

#include "common/base/text.hpp"
#include "daemon/doctor/exam.hpp"
#include "daemon/process/stray_processes.hpp"
#include "daemon/runner/attention/attention.hpp"

/// Checks of agents, of the tmux server in which they run, and of what tasks wait for.
namespace orange::doctor {
namespace {

std::chrono::seconds since(const Exam& exam, Timestamp then) {
    return std::chrono::duration_cast<std::chrono::seconds>(exam.world.clock.now() - then);
}

/// Returns true if a call works on the task. Its transition is then in progress, not left unfinished.
bool is_busy(const Exam& exam, const TaskRecord& record) {
    return exam.world.task_locks.busy(record.task.id.value);
}

/// Returns the pid of the tmux server that has agents, if it still runs; otherwise 0.
std::int64_t server_with_agents(const Exam& exam) {
    for (const auto& record : exam.tasks()) {
        for (const auto& run : record.runs) {
            if (exam.world.launcher.server_start(run)) return run.server_pid;
        }
    }
    return 0;
}

/// Returns true if the server answered that the program tmux is another version than its own.
bool is_other_version(const Error& error) {
    for (const char* phrase : {"server version is too old", "protocol version mismatch", "not a terminal"}) {
        if (error.message.find(phrase) != std::string::npos) return true;
    }
    return false;
}

void tell_of_silent_tmux(Exam& exam, const Error& error) {
    const auto on_socket = " -S " + shell_word(exam.world.paths.tmux_socket().string()) + " ";
    const auto server = server_with_agents(exam);
    if (!is_other_version(error) || server == 0) {
        exam.report.wrong("the tmux server does not answer: " + error.message, "tmux" + on_socket + "list-sessions");
        return;
    }
    const auto pid = std::to_string(server);
    const auto old_program = "/proc/" + pid + "/exe";  // also of a program whose file is gone
    const bool is_reachable = exam.world.files.facts_of(old_program).has_value();
    exam.report.wrong(
        "tmux was replaced while its server (" + pid + ") runs: " + error.message +
            ". Its agents go on, but Orange can neither read nor type in their windows, and starts no agent. Let the "
            "agents finish" +
            (is_reachable ? ", or work with them through the old program (the command below)" : "") +
            ". Then end the server, which ends the agents that are left: `kill " + pid +
            "`. `orange task respawn --all` starts those again, in the new tmux",
        is_reachable ? old_program + on_socket + "attach-session" : "kill " + pid);
}

}  // namespace

Awaitable<void> check_tmux(Exam& exam) {
    auto state = co_await exam.world.tmux.list();
    if (!state) {
        tell_of_silent_tmux(exam, state.error());
        co_return;
    }
    if (state->server_pid == 0) {
        exam.report.ok("no tmux server runs; the first agent starts one");
    } else {
        exam.report.ok("tmux server " + std::to_string(state->server_pid) + ", " +
                       counted(state->panes.size(), "window"));
    }
    exam.tmux = std::move(*state);
}

namespace {

/// Returns the command that makes the server of a lost agent reachable. Only one server can be reached at a time. If
/// the answering one has no agents, the command ends it; otherwise it ends the lost agent, which can then be started
/// again in the answering server.
std::string command_for(const TmuxState& answering, const AgentRun& lost) {
    const auto wake = "kill -USR1 " + std::to_string(lost.server_pid);
    if (answering.server_pid == 0) return wake;
    if (answering.panes.empty()) return "kill " + std::to_string(answering.server_pid) + "; sleep 1; " + wake;
    return "kill " + std::to_string(lost.pid);
}

}  // namespace

Awaitable<void> check_servers(Exam& exam) {
    if (!exam.tmux) co_return;
    for (const auto& record : exam.tasks()) {
        for (const auto& run : record.runs) {
            if (run.server_pid == 0 || agents::is_on_server(run, *exam.tmux)) continue;
            if (exam.world.launcher.liveness(run) != agents::Liveness::alive) continue;
            const auto server = std::to_string(run.server_pid);
            exam.report.wrong("the " + name_text(run.role) + " of " + record.task.id.value + " runs in tmux server " +
                                  server +
                                  ", which cannot be reached, because another "
                                  "server answers",
                              command_for(*exam.tmux, run));
        }
    }
}

Awaitable<void> check_agents(Exam& exam) {
    for (const auto& record : exam.tasks()) {
        if (record.intent || is_busy(exam, record)) continue;
        const auto definition = exam.runner.turns.definition_of(record.task);
        const auto* state = definition ? (*definition)->state(record.task.status) : nullptr;
        if (!state || !state->agent) continue;
        const bool waits_for_room = record.held_start(*state->agent) != nullptr;
        if (exam.runner.agents.alive(record, *state->agent) || record.stopped || waits_for_room) continue;
        exam.report.wrong("the " + name_text(*state->agent) + " of task " + record.task.id.value +
                              " is not running (status " + record.task.status + ")" +
                              (record.task.attention ? ": " + *record.task.attention : std::string()),
                          "orange task respawn " + record.task.id.value);
    }
    std::set<std::string> runs;
    for (const auto& id : exam.world.tasks.active()) {
        const auto record = exam.world.tasks.awake(id);
        for (const auto& run : record ? record->runs : std::vector<AgentRun>()) runs.insert(run.run.value);
    }
    for (const auto& left : process::of_ended_runs(exam.world.paths.home.string(), runs)) {
        exam.report.warn("an agent that has ended left a process: " + process::shown({left}),
                         "kill " + std::to_string(left.pid));
    }
    co_return;
}

Awaitable<void> check_intents(Exam& exam) {
    for (const auto& record : exam.tasks()) {
        if (is_busy(exam, record)) continue;
        if (const auto merge = Merges::under_way(record); !merge.empty()) {
            exam.report.wrong("task " + record.task.id.value + ": " + merge + "; Orange tries again at each poll",
                              "orange task merge " + record.task.id.value);
        }
        if (!record.intent) continue;
        exam.report.wrong("task " + record.task.id.value + ": " + record.intent->from + " → " + record.intent->to +
                              " is not finished; Orange tries again at each poll" +
                              (record.task.attention ? ": " + *record.task.attention : std::string()),
                          "orange task why " + record.task.id.value);
    }
    co_return;
}

Awaitable<void> check_messages(Exam& exam) {
    for (const auto& record : exam.tasks()) {
        const auto late = std::count_if(record.outbox.begin(), record.outbox.end(), [&](const Message& message) {
            return since(exam, message.queued_at) > exam.world.settings.message_patience;
        });
        if (late == 0) continue;
        const auto& first = record.outbox.front();
        exam.report.warn("task " + record.task.id.value + ": " + counted(static_cast<std::size_t>(late), "message") +
                             " for its " + name_text(first.to) + " could not be typed for " +
                             spoken(since(exam, first.queued_at)) + "; its window may show a dialog",
                         "orange task attach " + record.task.id.value);
    }
    co_return;
}

Awaitable<void> check_attention(Exam& exam) {
    std::vector<std::pair<std::string, Needs>> all;
    for (const auto& record : exam.tasks()) {
        const auto needs = needs_of(exam.runner, record);
        if (needs.kind > Need::start) all.emplace_back(record.task.id.value, needs);
        for (const auto& notice : all_notices(record)) {
            if (notice.text != needs.text) {
                exam.report.warn("task " + record.task.id.value + ": " + notice.text,
                                 "orange task why " + record.task.id.value);
            }
        }
    }
    if (all.size() == 1) {
        const auto& [id, needs] = all.front();
        exam.report.warn("task " + id + " needs you (" + name_text(needs.kind) + "): " + needs.text,
                         needs.command.text());
    }
    if (all.size() < 2) co_return;
    std::vector<std::string> names;
    for (const auto& [id, needs] : all) names.push_back(id + " (" + name_text(needs.kind) + ")");
    exam.report.warn(counted(all.size(), "task") + " need you: " + join(names, ", "), "orange inbox");
}

}  // namespace orange::doctor
