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

/// The engine decides each change of a task's status, and touches nothing. The runner asks it about a request
/// (decide_request), a merge (decide_done), an agent's end (decide_exit) and ended sub-tasks (decide_children);
/// start.hpp and reminder.hpp decide the other cases. The runner then performs the decision. No clock, no randomness,
/// no I/O: the same arguments always give the same decision.
namespace orange::engine {

/// Facts that were not determined: no gate on facts holds.
inline const Facts k_no_facts;

/// The engine's view of a task: its fields as they are now, its sections now and on entry, and the facts about its
/// branch and its sub-tasks, if a gate needs them.
struct TransitionFacts {
    const Task& task;
    const Artifacts& artifacts;
    const std::map<std::string, std::string>& entry_sections;
    const Facts& facts = k_no_facts;
};

/// The goal of a request. All but `status` find their state in the workflow by its meaning, whatever its name is.
enum class Goal { status, cancelled, stuck, review, rejected, approved };

/// A request for a status.
struct Request {
    std::string to;
    Role by = Role::human;
    bool force = false;
    bool vouched = true;       ///< false: it is not certain that `by` asks, and who wrote the verdict
    Goal goal = Goal::status;  ///< if not `status`, `to` comes from target_of()
};

/// The end of the agent of `role`. `exit_status` is as a shell shows it (128+n for signals), or -1 if it is not known.
struct AgentExit {
    Role role = Role::worker;
    int exit_status = -1;
};

/// A transition to perform: the new status, the values (never deltas) of the counters that it sets, and its actions in
/// order. Increments and set_field have become values; acquire_workspace stays in the list and does nothing after the
/// runner has prepared the workspace. The last action is `ensure_agent` (params: role, prompt) if the new state needs a
/// living agent.
struct Decision {
    std::string from;
    std::string to;
    std::map<std::string, std::int64_t> counters;
    std::vector<Action> actions;
    std::string auto_reason;  ///< the reason of an automatic transition: "worker exited, ## Handoff is there"
    bool attested = true;     ///< false: it passes a verdict gate, and the author of the verdict is not certain
    std::optional<Verdict> verdict = {};  ///< of the gate that it passes
    std::string words = {};               ///< the agent's: what the verdict or the questions say first
};

/// The checks of a gate that have to run on a commit before a request for `to` can be decided.
struct AwaitChecks {
    std::string to;
    std::string commit;
    Argvs checks;
};

/// The reason why a request is refused. worded() makes the error that the caller gets.
struct Refusal {
    ErrorCode code = ErrorCode::illegal_transition;
    std::string why = {};                    ///< sentences: the obstacle, and what to do about it
    std::string lead = {};                   ///< introduces `command`: "Ask the human to run:"
    OrangeCommand command = {};              ///< leads a human there; empty: there is none
    std::string attention = {};              ///< what a stuck worker's request says: "ready for review"
    std::string section = {};                ///< the section of the gate that does not hold
    bool by_check = false;                   ///< a check failed on the commit
    std::optional<AwaitChecks> checks = {};  ///< the refusal stands only until these have run
};
/// Returns the error for a refusal: its sentence, the command in the last line, and the same for programs in `details`:
/// `human_command`, `attention`, `section`, `checks`.
Error worded(const Refusal& refusal);

using RequestOutcome = std::variant<Decision, Refusal>;

/// The name of the action that a decision appends for a state with `agent`.
inline constexpr std::string_view k_ensure_agent = "ensure_agent";

/// Returns the state that a request is for. illegal_transition if the workflow has no transition to such a state from
/// the task's state; the message has the commands that are open to a human.
Result<std::string> target_of(const Definition& definition, const Task& task, const Request& request);

/// True if the work of a task in that state is finished: a transition leads from there to the state that means done,
/// and needs no force. False for a state that waits for sub-tasks: only the daemon takes its transition to done, for a
/// task without unmerged work.
bool can_be_merged_from(const Definition& definition, std::string_view from);
/// Returns the state to which a human who rejects the work sends it; nullptr if the workflow has no such step here.
const State* rejection_target(const Definition& definition, const Task& task);
/// Returns the first state that `by` may ask for now and in which the work is reviewed: by a reviewer, or by the human.
/// nullptr: there is none.
const State* review_target(const Definition& definition, const Task& task, Role by);
/// Returns the state to which a human's approval sends the task, if the approval is not a merge: from a state without
/// an agent that a rejection leads back from, the first other state that the human may ask for. nullptr: there is no
/// such step.
const State* approval_target(const Definition& definition, const Task& task);

/// Decides a request by steps 1–4 of a transition (workflow.md, "Executing a transition"): the edge exists, the caller
/// may take it, exactly one guard holds, the gate holds. Refusals: illegal_transition, forbidden, needs_force,
/// guard_failed, gate_failed. The runner resets crash_count when the actions have ended.
RequestOutcome decide_request(const Definition& definition, const TransitionFacts& given, const Request& request);

/// Decides the transition to `done` for work that is already merged. Gate, condition and force are skipped, since what
/// they guard has happened. illegal_transition if the workflow has no transition there from the task's state.
Result<Decision> decide_done(const Definition& definition, const TransitionFacts& given);

/// The end of the agent changes nothing for the task: its state has no rules, or does not wait for that role.
struct NothingToDo {
    std::string why;
};
/// The end counts as a crash below the threshold. `respawn`: start the state's agent again. It is also the outcome at
/// the threshold if the workflow has no state `stuck` (then never `respawn`).
struct Crash {
    std::int64_t crash_count = 0;
    bool respawn = false;
    std::string reason;     ///< "process exited without ## Handoff (exit status 1)"
    std::string tell = {};  ///< for its next run: output of the check that kept the task from advancing
};
/// The agent is shown as dead, and nothing else happens: a human is needed.
struct MarkDead {
    std::string reason;
};
/// The task moves: the artifact of a rule exists, or the crash threshold was reached. In the second case `crash` is
/// set, and the transition's gate and guard were skipped.
struct Advance {
    Decision decision;
    std::optional<Crash> crash;
};

using ExitOutcome = std::variant<NothingToDo, Crash, MarkDead, Advance, AwaitChecks>;

/// Decides what follows from the death of an agent in the task's current status (workflow.md, "Exit monitoring").
ExitOutcome decide_exit(const Definition& definition, const TransitionFacts& given, const AgentExit& exit);

using ChildrenOutcome = std::variant<NothingToDo, Trouble, Decision>;

/// Decides what follows for a task whose current status waits for its sub-tasks. It moves once all of them are done;
/// that needs `facts.own_work`.
ChildrenOutcome decide_children(const Definition& definition, const TransitionFacts& given);

/// The agent that works in a state, and the prompt with which it is started again (respawn_prompt).
struct AgentNeed {
    Role role = Role::worker;
    std::string prompt;
};
/// Returns the agent that respawning would start in the task's current state, or why there is none (no respawn_prompt).
Result<AgentNeed> respawn_need(const Definition& definition, const Task& task, bool queued = false);

/// Returns the target of the transition that `task spawn` takes from the initial state: the first non-terminal state
/// without a meaning, or the state that means clarification if the summary is empty. illegal_transition if the task is
/// in another state.
Result<std::string> spawn_target(const Definition& definition, const Task& task);

/// Returns the names that build_prompt() replaces; the loader refuses any other name.
const std::vector<std::string>& prompt_variables();

/// Returns `prompts[key]` with {summary} {project} {branch} {review_round} {status} {task_file} {base} {checks}
/// replaced. `base` is the ref with which the branch is compared: `origin/<default_branch>`, or `<default_branch>` if
/// there is no remote. Text of the task is inserted once and never expanded again. not_found if the workflow has no
/// such prompt.
Result<std::string> build_prompt(const Definition& definition, const Task& task, const std::string& key,
                                 const std::string& task_file, const std::string& base = "origin/HEAD",
                                 const std::vector<std::string>& checks = {});

/// Returns the section with the verdict by which a task goes `from` → `to`; empty if that transition needs no verdict.
std::string verdict_section(const Definition& definition, std::string_view from, std::string_view to);

/// Returns the text of notify_worker's `name` for the worker of a task that has come `from` a state into its status.
/// `passed`, `failed` and `changes_requested` name the section to read, the one to write and the status to ask for as
/// the workflow defines them; any other name is the text itself. It never contains text of the task.
std::string worker_message(const Definition& definition, const Task& task, std::string_view from,
                           const std::string& name, const std::string& task_file);

}  // namespace orange::engine
