#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/ids.hpp"
#include "common/model/role.hpp"
#include "common/model/task.hpp"

namespace orange {

/// One effect that a transition asks for: a name of the action vocabulary (seed 003) and its parameters. `argv` is
/// run_command's alone.
struct Action {
    std::string name;
    std::map<std::string, std::string> params;
    std::vector<std::string> argv;

    std::string param(const std::string& key) const {
        const auto found = params.find(key);
        return found == params.end() ? std::string{} : found->second;
    }
    bool operator==(const Action&) const = default;
};

struct PlannedAction {
    Action action;
    bool done = false;
    std::string failure = {};  ///< why it is done without effect; empty where it was done

    bool operator==(const PlannedAction&) const = default;
};

/// Who asked, and how we know.
struct Caller {
    Role role = Role::human;
    TaskId task;                ///< the agent's own task; empty for humans and the system
    RunId run;                  ///< the agent's run
    std::int64_t pid = 0;       ///< of the peer; 0 for the daemon itself
    std::string evidence;       ///< "ancestor orange-agent 4711", "terminal", "exit monitor" …
    std::string programs = {};  ///< of an agent's: "claude > bash > orange", from its own program down to the peer
    std::string through = {};   ///< the build or test runner, or program of a worktree, in between; empty: none

    bool operator==(const Caller&) const = default;
};

/// A transition that is committed but not finished: written with the new status in one rename of state.json, so that a
/// daemon killed at any instant resumes exactly the actions that are not done (workflow.md, "Executing a transition").
struct Intent {
    std::string id;  ///< unique; keys the effects, so that a resumed spawn adopts what it started
    std::string from;
    std::string to;
    Caller by;
    std::string auto_reason;  ///< not empty: an auto-advance, and why
    bool attested = true;     ///< false: a verdict that nobody can say the reviewer has given
    std::vector<PlannedAction> actions;
    Timestamp at{};

    bool operator==(const Intent&) const = default;
};

/// One agent process that the daemon started: where it is and how to tell it apart from everything that may reuse its
/// numbers. Kept until its end has been dealt with, so that one death counts at most once, across restarts too.
struct AgentRun {
    RunId run;
    Role role = Role::worker;
    std::string harness;
    std::string harness_hash;       ///< of that definition as it was when the run began; empty in older records
    std::string prompt;             ///< key of the prompt it was started with
    std::string intent;             ///< id of the intent that started it; empty for a respawn
    std::string window_name;        ///< "worker", "review-1", "worker-2" …
    std::string session_id;         ///< tmux "$3"
    std::string window_id;          ///< tmux "@7"
    std::string pane_id;            ///< tmux "%7"
    std::int64_t server_pid = 0;    ///< of the tmux server that gave those ids
    std::int64_t server_start = 0;  ///< of that pid; 0: unknown, as in older records
    std::int64_t pid = 0;           ///< of the shim (orange-agent) in the pane
    std::int64_t start_time = 0;    ///< of that pid, in clock ticks since boot: pids are reused
    bool ending = false;            ///< Orange is ending it: its death reaches no rule
    Timestamp spawned_at{};

    bool operator==(const AgentRun&) const = default;
};

/// A message for a living agent, kept until it is delivered.
struct Message {
    std::string id;
    Role to = Role::worker;
    Role from = Role::system;  ///< a human's message outlives the agent that it was for
    std::string text;
    Timestamp queued_at{};

