#include "daemon/agents/identity.hpp"

#include <algorithm>

#include "daemon/engine/permissions.hpp"

// The evidence is used in the order of how hard it is to fake. On Linux the shim is a child subreaper, so it remains an
// ancestor whatever its agent does (setsid, double forks, an empty environment). Through tmux a process gets another
// ancestor, and any environment and terminal. A descendant of Orange's tmux server without a registered shim in between
// is therefore unknown, whatever it says about itself, and so is a descendant of an orange-agent that the daemon did
// not start. If the shim has died, its session is the evidence (also on macOS, which has no subreaper). Then come the
// two other subreapers, whose orphans are unknown: the keeper above the tmux server, and the daemon. Terminals are not
// compared: a terminal controls one session, and its leader is the shim.
namespace orange::agents {
namespace {

constexpr std::size_t k_longest_ancestry = 1000;
constexpr int k_attempts = 3;

/// Walks up once. If a parent ends meanwhile, its child has a new parent, and the walk is incomplete.
Evidence walk(ProcessTable& table, std::int64_t peer) {
    Evidence found;
    found.pid = peer;
    for (auto pid = peer; pid > 0;) {
        const auto entry = table.entry(pid);
        if (!entry || found.ancestors.size() >= k_longest_ancestry) return found;
        if (pid == peer) {
            found.session.pid = entry->session;
            found.tty = entry->tty;
        }
        found.ancestors.push_back({pid, entry->start_time});
        if (entry->shim) found.below_shim = found.ancestors.size() - 1;
        found.under_shim = found.under_shim || entry->shim;
        found.under_inner = found.under_inner || entry->inner;
        found.under_keeper = found.under_keeper || entry->keeper;
        if (found.claim.task.empty()) found.claim = table.claim(pid);
        pid = entry->parent;
    }
    found.complete = !found.ancestors.empty();
    return found;
}

Caller agent(const KnownRun& run, std::int64_t pid, std::string evidence) {
    return {run.role, run.task, run.run, pid, std::move(evidence)};
}

Caller unknown(std::int64_t pid, std::string evidence) {
    return {Role::unknown, {}, {}, pid, std::move(evidence)};
}

std::optional<Caller> by_ancestor(const Evidence& evidence, const Registry& registry) {
    for (std::size_t i = 0; i < evidence.ancestors.size(); ++i) {
        const auto& ancestor = evidence.ancestors[i];
        const auto run = registry.run_of_shim(ancestor);
        if (!run) continue;
        auto caller = agent(*run, evidence.pid, "ancestor orange-agent " + std::to_string(ancestor.pid));
        auto between = evidence.programs;
        between.resize(std::min(i, between.size()));
        auto chain = call_chain(between, [&](const std::string& file) { return registry.task_at(file).has_value(); });
        caller.programs = std::move(chain.text);
        caller.through = std::move(chain.through);
        return caller;
    }
    return std::nullopt;
}

/// Finds callers that weaker evidence would give more rights.
std::optional<Caller> by_stranger(const Evidence& evidence, const Registry& registry) {
    if (evidence.under_shim) return unknown(evidence.pid, "below an orange-agent whose run is over, or never was");
    // On a node of a cluster, nothing but this shim is above the agent, and the run's socket identifies it.
    if (evidence.under_inner && evidence.socket_run.empty()) {
        return unknown(evidence.pid, "below an orange-agent --inner, and not on the socket of its run");
    }
    for (const auto& ancestor : evidence.ancestors) {
        if (registry.is_tmux_server(ancestor)) {
            return unknown(evidence.pid, "below Orange's tmux server, but below none of its agents");
        }
    }
    if (!evidence.complete) return unknown(evidence.pid, "it was gone before it could be looked at");
    return std::nullopt;
}

std::optional<Caller> by_session(const Evidence& evidence, const Registry& registry) {
    const auto& leader = evidence.session;
    const auto run = leader.start_time == 0 ? registry.run_of_session(leader.pid) : registry.run_of_shim(leader);
    if (!run) return std::nullopt;
    auto caller = agent(*run, evidence.pid, "session " + std::to_string(leader.pid) + " of an orange-agent");
    // The orange-agent is gone, so the programs between the reviewer and this call are not known.
    if (run->role == Role::reviewer) caller.through = "a process that had lost its orange-agent";
    return caller;
}

/// Finds orphans whose parent has ended, and children of the daemon.
std::optional<Caller> by_subreaper(const Evidence& evidence, const Registry& registry) {
    if (evidence.under_keeper)
        return unknown(evidence.pid, "an orphan of Orange's tmux server, below none of its agents");
    for (const auto& ancestor : evidence.ancestors) {
        // An agent can set a filter in the repository's configuration, and the daemon's git runs the filter.
        if (registry.is_daemon(ancestor.pid)) {
            return unknown(evidence.pid, "below the daemon itself, which runs filters, setup commands and hooks");
        }
    }
    return std::nullopt;
}

/// Uses the evidence that the kernel has and a process cannot choose.
std::optional<Caller> by_kernel(const Evidence& evidence, const Registry& registry) {
    if (auto caller = by_ancestor(evidence, registry)) return caller;
    if (auto caller = by_stranger(evidence, registry)) return caller;
    if (auto caller = by_session(evidence, registry)) return caller;
    return by_subreaper(evidence, registry);
}

/// Decides about a caller that used a run's socket. All runs have one user, so an agent can open the socket of another.
Caller by_socket(const Evidence& evidence, const Registry& registry, const std::optional<Caller>& traced) {
    const auto run = registry.run_of(evidence.socket_task, evidence.socket_run);
    if (traced && (traced->role == Role::unknown || (run && traced->run == run->run))) return *traced;
    if (!run) return unknown(evidence.pid, "it used the socket of a run that has ended");
    if (traced) {
        const auto owner = engine::describe(agent(*run, 0, {}));
        return unknown(evidence.pid, "it used the socket of " + owner + ", but is " + engine::describe(*traced));
    }
    auto caller = agent(
        *run, evidence.pid,
        evidence.from.empty() ? std::string(engine::k_socket_evidence) : "its run's token, from " + evidence.from);
    if (run->role == Role::reviewer) {
        caller.through = evidence.from.empty() ? "a process that Orange knows only by the reviewer's socket"
                                               : "another machine, where Orange sees no processes";
    }
    return caller;
}

/// The environment never makes a process a reviewer: each process of the user can read the id of the reviewer's run.
std::optional<Caller> by_environment(const Evidence& evidence, const Registry& registry) {
    const auto& claim = evidence.claim;
    if (claim.task.empty()) return std::nullopt;
    const TaskId task{claim.task};
    if (!is_task_id(task.value)) return unknown(evidence.pid, "ORANGE_TASK is set, but names no task");
    if (claim.role == name_of(Role::reviewer)) {
        return unknown(evidence.pid, "ORANGE_ROLE says reviewer, but it is not below the reviewer's orange-agent");
    }
    const auto run = registry.run_of_worker(task);
    if (!run) return Caller{Role::worker, task, {}, evidence.pid, "environment ORANGE_TASK"};
    return agent(*run, evidence.pid,
                 claim.run == run->run.value ? "environment ORANGE_RUN" : "environment ORANGE_TASK");
}

/// Worker and reviewer share a worktree. The caller counts as a worker, which has fewer rights, and as no run.
std::optional<Caller> by_directory(const Evidence& evidence, const Registry& registry) {
    if (evidence.tty != 0) return std::nullopt;
    const auto task = registry.task_at(evidence.working_directory);
    if (!task) return std::nullopt;
    return Caller{
        Role::worker, *task, {}, evidence.pid, "directory " + evidence.working_directory + ", without a terminal"};
}

}  // namespace

Evidence collect_evidence(ProcessTable& table, std::int64_t pid, std::int64_t start_time, bool same_user) {
    Evidence found;
    for (int attempt = 0; attempt < k_attempts && !found.complete; ++attempt) {
        found = walk(table, pid);
        if (found.ancestors.empty()) break;
        if (const auto leader = table.entry(found.session.pid)) found.session.start_time = leader->start_time;
        found.working_directory = table.working_directory(pid);
        found.ssh_client = table.ssh_client(pid);
        found.ssh_agent = table.ssh_agent(pid);
        for (std::size_t i = 0; i < found.below_shim; ++i) {
            found.programs.push_back(table.program(found.ancestors[i].pid));
        }
        // The pid may belong to a later process by now. Then all that was read may be about that process.
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

bool is_early(const Evidence& evidence, const Registry& registry) {
    if (!evidence.same_user || !evidence.under_shim || by_ancestor(evidence, registry)) return false;
    const auto run = registry.run_of(TaskId{evidence.claim.task}, RunId{evidence.claim.run});
    return run && run->shim.pid == 0;
}

Caller identify(const Evidence& evidence, const Registry& registry) {
    if (!evidence.same_user) return unknown(evidence.pid, "another user");
    if (!evidence.from.empty()) return by_socket(evidence, registry, std::nullopt);
    const auto traced = by_kernel(evidence, registry);
    if (!evidence.socket_run.empty()) return by_socket(evidence, registry, traced);
    if (traced) return *traced;
    if (auto caller = by_environment(evidence, registry)) return *caller;
    if (auto caller = by_directory(evidence, registry)) return *caller;
    std::string trace = evidence.tty != 0 ? "terminal" : "no agent among its ancestors";
    if (!evidence.ssh_client.empty()) trace = "ssh from " + evidence.ssh_client;
    return {Role::human, {}, {}, evidence.pid, std::move(trace)};
}

}  // namespace orange::agents
