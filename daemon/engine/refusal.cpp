#include <algorithm>
#include <set>

#include "common/base/suggest.hpp"
#include "common/base/text.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/engine/edges.hpp"

namespace orange::engine {
namespace {

/// Returns the states that `role` may ask for from `from` without force, in the file's order. A task with attempts is
/// started, and asks for nothing.
std::vector<std::string> open_to(const Definition& definition, std::string_view from, Role role) {
    std::vector<std::string> states;
    for (auto& to : definition.targets_from(from)) {
        const auto edges = definition.between(from, to);
        const bool open = std::any_of(edges.begin(), edges.end(), [role](const Transition* edge) {
            const bool is_for_attempts = edge->gate && edge->gate->attempts;
            return may_ask(*edge, role) && !edge->force && !is_for_attempts;
        });
        if (open) states.push_back(std::move(to));
    }
    return states;
}

/// Returns the status to set first in order to reach `to`: the first step of a shortest way whose first edge the caller
/// may take. Ways through `stuck` count only if there is no other one, since they are for failures.
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

/// Returns a text such as "From working, a worker can set: agent-review (needs …); stuck."
std::string what_is_open(const Definition& definition, const Task& task, Role role) {
    std::vector<std::string> texts;
    for (const auto& to : open_to(definition, task.status, role)) {
        texts.push_back(edge_summary(definition, task.status, to));
    }
    const std::string who = "From " + task.status + ", a " + name_text(role) + " can set ";
    if (texts.empty()) return who + "no other status.";
    const bool plain =
        std::ranges::none_of(texts, [](const auto& each) { return each.find('(') != std::string::npos; });
    return who + (plain ? listed(std::move(texts), " or ") : listed(std::move(texts), "; or ", "; ")) + ".";
}

/// Returns "a worker" or "the system".
std::string with_article(Role role) {
    return (role == Role::system ? "the " : "a ") + name_text(role);
}

std::string what_ended_cannot(const Definition& definition, std::string_view to) {
    if (definition.means(to, Meaning::cancelled)) return "cannot be cancelled";
    if (definition.means(to, Meaning::done)) return "cannot be merged";
    return "cannot become " + printable(to);
}

}  // namespace

Refusal needs_force(const Definition& definition, const Task& task, const Transition& edge) {
    return {ErrorCode::needs_force, task.status + " → " + edge.to + " skips the rest of the workflow",
            "and must be confirmed:", human_command(definition, task, edge.to, true)};
}

Refusal guard_failed(const Task& task, const std::vector<const Transition*>& edges) {
    std::vector<std::string> wanted, now;
    for (const auto* edge : edges) {
        wanted.push_back(edge->when->text());
        const std::string value = edge->when->field + " is " + std::to_string(task.counter(edge->when->field));
        if (now.empty() || now.back() != value) now.push_back(value);
    }
    return {ErrorCode::guard_failed, task.status + " → " + edges.front()->to + " is possible only when " +
                                         join(wanted, " or ") + ", and " + join(now, ", ") + "."};
}

Refusal illegal(const Definition& definition, const Task& task, const Request& request) {
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
        const auto names = definition.state_names();
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

Refusal forbidden(const Definition& definition, const Task& task, const Request& request,
                  const std::vector<const Transition*>& edges) {
    if (request.by == Role::unknown) {
        return {ErrorCode::forbidden,
                "Orange cannot identify the caller. A program in Orange's tmux that is not an agent of this task may "
                "only read.",
                "Run this in a terminal of your own:", human_command(definition, task, printable(request.to))};
    }
    const Transition& edge = *edges.front();
    const auto roles = askers(edge);
    const bool for_human = std::find(roles.begin(), roles.end(), Role::human) != roles.end();
    const bool for_system = std::find(roles.begin(), roles.end(), Role::system) != roles.end();
    std::vector<std::string> allowed;
    for (const auto role : roles) allowed.push_back(with_article(role));
    Refusal refusal{ErrorCode::forbidden, with_article(request.by) + " cannot take " + task.status + " → " + edge.to +
                                              "; only " + listed(std::move(allowed), " or ") + " can."};
    const State* state = definition.state(task.status);
    const bool own_state = state != nullptr && state->agent == request.by && !definition.state(edge.to)->terminal;
    // A way back to its own work is the human's rejection, and no wish of the agent.
    const bool is_back = rejection_target(definition, task) == definition.state(edge.to);
    if (for_human && own_state && !is_back)
        refusal.attention = can_be_merged_from(definition, edge.to) ? "ready for review" : "ready for " + edge.to;
    if (request.by != Role::human) refusal.why += " " + what_is_open(definition, task, request.by);
    if (for_human || (for_system && definition.state(edge.to)->terminal)) {
        refusal.lead = request.by == Role::human ? "Run instead:" : "Ask the human to run:";
        refusal.command = human_command(definition, task, edge.to, edge.force);
    }
    return refusal;
}

Error worded(const Refusal& refusal) {
    Error error(refusal.code, refusal.why);
    if (!refusal.command.empty()) {
        error.message += " " + refusal.lead + "\n  " + refusal.command.text();
        error.details["human_command"] = refusal.command.text();
    }
    if (!refusal.attention.empty()) error.details["attention"] = refusal.attention;
    if (!refusal.section.empty()) error.details["section"] = refusal.section;
    if (refusal.by_check || refusal.checks) error.details["checks"] = refusal.by_check ? "failed" : "pending";
    return error;
}

}  // namespace orange::engine
