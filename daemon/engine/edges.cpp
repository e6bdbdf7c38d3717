#include "daemon/engine/edges.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "common/base/suggest.hpp"
#include "common/base/text.hpp"

namespace orange::engine {
namespace {

/// The value of a decimal integer; 0 for anything else, which the loader let nobody write.
std::int64_t integer_of(const std::string& text) {
    const bool negative = text.starts_with('-');
    std::uint64_t value = 0;
    for (const char c : text.substr(negative ? 1 : 0)) {
        if (c < '0' || c > '9') return 0;
        value = value * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return negative ? static_cast<std::int64_t>(0 - value) : static_cast<std::int64_t>(value);
}

class Counters {
  public:
    Counters(const Task& task, std::map<std::string, std::int64_t>& values) : task_(task), values_(values) {}

    void set(const std::string& field, std::int64_t value) { values_[field] = value; }

    void increment(const std::string& field) {
        const auto found = values_.find(field);
        const std::int64_t now = found == values_.end() ? task_.counter(field) : found->second;
        values_[field] = now == std::numeric_limits<std::int64_t>::max() ? now : now + 1;
    }

  private:
    const Task& task_;
    std::map<std::string, std::int64_t>& values_;
};

/// The states that `role` may ask for from `from` without force, in the file's order.
std::vector<std::string> open_to(const Definition& definition, std::string_view from, Role role) {
    std::vector<std::string> states;
    for (auto& to : definition.targets_from(from)) {
        const auto edges = definition.between(from, to);
        const bool open = std::any_of(edges.begin(), edges.end(),
                                      [role](const Transition* edge) { return may_ask(*edge, role) && !edge->force; });
        if (open) states.push_back(std::move(to));
    }
    return states;
}

/// What to set first in order to come to `to`: the first hop of a shortest way through the map whose first edge is the
/// caller's. Ways through `stuck` count only where there is no other: it is where things go wrong.
std::string first_hop(const Definition& definition, std::string_view from, std::string_view to, Role role) {
    for (const bool through_stuck : {false, true}) {
        std::set<std::string> seen{std::string(from)};
        std::vector<std::pair<std::string, std::string>> queue;  // state, first hop towards it
        for (const auto& hop : open_to(definition, from, role)) queue.emplace_back(hop, hop);
        for (std::size_t i = 0; i < queue.size(); ++i) {
            const auto [state, hop] = queue[i];
            if (state == to) return hop;
            if ((definition.means(state, Meaning::stuck) && !through_stuck) || !seen.insert(state).second) continue;
            for (const auto& next : definition.targets_from(state)) queue.emplace_back(next, hop);
        }
    }
    return {};
}

std::string edge_summary(const Definition& definition, std::string_view from, const std::string& to) {
    for (const auto* edge : definition.between(from, to)) {
        const auto needed = edge->gate ? gate_text(*edge->gate) : std::string();
        if (!needed.empty()) return to + " (needs " + needed + ")";
    }
    return to;
}

std::vector<std::string> state_names(const Definition& definition) {
    std::vector<std::string> names;
    for (const auto& state : definition.states) names.push_back(state.name);
    return names;
}

/// "From working, a worker can set: agent-review (needs …); stuck."
std::string what_is_open(const Definition& definition, const Task& task, Role role) {
    std::vector<std::string> texts;
    for (const auto& to : open_to(definition, task.status, role)) {
        texts.push_back(edge_summary(definition, task.status, to));
    }
    const std::string who = "From " + task.status + ", a " + name_text(role) + " can set ";
    if (texts.empty()) return who + "no other status.";
    const bool plain =
        std::ranges::none_of(texts, [](const auto& each) { return each.find('(') != std::string::npos; });
    const auto last = texts.back();
    texts.pop_back();
    if (texts.empty()) return who + last + ".";
    return who + join(texts, plain ? ", " : "; ") + (plain ? " or " : "; or ") + last + ".";
}

/// "a worker", "the system"
std::string with_article(Role role) {
    return (role == Role::system ? "the " : "a ") + name_text(role);
}

std::string what_ended_cannot(const Definition& definition, std::string_view to) {
    if (definition.means(to, Meaning::cancelled)) return "cannot be cancelled";
    if (definition.means(to, Meaning::done)) return "cannot be merged";
    return "cannot become " + printable(to);
}

}  // namespace

std::string called(const Task& task) {
    return task.id.empty() ? "the task" : "task " + task.id.value;
}

std::string role_list(const std::vector<Role>& roles) {
    std::string text;
    for (std::size_t i = 0; i < roles.size(); ++i) {
        if (i > 0) text += i + 1 == roles.size() ? " or " : ", ";
        text += name_of(roles[i]);
    }
    return text;
}

std::string gate_text(const Gate& gate, const Argvs& project_checks) {
    const auto facts = facts_text(gate.facts, project_checks);
    if (gate.section.empty() && gate.children) return facts.empty() ? "sub-tasks" : "sub-tasks, and " + facts;
    if (gate.section.empty()) return facts;
    std::string text = "## " + gate.section;
    if (gate.verdict) text += ", Verdict: " + name_text(*gate.verdict);
    for (std::size_t i = 0; i < gate.fields.size(); ++i) {
        text += (i == 0 ? " with a line " : i + 1 == gate.fields.size() ? " or " : ", ") + gate.fields[i] + ":";
    }
    if (gate.fresh) text += ", changed since the task entered this status";
    if (gate.children) text += ", with the sub-tasks";
    return facts.empty() ? text : text + ", and " + facts;
}

std::optional<std::string> written_problem(const Gate& gate, const Situation& situation) {
    const bool hidden = situation.artifacts.swallowed_by_fence.contains(gate.section);
    // What is to be written follows from the sub-tasks that there are.
    std::optional<std::string> problem;
    if (!hidden) problem = children_problem(gate, situation.task.id, situation.artifacts, situation.facts.children);
    return problem ? problem : gate_problem(gate, situation.artifacts, situation.entry_sections);
}

std::optional<std::string> problem_of(const Gate& gate, const Situation& situation) {
    auto problem = written_problem(gate, situation);
    return problem ? problem : fact_problem(gate.facts, situation.facts);
}

std::string human_command(const Definition& definition, const Task& task, std::string_view to, bool force) {
    const std::string id = task.id.empty() ? "<task id>" : task.id.value;
    const std::string flag = force ? " --force" : "";
    const std::string via = task.pr_url ? " --via pr" : "";
    if (definition.means(to, Meaning::done)) return "orange task merge " + id + via + flag;
    if (definition.means(to, Meaning::cancelled)) return "orange task cancel " + id + flag;
    return "orange task update " + id + " --status " + std::string(to) + flag;
}

Role role_of_state(const Definition& definition, const State& state) {
    if (state.agent) return *state.agent;
    for (const auto& transition : definition.transitions) {
        if (transition.to != state.name) continue;
        for (const auto& hook : transition.hooks) {
            if (spawned_role(hook) == Role::reviewer) return Role::reviewer;
        }
    }
    return Role::worker;
}

Decision decision_for(const Definition& definition, const Task& task, const Transition& transition) {
    Decision decision;
    decision.from = task.status;
    decision.to = transition.to;
    Counters counters(task, decision.counters);
    for (Action action : transition.hooks) {
        const std::string field = action.param("field");
        if (action.name == "set_field") {
            counters.set(field, integer_of(action.param("value")));
        } else if (action.name == "increment") {
            counters.increment(field);
        } else {
            if (const auto increment = action.params.extract("increment")) counters.increment(increment.mapped());
            decision.actions.push_back(std::move(action));
        }
    }
    const State* state = definition.state(transition.to);
    if (state != nullptr && state->agent) {
        decision.actions.push_back(
            {std::string(k_ensure_agent), {{"role", name_text(*state->agent)}, {"prompt", state->respawn_prompt}}, {}});
    }
    return decision;
}

Error illegal(const Definition& definition, const Task& task, const Request& request) {
    const std::string to = printable(request.to);
    std::string text;
    const State* now = definition.state(task.status);
    const bool ended = now != nullptr && now->terminal;
    if (request.to == task.status && ended) {
        return {ErrorCode::illegal_transition, called(task) + " is already " + to};
    }
    if (request.to == task.status) {
        text = called(task) + " already has the status " + to + ". ";
    } else if (definition.state(request.to) == nullptr) {
        const auto names = state_names(definition);
        const auto meant = nearest(request.to, names);
        text = "workflow " + definition.name + " has no status \"" + to + "\"" +
               (meant ? "; did you mean " + *meant + "? Known: " : "; known: ") + join(names, ", ") + ". ";
    } else if (now == nullptr) {
        return {ErrorCode::illegal_transition, "the status " + printable(task.status) + " of " + called(task) +
                                                   " is not a state of workflow " + definition.name +
                                                   ". A human can move the task to another workflow with --workflow"};
    } else if (ended) {
        return {ErrorCode::illegal_transition,
                called(task) + " is already " + task.status + " and " + what_ended_cannot(definition, request.to)};
    } else {
        text = "there is no transition " + task.status + " → " + to + ". ";
        const auto hop = first_hop(definition, task.status, request.to, request.by);
        if (!hop.empty()) text += "To reach " + to + ", set " + hop + " first. ";
    }
    return {ErrorCode::illegal_transition, text + what_is_open(definition, task, request.by)};
}

Error forbidden(const Definition& definition, const Task& task, const Request& request,
                const std::vector<const Transition*>& edges) {
    if (request.by == Role::unknown) {
        return {
            ErrorCode::forbidden,
            "Orange cannot identify the caller. A program in Orange's tmux that is not an agent of this task may only "
            "read. Run this in a terminal of your own:\n  " +
                human_command(definition, task, printable(request.to), false)};
    }
    const Transition& edge = *edges.front();
    const auto roles = askers(edge);
    const bool for_human = std::find(roles.begin(), roles.end(), Role::human) != roles.end();
    const bool for_system = std::find(roles.begin(), roles.end(), Role::system) != roles.end();
    std::string allowed;
    for (std::size_t i = 0; i < roles.size(); ++i) {
        allowed += (i == 0 ? "" : i + 1 == roles.size() ? " or " : ", ") + with_article(roles[i]);
    }
    std::string text =
        with_article(request.by) + " cannot take " + task.status + " → " + edge.to + "; only " + allowed + " can. ";
    Error error(ErrorCode::forbidden, "");
    const State* state = definition.state(task.status);
    const bool own_state = state != nullptr && state->agent == request.by && !definition.state(edge.to)->terminal;
    if (for_human && own_state)
        error.details["attention"] =
            can_be_merged_from(definition, edge.to) ? "ready for review" : "ready for " + edge.to;
    if (request.by != Role::human) text += what_is_open(definition, task, request.by) + " ";
    // The command stands last, so that no sentence's end is copied with it.
    if (for_human || (for_system && definition.state(edge.to)->terminal)) {
        const auto command = human_command(definition, task, edge.to, edge.force);
        text += (request.by == Role::human ? "Run instead:\n  " : "Ask the human to run:\n  ") + command;
        error.details["human_command"] = command;
    }
    error.message = std::string(trim(text));
    return error;
}

}  // namespace orange::engine
