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
#include "common/base/names.hpp"
#include "common/model/check.hpp"
#include "common/model/notice.hpp"
#include "common/model/pull_request.hpp"
#include "common/model/role.hpp"
#include "common/model/task.hpp"
#include "common/model/usage.hpp"

/// The records of Orange: tasks, runs of agents, merges, notices, projects. The store writes them to disk, and replies
/// contain parts of them. A record is plain data, and describes each of its fields once (record_fields.hpp); json.hpp
/// reads and writes it. A field's name never changes, because older and newer versions read the same files.
namespace orange {

/// An effect of a transition: the name of an action (docs/workflow.md) and its parameters. Only run_command has `argv`.
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
    std::string failure = {};
    bool later = false;

    void describe(auto& v);
    bool operator==(const PlannedAction&) const = default;
};

/// The caller of a change, and the evidence for it.
struct Caller {
    Role role = Role::human;
    TaskId task;
    RunId run;
    std::int64_t pid = 0;
    std::string evidence;
    std::string programs = {};
    std::string through = {};

    void describe(auto& v);
    bool operator==(const Caller&) const = default;
};

/// A transition that is committed but not finished. The intent is written with the new status in one rename of
/// state.json, so that a daemon which is killed at any time resumes exactly the actions that are not done.
struct Intent {
    std::string id;
    std::string from;
    std::string to;
    Caller by;
    std::string auto_reason;
    bool attested = true;
    std::vector<PlannedAction> actions;
    Timestamp at{};
    std::string workspace;
    std::int64_t tokens = 0;

    void describe(auto& v);
    bool operator==(const Intent&) const = default;
};

/// The place in which an executor runs an agent (docs/executors.md). An agent in `local` has none: it is a child of the
/// shim in its window.
struct RunPlace {
    std::string executor;
    std::vector<std::string> stop;
    std::vector<std::string> probe;
    std::vector<std::string> queued;
    std::optional<Timestamp> started_at = {};
    std::optional<Timestamp> queued_since = {};
    std::string place = {};
    std::vector<std::string> ended = {};
    std::string token = {};
    std::optional<std::string> ended_as = {};
    bool hides = false;
    std::vector<std::string> over = {};
    std::string network = {};  ///< text_of() of its network; empty: full
    bool limits_processes = false;

    /// Returns true for a run on another machine, whose calls and writes the kernel of this one does not report.
    bool is_elsewhere() const { return !token.empty(); }

    void describe(auto& v);
    bool operator==(const RunPlace&) const = default;
};

/// A run that has ended, and whose executor may still have something of it.
struct LeftRun {
    RunId run;
    std::string executor;
    std::vector<std::string> stop;
    Timestamp since{};
    std::vector<std::string> probe = {};
    std::vector<std::string> over = {};

    void describe(auto& v);
    bool operator==(const LeftRun&) const = default;
};

/// One agent process that the daemon started: where it is and how to tell it apart from everything that may reuse its
/// numbers. Kept until its end has been dealt with, so that one death counts at most once, across restarts too.
struct AgentRun {
    RunId run;
    Role role = Role::worker;
    std::string harness;
    std::string harness_hash;
    std::string model;
    std::string prompt;
    std::string intent;
    std::string window_name;
    std::string session_id;
    std::string window_id;
    std::string pane_id;
    std::int64_t server_pid = 0;
    std::int64_t server_start = 0;
    std::int64_t pid = 0;
    std::int64_t start_time = 0;
    bool ending = false;
    bool resumed = false;
    Timestamp spawned_at{};
    std::int64_t memory_limit = 0;
    std::int64_t oom_kills = 0;
    std::int64_t processes_limit = 0;
    bool forks_refused = false;
    std::int64_t disk_limit = 0;
    std::int64_t disk_used = 0;
    std::optional<RunPlace> place = {};
    std::optional<RunUsage> usage = {};

