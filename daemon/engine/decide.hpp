#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/orange_command.hpp"
#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/artifacts.hpp"
#include "daemon/engine/definition.hpp"
#include "daemon/engine/facts.hpp"

/// The engine: decides, and touches nothing. Every change of a task's status, whoever asks for it, is one call of
/// decide_request() or decide_exit(); the runner performs what comes back. No clock, no randomness, no I/O: the same
/// arguments always give the same decision.
namespace orange::engine {

/// Nobody has looked: no gate on facts holds.
inline const Facts k_no_facts;

/// The engine's view of a task: its fields as they are now, its sections now and on entry, and the facts about its
/// branch and its sub-tasks, if a gate may ask for them.
struct Situation {
    const Task& task;
    const Artifacts& artifacts;
    const std::map<std::string, std::string>& entry_sections;
    const Facts& facts = k_no_facts;
};

/// The goal of a request. All but `status` find their state in the workflow, whatever it is called there.
enum class Goal { status, cancelled, stuck, review, rejected, approved };

/// Somebody asks for a status.
struct Request {
    std::string to;
    Role by = Role::human;
    bool force = false;
    bool vouched = true;       ///< false: nobody can say that it is really `by` who asks, and who wrote the verdict
    Goal goal = Goal::status;  ///< if not `status`, `to` comes from target_of()
};

/// The process of `role` is gone. `exit_status` as a shell would show it (128+n for signals), or -1 where unknown.
struct AgentExit {
    Role role = Role::worker;
    int exit_status = -1;
};

/// A transition to perform: new status, the values (never deltas) of the counters it sets, and its actions in order.
/// Increments and set_field have become values; acquire_workspace stays in the list, marked by the runner as prepared.
/// The last action is `ensure_agent` (params: role, prompt) where the new state wants a living agent.
struct Decision {
    std::string from;
    std::string to;
    std::map<std::string, std::int64_t> counters;
    std::vector<Action> actions;
    std::string auto_reason;  ///< not empty for auto-advances: "worker exited, ## Handoff is there"
    bool attested = true;     ///< false: passes a verdict gate on a request that nobody vouches for
};

/// The checks of a gate that have to run on a commit before a request for `to` can be decided.
struct AwaitChecks {
    std::string to;
    std::string commit;
    Argvs checks;
};

/// Why a request is refused. worded() makes the error that the caller gets.
struct Refusal {
    ErrorCode code = ErrorCode::illegal_transition;
    std::string why = {};                    ///< in sentences: what is in the way, and what to do about it
    std::string lead = {};                   ///< introduces `command`: "Ask the human to run:"
    OrangeCommand command = {};              ///< with which a human gets there; empty: there is none
    std::string attention = {};              ///< what the request of a stuck worker says: "ready for review"
    std::string section = {};                ///< of the gate that does not hold
    bool by_check = false;                   ///< a check failed on the commit
    std::optional<AwaitChecks> checks = {};  ///< the refusal stands only until these have run
};
/// The sentence, its command in the last line, and the same for programs in `details`: `human_command`, `attention`,
/// `section`, `checks`.
Error worded(const Refusal& refusal);

using RequestOutcome = std::variant<Decision, Refusal>;

/// Name of the action that decide() appends for a state with `agent`.
inline constexpr std::string_view k_ensure_agent = "ensure_agent";

/// The state that a request is for. illegal_transition if the workflow leads to none such from the task's state; the
/// message has the commands that are open to a human.
Result<std::string> target_of(const Definition& definition, const Task& task, const Request& request);

/// The work of a task in that state is finished: a way leads from there to the state that means done, and needs no
/// force. Where a task waits for its sub-tasks that way is the daemon's own, for a task without unmerged work.
bool can_be_merged_from(const Definition& definition, std::string_view from);
/// Returns the state to which a human who rejects the work sends it; nullptr if the workflow has no such step here.
const State* rejection_target(const Definition& definition, const Task& task);
/// Returns the state to which a human who approves sends the task, if that is not a merge: from a state without an
/// agent that a rejection leads back from, the first other state that the human may ask for. nullptr: there is no such
/// step.
const State* approval_target(const Definition& definition, const Task& task);

/// Performs steps 1–4 of a transition (workflow.md, "Executing a transition"): the edge exists, the caller may, exactly
/// one guard holds, the gate holds. Refusals: illegal_transition, forbidden, needs_force, guard_failed, gate_failed.
/// crash_count is reset by the runner when the actions have ended.
RequestOutcome decide_request(const Definition& definition, const Situation& situation, const Request& request);

/// The way to `done` for work that is merged already: gate, condition and force are passed over, since what they guard
/// has happened. illegal_transition if the workflow has no way there from the task's state.
Result<Decision> decide_done(const Definition& definition, const Situation& situation);

/// The agent died and nothing follows for the task: a state without rules, a role the state does not wait for.
struct NothingToDo {
    std::string why;
};
/// Counts as a crash below the threshold; `respawn`: start the state's agent again. Also at the threshold in a workflow
/// that has no state `stuck` (then never `respawn`).
struct Crash {
    std::int64_t crash_count = 0;
    bool respawn = false;
    std::string reason;     ///< "process exited without ## Handoff (exit status 1)"
    std::string tell = {};  ///< to its next run: what the check printed that kept the task from advancing
};
/// Shown as dead, nothing else: a human is needed.
struct MarkDead {
    std::string reason;
};
/// Moves the task: an artifact was there, or the crash threshold was reached (then `crash` is set, and the
/// transition's gate and guard were skipped).
struct Advance {
    Decision decision;
    std::optional<Crash> crash;
};

using ExitOutcome = std::variant<NothingToDo, Crash, MarkDead, Advance, AwaitChecks>;

/// Decides what follows from the death of an agent in the task's current status (workflow.md, "Exit monitoring").
ExitOutcome decide_exit(const Definition& definition, const Situation& situation, const AgentExit& exit);

using ChildrenOutcome = std::variant<NothingToDo, Trouble, Decision>;

/// Decides what follows from its sub-tasks in the task's current status. The decision is taken once all are done; it
/// needs `facts.own_work`.
ChildrenOutcome decide_children(const Definition& definition, const Situation& situation);

/// Step 8's prompt for a state's agent (its respawn_prompt), and which harness of the task it uses.
struct AgentNeed {
    Role role = Role::worker;
    std::string prompt;
};
/// Returns the agent that respawning would start in the task's current state, or why there is none (no respawn_prompt).
Result<AgentNeed> respawn_need(const Definition& definition, const Task& task);

/// The transition that `task spawn` takes from the initial state: to the first non-terminal, non-clarification target,
/// or to `clarification` where the summary is empty and the workflow has that state. illegal_transition if the task is
/// in another state.
Result<std::string> spawn_target(const Definition& definition, const Task& task);

/// The names that build_prompt() puts in; the loader refuses others.
const std::vector<std::string>& prompt_variables();

/// `prompts[key]` with {summary} {project} {branch} {review_round} {status} {task_file} {base} put in; `base` is what
/// the branch is compared with: `origin/<default_branch>`, or `<default_branch>` where there is no remote. Text of the
/// task is inserted once and never expanded again.
Result<std::string> build_prompt(const Definition& definition, const Task& task, const std::string& key,
                                 const std::string& task_file, const std::string& base = "origin/HEAD",
                                 const std::vector<std::string>& checks = {});

/// The section with the verdict by which a task goes `from` → `to`; empty where that takes none.
std::string verdict_section(const Definition& definition, std::string_view from, std::string_view to);

/// Returns the text of notify_worker's `name` for the worker of a task that has come `from` a state into its status:
/// `passed`, `failed` and `changes_requested` name the section to read, the one to write and the status to ask for as
/// the workflow defines them; anything else is itself. Text of the task is never in it.
std::string worker_message(const Definition& definition, const Task& task, std::string_view from,
                           const std::string& name, const std::string& task_file);

}  // namespace orange::engine