    bool operator==(const Message&) const = default;
};

/// How far a merge has come. Each phase is saved before what belongs to the next one begins.
enum class MergePhase {
    planned,  ///< nothing has been published; a daemon that finds this undoes it
    merged,   ///< `commit` exists, and may be on its way to where it is published
    pushed,   ///< `commit` is published: at origin, or in the local branch if it is not pushed
    done,     ///< the task is done
    failed,   ///< undone; `failure` says why
};
inline constexpr std::string_view k_merge_phases[] = {"planned", "merged", "pushed", "done", "failed"};
constexpr std::string_view name_of(MergePhase phase) {
    return k_merge_phases[static_cast<std::size_t>(phase)];
}
constexpr std::optional<MergePhase> merge_phase_from(std::string_view name) {
    for (std::size_t i = 0; i < std::size(k_merge_phases); ++i) {
        if (k_merge_phases[i] == name) return static_cast<MergePhase>(i);
    }
    return std::nullopt;
}

/// A merge of the task's branch, remembered from its plan on, so that a daemon that is killed in the middle leaves one
/// that the next daemon finishes or undoes, once.
struct MergeRecord {
    MergePhase phase = MergePhase::planned;
    std::string tx;      ///< unique; its `task.merged` is recognized by it
    std::string target;  ///< the default branch
    std::string strategy = "merge";
    std::string tip;     ///< the commit of the task's branch that is merged
    std::string base;    ///< the commit of `target` that `commit` was built on
    std::string commit;  ///< the result; of a merge that was made elsewhere, the commit that brought it
    bool push = true;    ///< false: published means the local branch
    bool include_unpushed = false;
    bool keep_branch = false;
    bool elsewhere = false;  ///< somebody else had merged it: nothing was merged or pushed
    std::string forced;      ///< what a human confirmed, in words; empty: nothing had to be
    int attempts = 0;        ///< pushes that were begun
    Caller by;
    Timestamp at{};
    std::string failure;

    /// Begun, and neither finished nor undone.
    bool unfinished() const { return phase != MergePhase::done && phase != MergePhase::failed; }
    bool operator==(const MergeRecord&) const = default;
};

/// Everything in a task's state.json: the daemon's own memory of it, authoritative (data.md).
struct TaskRecord {
    Task task;
    std::optional<Intent> intent;
    std::optional<MergeRecord> merge;  ///< the last merge that was asked for
    std::vector<AgentRun> runs;        ///< at most one of each role
    std::set<Role> died;  ///< roles whose last run died without Orange ending it, until one is started or released
    std::vector<Message> outbox;
    /// Hash of each section when the current state was entered: what `fresh` gates compare with.
    std::map<std::string, std::string> entry_sections;
    /// The commit that the worktree was on when it was last given to a reviewer; "none" where it was on none; empty:
    /// it never was.
    std::string reviewed_commit;
    /// The commit that the task's branch was at when the task began on it without any work; empty if it had some.
    std::string branch_start;
    /// What its repository made git run when that was last looked at, by name, with a hash each
    /// (daemon/git/programs.hpp); nothing before it has a workspace, and after.
    std::optional<std::map<std::string, std::string>> programs;
    std::vector<std::string> programs_changed;  ///< names of those that somebody changed; until a human has looked
    /// Harness → hash of its definition when it was last started or chosen for the task.
    std::map<std::string, std::string> harness_hashes;
    std::vector<std::string> harnesses_changed;  ///< names of those that changed since; until a human has looked
    std::string unwritten_feedback;              ///< what ## Feedback of TASK.md has still to say
    bool imported = false;                       ///< from a TASK.md that had no state.json
    std::string body_hash;                       ///< of the body that both copies of TASK.md last agreed on
    std::string task_file =
        "TASK.md";                ///< the mirror in the worktree; ".orange/TASK.md" where the repository has its own
    bool ended = false;           ///< its state is terminal in its workflow
    bool queued = false;          ///< pending, and to be spawned as soon as a workspace is free
    std::int64_t queued_seq = 0;  ///< place in the project's queue: lower is earlier
    /// The state that it is started in, where it was created for one (`--status`); else the workflow's own choice.
    std::optional<std::string> start;

    /// Something has changed that a human should look at.
    bool alarmed() const { return !programs_changed.empty() || !harnesses_changed.empty(); }

    const AgentRun* run_of(Role role) const {
        for (const auto& run : runs) {
            if (run.role == role) return &run;
        }
        return nullptr;
    }
    AgentRun* run_of(Role role) { return const_cast<AgentRun*>(static_cast<const TaskRecord*>(this)->run_of(role)); }

    bool operator==(const TaskRecord&) const = default;
};

}  // namespace orange