    /// Returns the limit of processes that Orange itself sets; 0: none, or its executor sets it.
    std::int64_t own_processes_limit() const { return place && place->limits_processes ? 0 : processes_limit; }
    /// The agent itself, not only what an executor needs to start it.
    bool has_begun() const { return !place || place->started_at; }
    /// When the agent began, as far as it has.
    Timestamp began_at() const { return place && place->started_at ? *place->started_at : spawned_at; }

    void describe(auto& v);
    bool operator==(const AgentRun&) const = default;
};

/// An agent that the task's state needs, but for which there is no room yet. When there is, it starts with these
/// parameters.
struct DeferredStart {
    Role role = Role::worker;
    std::string prompt;
    std::string permissions;
    std::string intent;
    bool respawn = false;
    bool resume = false;
    Timestamp since{};

    void describe(auto& v);
    bool operator==(const DeferredStart&) const = default;
};

/// The last reminder of an idle agent.
struct Reminder {
    std::string text;
    Timestamp entered{};
    int times = 0;
    Timestamp at{};

    void describe(auto& v);
    bool operator==(const Reminder&) const = default;
};

/// The conversation in an agent's own program, which its next run can continue.
struct NativeSession {
    Role role = Role::worker;
    std::string harness;
    std::string id;
    std::string worktree;
    std::string transcript = {};

    void describe(auto& v);
    bool operator==(const NativeSession&) const = default;
};

/// The work with which the task began, if it began with that of another task (`orange fork`) or of a person's worktree
/// (`orange create --from-session`), and the conversation that its first worker continues in a copy.
struct ForkedWork {
    TaskId task;         ///< empty: the work was in a person's worktree
    std::string commit;  ///< with the uncommitted work; the branch begins at it
    std::string base;    ///< the last commit that is not of that work
    std::optional<NativeSession> talk = {};
    RunId run = {};  ///< the run that continues the copy; empty: none has begun yet

    void describe(auto& v);
    bool operator==(const ForkedWork&) const = default;
};

/// A message for an agent. A message is kept until it is typed; the last few stay longer, until the agent has taken
/// them, and for people to read.
struct Message {
    std::string id;
    Role to = Role::worker;
    Role from = Role::system;
    std::string text;
    Timestamp queued_at{};
    std::optional<Timestamp> typed_at = {};
    int times = 0;
    bool seen = false;
    bool lasts = false;
    bool told = false;
    bool acknowledged = false;

    /// Returns true if the message is also for the next run of its role.
    bool waits() const { return from == Role::human || lasts; }
    /// Returns "queued", "typed" or "seen".
    std::string_view state() const { return seen ? "seen" : typed_at ? "typed" : "queued"; }

    void describe(auto& v);
    bool operator==(const Message&) const = default;
};

/// The progress of a merge. Each phase is saved before the next one begins.
enum class MergePhase {
    planned,  ///< nothing has been published; a daemon that finds this undoes it
    merged,   ///< `commit` exists, and may already be on its way to origin or the local branch
    pushed,   ///< `commit` is published: at origin, or, without a push, in the local branch
    done,     ///< the task is done
    failed,   ///< undone; `failure` is the reason
};
inline constexpr NameRow<MergePhase> k_merge_phases[] = {
    {MergePhase::planned, "planned"}, {MergePhase::merged, "merged"}, {MergePhase::pushed, "pushed"},
    {MergePhase::done, "done"},       {MergePhase::failed, "failed"},
};
static_assert(has_row_for_each<k_merge_phases>());
constexpr std::string_view name_of(MergePhase phase) {
    return k_merge_phases[static_cast<std::size_t>(phase)].name;
}
constexpr std::optional<MergePhase> from_name(std::string_view name, MergePhase) {
    return kind_named(k_merge_phases, name);
}

