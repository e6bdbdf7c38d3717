#include "daemon/agents/identity.hpp"

#include <algorithm>

// The order is from what a process cannot help having to what it can put on like a coat. On Linux the shim is a child
// subreaper, so that it stays an ancestor whatever its agent does (setsid, double forks); session and terminal serve
// where the shim died; the environment survives everything but `env -i`; and what leaves all of these behind through
// tmux (run-shell, a new window) still descends from Orange's tmux server.
namespace orange::agents {
namespace {

constexpr std::size_t k_longest_ancestry = 1000;
constexpr int k_attempts = 3;

bool is_inside(const std::string& path, const std::string& folder) {
    return !folder.empty() && path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

/// One walk up; a parent that ends meanwhile leaves it incomplete, and its child with a new parent.
Evidence walk(ProcessTable& table, std::int64_t peer) {
    Evidence found;
    found.pid = peer;
    for (auto pid = peer; pid > 0;) {
        const auto entry = table.entry(pid);
        if (!entry || found.ancestors.size() >= k_longest_ancestry) return found;
        if (pid == peer) {
            found.session = entry->session;
            found.tty = entry->tty;
        }
        found.ancestors.push_back({pid, entry->start_time});
        found.under_shim = found.under_shim || entry->shim;
        if (found.claim.task.empty()) found.claim = table.claim(pid);
        pid = entry->parent;
    }
    found.complete = !found.ancestors.empty();
    return found;
}

Caller agent(const LivingRun& run, std::int64_t pid, std::string evidence) {
    return {run.role, run.task, run.run, pid, std::move(evidence)};
}

Caller unknown(std::int64_t pid, std::string evidence) {
    return {Role::unknown, {}, {}, pid, std::move(evidence)};
}

template <class Holds>
const LivingRun* first_run(const std::vector<LivingRun>& runs, Holds holds) {
    const auto found = std::find_if(runs.begin(), runs.end(), holds);
    return found == runs.end() ? nullptr : &*found;
}

std::optional<Caller> by_ancestor(const Evidence& evidence, const std::vector<LivingRun>& runs) {
    for (const auto& ancestor : evidence.ancestors) {
        if (const auto* run = first_run(runs, [&](const LivingRun& r) { return r.shim == ancestor; })) {
            return agent(*run, evidence.pid, "ancestor orange-agent " + std::to_string(ancestor.pid));
        }
    }
    return std::nullopt;
}

std::optional<Caller> by_session(const Evidence& evidence, const std::vector<LivingRun>& runs) {
    const auto* run =
        first_run(runs, [&](const LivingRun& r) { return r.session != 0 && r.session == evidence.session; });
    if (run) return agent(*run, evidence.pid, "session " + std::to_string(evidence.session));
    run = first_run(runs, [&](const LivingRun& r) { return r.tty != 0 && r.tty == evidence.tty; });
    if (run) return agent(*run, evidence.pid, "terminal of the agent's window");
    return std::nullopt;
}

/// What remains when a claim names no living run: a survivor of an ended run, one that is just being registered, or a
/// made-up one.
Caller unregistered(const Evidence& evidence) {
    const TaskId task{evidence.claim.task};
    if (!is_task_id(task.value)) return unknown(evidence.pid, "ORANGE_TASK is set, but names no task");
    if (evidence.claim.role != name_of(Role::reviewer)) {
        return {Role::worker, task, {}, evidence.pid, "environment ORANGE_TASK"};
    }
    if (!evidence.under_shim || evidence.claim.run.empty()) {
        return unknown(evidence.pid, "ORANGE_ROLE says reviewer, but no such reviewer is running");
    }
    return {Role::reviewer, task, RunId{evidence.claim.run}, evidence.pid, "environment ORANGE_RUN below orange-agent"};
}

std::optional<Caller> by_environment(const Evidence& evidence, const std::vector<LivingRun>& runs) {
    const auto& claim = evidence.claim;
    if (claim.task.empty()) return std::nullopt;
    const auto of_task = [&](const LivingRun& run) { return run.task.value == claim.task; };
    const auto* exact = first_run(runs, [&](const LivingRun& run) {
        return of_task(run) && !claim.run.empty() && run.run.value == claim.run && name_of(run.role) == claim.role;
    });
    if (exact) return agent(*exact, evidence.pid, "environment ORANGE_RUN");
    if (claim.role != name_of(Role::reviewer)) {
        const auto* worker = first_run(runs, [&](const LivingRun& r) { return of_task(r) && r.role == Role::worker; });
        if (worker) return agent(*worker, evidence.pid, "environment ORANGE_TASK");
    }
    return unregistered(evidence);
}

/// Worker and reviewer share a worktree: the one with fewer rights is assumed, and no particular run.
std::optional<Caller> by_directory(const Evidence& evidence, const std::vector<LivingRun>& runs) {
    if (evidence.tty != 0) return std::nullopt;
    const auto* run =
        first_run(runs, [&](const LivingRun& r) { return is_inside(evidence.working_directory, r.worktree); });
    if (!run) return std::nullopt;
    return Caller{Role::worker, run->task, {}, evidence.pid, "directory " + run->worktree + ", without a terminal"};
}

}  // namespace

Evidence collect_evidence(ProcessTable& table, std::int64_t pid, std::int64_t start_time, bool same_user) {
    Evidence found;
    for (int attempt = 0; attempt < k_attempts && !found.complete; ++attempt) {
        found = walk(table, pid);
        if (found.ancestors.empty()) break;
        found.working_directory = table.working_directory(pid);
        // Looked at once more at the end: otherwise all of the above might be about a later process.
        const auto again = table.entry(pid);
        const auto first = start_time != 0 ? start_time : found.ancestors.front().start_time;
        if (!again || again->start_time != first) {
            found = Evidence{};
            break;
        }
    }
    found.pid = pid;
    found.same_user = same_user;
    return found;
}

LivingRun living_run(ProcessTable& table, const TaskId& task, const AgentRun& run, std::string worktree) {
    LivingRun living{task, run.role, run.run, {run.pid, run.start_time}, 0, 0, std::move(worktree)};
    const auto shim = table.entry(run.pid);
    if (shim && shim->start_time == run.start_time) {
        living.session = shim->session;
        living.tty = shim->tty;
    }
    return living;
}

Caller identify(const Evidence& evidence, const std::vector<LivingRun>& runs, std::int64_t tmux_server) {
    const auto pid = evidence.pid;
    if (!evidence.same_user) return unknown(pid, "another user");
    if (auto caller = by_ancestor(evidence, runs)) return *caller;
    if (auto caller = by_session(evidence, runs)) return *caller;
    if (auto caller = by_environment(evidence, runs)) return *caller;
    if (auto caller = by_directory(evidence, runs)) return *caller;
    if (evidence.under_shim) return unknown(pid, "an orange-agent that is not registered");
    const bool from_tmux = tmux_server != 0 && std::any_of(evidence.ancestors.begin(), evidence.ancestors.end(),
                                                           [&](const ProcessId& p) { return p.pid == tmux_server; });
    if (from_tmux) return unknown(pid, "Orange's tmux server, but none of its agents; use a terminal of your own");
    if (!evidence.complete) return unknown(pid, "the caller was gone before it could be looked at");
    return {Role::human, {}, {}, pid, evidence.tty != 0 ? "terminal" : "no agent among its ancestors"};
}

}  // namespace orange::agents
