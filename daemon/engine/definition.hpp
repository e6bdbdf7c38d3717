#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/names.hpp"
#include "common/model/needs.hpp"
#include "common/model/record.hpp"
#include "common/model/role.hpp"

/// A workflow as data (docs/workflow.md). workflow/ loads and validates it; decide_request() and the other decide
/// functions follow it. A Definition in memory is always valid, because the loader returns no other.
namespace orange::engine {

enum class Comparison { less, greater, less_equal, greater_equal, equal, not_equal };
struct ComparisonRow {
    Comparison kind;
    std::string_view name;  ///< as it is written
    Comparison opposite;
};
/// A row for each comparison, in the order of the enumeration.
inline constexpr ComparisonRow k_comparisons[] = {
    {Comparison::less, "<", Comparison::greater_equal},  {Comparison::greater, ">", Comparison::less_equal},
    {Comparison::less_equal, "<=", Comparison::greater}, {Comparison::greater_equal, ">=", Comparison::less},
    {Comparison::equal, "==", Comparison::not_equal},    {Comparison::not_equal, "!=", Comparison::equal},
};
static_assert(has_row_for_each<k_comparisons>());
constexpr const ComparisonRow& row_of(Comparison comparison) {
    return k_comparisons[static_cast<std::size_t>(comparison)];
}

/// `when: "review_round < 2"`: a numeric field of the task against an integer.
struct Condition {
    std::string field;
    Comparison comparison = Comparison::equal;
    std::int64_t value = 0;

    bool holds_for(std::int64_t actual) const;
    /// Returns the condition as it is written in a workflow: "review_round < 2".
    std::string text() const;

    bool operator==(const Condition&) const = default;
};

/// Returns true if the number of the task is as `when` says; without a condition, always.
bool holds(const std::optional<Condition>& when, const Task& task);

enum class Verdict { pass, fail };
enum class VerdictLine { first, any };

std::string_view name_of(Verdict verdict);

/// The facts about the task's branch and worktree that a gate requires, whatever TASK.md says (engine/facts.hpp).
struct GateFacts {
    std::int64_t commits = 0;                     ///< at least this many that its base does not have
    bool clean = false;                           ///< nothing is uncommitted
    bool merges = false;                          ///< it merges into the default branch without a conflict
    bool reviewed_head = false;                   ///< the reviewer was given the commit that the branch is on
    bool checks = false;                          ///< the checks succeed on its commit
    std::vector<std::vector<std::string>> argvs;  ///< the checks; empty: the project's, which may be none

    bool any() const { return commits > 0 || clean || merges || reviewed_head || checks; }
    bool operator==(const GateFacts&) const = default;
};

/// The conditions of a transition: a section in TASK.md's body, facts about the branch, or sub-tasks. An exit rule's
/// gate has only a section.
struct Gate {
    std::string section;              ///< the heading's text without "## ", as "Handoff"; empty: facts alone
    bool required = true;             ///< the section must have content
    std::vector<std::string> fields;  ///< any of these as `NAME: text` at a line's beginning
    std::optional<Verdict> verdict;
    VerdictLine verdict_line = VerdictLine::any;
    bool fresh = false;  ///< must differ from its text when the current state was entered
    GateFacts facts = {};
    bool children = false;  ///< the task has sub-tasks, and the section names each of them
    bool attempts = false;  ///< several agents are to try the task
    bool comments = false;  ///< the section answers each comment that was sent (comments.hpp)