/// A merge of the task's branch, recorded from its plan on, so that the next daemon finishes or undoes a merge, exactly
/// once, in which a daemon was killed.
struct MergeRecord {
    MergePhase phase = MergePhase::planned;
    std::string tx;
    std::string target;
    std::string strategy = "merge";
    std::string tip;
    std::string base;
    std::string commit;
    bool push = true;
    bool include_unpushed = false;
    bool keep_branch = false;
    bool elsewhere = false;
    std::int64_t pull = 0;
    std::string forced;
    std::string checks;
    std::string train;
    int attempts = 0;
    Caller by;
    Timestamp at{};
    std::string failure;

    void describe(auto& v);
    /// Returns true if the merge is neither finished nor undone.
    bool unfinished() const { return phase != MergePhase::done && phase != MergePhase::failed; }
    bool operator==(const MergeRecord&) const = default;
};

/// A requested transition that is taken as soon as the checks pass on this commit. Another commit, another status or a
/// failed check ends the request.
struct AskedTransition {
    std::string to;
    std::string commit;
    Caller by;
    Timestamp at{};
    bool force = false;

    void describe(auto& v);
    bool operator==(const AskedTransition&) const = default;
};

/// The contents of a task's state.json: the daemon's authoritative memory of the task.
/// A human's answer to a request of an agent's program, until an event of the program shows what became of it.
struct PermitAnswer {
    std::int64_t number = 0;
    RunId run;
    Role role = Role::worker;
    std::string key;
    std::string tool;
    std::string line;
    bool allowed = false;
    std::string text;
    std::string evidence;
    Timestamp at{};
    std::int64_t before = 0;

    void describe(auto& v);
    bool operator==(const PermitAnswer&) const = default;
};

/// An agent that tries a task which several are to try, and the sub-task in which it does.
struct AttemptRow {
    TaskId id;
    std::string name;
    std::string harness;
    std::optional<std::string> effort = {};
    std::optional<std::string> model = {};
    std::string review_harness = {};
    std::optional<std::string> review_effort = {};
    std::optional<std::string> review_model = {};
    bool made = false;

    void describe(auto& v);
    bool operator==(const AttemptRow&) const = default;
};

struct TaskRecord {
    Task task;
    std::optional<Intent> intent;
    std::optional<MergeRecord> merge;
    std::optional<CheckRecord> checked;
    std::optional<CheckRecord> merge_checked;
    std::optional<PullRequest> pull_request;
    std::set<std::string> pull_told;
    std::vector<AgentRun> runs;
    std::vector<DeferredStart> held;
    std::vector<LeftRun> left = {};
    std::set<Role> died;
    std::vector<Message> outbox;
    std::vector<Message> typed;
    std::vector<NativeSession> sessions;
    std::optional<Reminder> reminder;
    std::map<std::string, std::string> entry_sections;
    std::string reviewed_commit;
    std::string branch_start;
    std::optional<std::map<std::string, std::string>> programs;  ///< daemon/git/programs.hpp
    std::vector<std::string> programs_changed;
    std::map<std::string, std::string> harness_hashes;
    std::vector<std::string> harnesses_changed;
    std::string unwritten_feedback;
    std::string unwritten_files;
    bool imported = false;
    std::string body_hash;
    std::string task_file = "TASK.md";
    bool ended = false;
    bool queued = false;
    std::int64_t queued_seq = 0;
    std::optional<std::string> start;
    std::vector<Notice> notices;  ///< only engine/notices.hpp changes them
    std::optional<Timestamp> entered_at;
    std::string moved_because;
    TaskId continued_by = {};
    std::vector<std::string> failed_reviews;
    std::string unknown;  ///< members of state.json that only a newer Orange knows, as JSON; written back as they are
    std::string questions;
    std::string question;
    std::optional<std::string> answered;
    bool stopped = false;
    std::optional<Timestamp> notified;
    std::optional<std::string> to_tell = {};
    std::set<TaskId> blockers_done = {};
    std::set<TaskId> blockers_gone = {};
    TaskId stacked_on = {};
    std::optional<AskedTransition> asked;
    std::set<TaskId> children_done = {};
    std::vector<TaskId> unapproved_told = {};
    std::vector<TaskId> trouble_told = {};
    bool unapproved = false;
    bool into_parent = false;
    std::set<TaskId> told_of = {};
    std::vector<UsageRow> usage = {};  ///< of runs that have ended
    std::vector<TimeRow> times = {};
    std::optional<TimeOpen> time_open = {};  ///< what is not in `times` yet
    std::optional<BudgetPass> budget_pass = {};
    std::map<std::string, std::string> reviews = {};  ///< section → the commit that it is about, and its hash
    std::int64_t comment_step = 0;                    ///< the last step of its comments that has happened (comment.hpp)
    std::int64_t permits_asked = 0;                   ///< the number of the last request of an agent's program
    std::vector<PermitAnswer> permits_answered = {};
    std::string on_seen = {};  ///< engine::Below::seen of the task that it is built on, as it has been dealt with
    std::string on_told = {};  ///< the same, as its worker and its human were told
    std::string on_move = {};  ///< the commits of a move of its branch that is not finished: old, new, new base
    std::vector<AttemptRow> attempts = {};  ///< of a task that several agents try
    TaskId picked = {};                     ///< the attempt that its human has picked
    std::optional<Caller> picked_by = {};
    std::string attempt = {};    ///< of a sub-task that is an attempt: its name
    bool unpicked = false;       ///< an attempt, and another one was picked
    std::string near_told = {};  ///< the budget that its human was told is nearly used up, with its day if it has one
    std::optional<ForkedWork> forked = {};
    std::int64_t disk_over = 0;  ///< bytes of its worktree when an agent was ended for limits.disk

    void describe(auto& v);

    /// Returns the blockers that are not known to be done, and the task that it is built on until that is reviewed. The
    /// task starts when there are none.
    std::vector<TaskId> waits_for() const {
        std::vector<TaskId> open;
        for (const auto& id : task.blocked_by) {
            if (!blockers_done.contains(id)) open.push_back(id);
        }
        if (!task.on.empty() && !blockers_done.contains(task.on)) open.push_back(task.on);
        return open;
    }
    /// Returns true while the branch has commits of the task that it is built on: `task.base` is the last of them.
    bool stands_on_other() const { return !task.on.empty() && task.base && stacked_on.empty(); }
    /// Returns the attempt of that id; nullptr if there is none.
    const AttemptRow* attempt_of(const TaskId& id) const {
        for (const auto& each : attempts) {
            if (each.id == id) return &each;
        }
        return nullptr;
    }
    /// Returns the last result of checks, for a review or for a merge.
    const std::optional<CheckRecord>& last_checked() const {
        return merge_checked && (!checked || merge_checked->at >= checked->at) ? merge_checked : checked;
    }
    bool blocked() const { return !waits_for().empty(); }
    /// Returns true if the task does not start by itself yet and has no place in the queue.
    bool kept_back() const { return unapproved || blocked(); }

    const NativeSession* session_of(Role role) const {
        for (const auto& session : sessions) {
            if (session.role == role) return &session;
        }
        return nullptr;
    }

    /// Returns true if the agent asked, and no human has answered since.
    bool question_stands() const { return answered != questions; }
    /// Returns true if something has changed that a human should look at.
    bool alarmed() const { return !programs_changed.empty() || !harnesses_changed.empty(); }

    const AgentRun* run_of(Role role) const {
        for (const auto& run : runs) {
            if (run.role == role) return &run;
        }
        return nullptr;
    }
    AgentRun* run_of(Role role) { return const_cast<AgentRun*>(static_cast<const TaskRecord*>(this)->run_of(role)); }

    const DeferredStart* held_start(Role role) const {
        for (const auto& each : held) {
            if (each.role == role) return &each;
        }
        return nullptr;
    }

    bool operator==(const TaskRecord&) const = default;
};

}  // namespace orange