    bool operator==(const Gate&) const = default;
};

/// The meaning of a state. A workflow may have one state of each meaning, whatever its name is. resolve_meanings()
/// finds them when the workflow is loaded, and after that no code compares the names of states.
enum class Meaning {
    none,
    initial,        ///< tasks are created in it
    done,           ///< the work is merged
    cancelled,      ///< the work is given up
    stuck,          ///< crashes lead to it
    clarification,  ///< the agent has questions
};
inline constexpr Meaning k_meanings[] = {Meaning::initial, Meaning::done, Meaning::cancelled, Meaning::stuck,
                                         Meaning::clarification};
/// The names, as in `means:` of a workflow.
inline constexpr NameRow<Meaning> k_meaning_names[] = {
    {Meaning::none, ""},       {Meaning::initial, "initial"},
    {Meaning::done, "done"},   {Meaning::cancelled, "cancelled"},
    {Meaning::stuck, "stuck"}, {Meaning::clarification, "clarification"},
};
static_assert(has_row_for_each<k_meaning_names>());
constexpr std::string_view name_of(Meaning meaning) {
    return k_meaning_names[static_cast<std::size_t>(meaning)].name;
}

/// `children:` of a state: the states to which a task moves by itself when all of its sub-tasks are done. If one ends
/// in another way, the task needs help.
struct ChildrenRule {
    std::string when_commits;  ///< if its branch has changes that the default branch does not have
    std::string otherwise;
};

struct State {
    std::string name;
    bool terminal = false;
    std::optional<Role> agent;   ///< the role whose process must be alive here: worker or reviewer
    std::string respawn_prompt;  ///< key into prompts; empty: cannot be respawned
    Meaning meaning = Meaning::none;
    std::optional<Need> needs = {};             ///< what the task needs here; unset: engine/needs.hpp decides
    std::optional<ChildrenRule> children = {};  ///< the task waits for its sub-tasks here
};

struct Transition {
    std::vector<std::string> from;  ///< states; `any_active` stands for "*"
    bool any_active = false;
    std::string to;
    std::vector<Role> by;  ///< empty: anyone, but a worker never passes a gate with a verdict
    std::optional<Gate> gate;
    std::optional<Condition> when;
    bool force = false;
    std::vector<Action> hooks;
};

/// "when …, then …" of an exit rule. A target without `when` always holds.
struct Target {
    std::optional<Condition> when;
    std::string to;
};

enum class ExitAction { advance, crash, mark_dead };

/// A rule for the death of a state's agent (docs/workflow.md, "Exit monitoring"). The rules of one status are tried in
/// order.
struct ExitRule {
    std::string status;
    std::optional<Gate> has_artifact;  ///< the rule applies only if this gate holds; absent: always
    ExitAction action = ExitAction::mark_dead;
    std::vector<Target> targets;   ///< for `advance`: exactly one holds
    std::int64_t stuck_after = 0;  ///< for `crash`: the count that moves the task to `stuck`; 0: never
    bool respawn = false;          ///< for `crash` below the threshold: respawn the state's agent
};

struct Definition {
    std::string name;
    std::int64_t version = 1;
    std::string hash;           ///< hash of the file's content; tasks pin it
    std::vector<State> states;  ///< in the file's order
    std::vector<Transition> transitions;
    std::vector<ExitRule> exit_rules;
    std::int64_t poll_interval = 30;  ///< seconds
    std::map<std::string, std::string> prompts;
    std::map<std::string, std::string> messages;  ///< texts of notify_worker, by name

    const State* state(std::string_view name) const;
    const State* that_means(Meaning meaning) const;
    bool means(std::string_view state, Meaning meaning) const;
    /// Returns the name of the state with this meaning; if there is none, the usual name, which no state has then.
    std::string name_for(Meaning meaning) const;
    const State& initial() const;
    /// Returns the transitions `from` → `to` that count: entries with exactly this state, otherwise lists with it,
    /// otherwise "*".
    std::vector<const Transition*> between(std::string_view from, std::string_view to) const;
    /// Returns every state that can be reached in one step, in the file's order, without duplicates.
    std::vector<std::string> targets_from(std::string_view from) const;
    std::vector<std::string> state_names() const;
    bool has_transition(std::string_view from, std::string_view to) const { return !between(from, to).empty(); }
};

/// Gives the meanings that no state claims to the states with their usual names. Tasks begin in `pending`, or otherwise
/// in the first state.
void resolve_meanings(Definition& definition);

/// The words for a harness of the task: its own, that of its reviews, and that of second reviews. Another word is the
/// name of a harness.
inline constexpr const char *k_task_harness = "task", *k_review_harness = "review", *k_second_harness = "second_review";

/// Returns the role of the agent that a hook starts; nullopt if it starts none.
std::optional<Role> spawned_role(const Action& hook);

/// Returns the harness that a hook starts: one of the words above, or a name. Empty if it starts none.
std::string harness_word(const Action& hook);

/// Returns the harness with which the role's agent starts in a state, also if no hook starts it: that of the hooks that
/// start this role on the way into the state, or else the task's. The loader lets no two of them differ.
std::string harness_word(const Definition& definition, std::string_view status, Role role);

/// Returns true if the word is not the task's own harness for the role.
constexpr bool is_another_harness(std::string_view word, Role role) {
    return word != (role == Role::reviewer ? k_review_harness : k_task_harness);
}

}  // namespace orange::engine
