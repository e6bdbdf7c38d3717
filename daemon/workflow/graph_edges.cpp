#include "daemon/workflow/graph_edges.hpp"

#include <algorithm>
#include <deque>
#include <map>

#include "common/base/text.hpp"
#include "daemon/engine/facts.hpp"
#include "daemon/engine/permissions.hpp"

namespace orange::workflow {

using engine::Definition;
using engine::Meaning;
using engine::Transition;

std::vector<GraphEdge> edges_of_states(const Definition& definition) {
    std::vector<GraphEdge> edges;
    for (const auto& state : definition.states) {
        for (const auto& to : definition.targets_from(state.name)) {
            for (const auto* transition : definition.between(state.name, to)) {
                if (!transition->any_active) edges.push_back({{state.name}, to, transition});
            }
        }
    }
    return edges;
}

std::vector<GraphEdge> edges_of_any(const Definition& definition) {
    std::vector<GraphEdge> edges;
    for (const auto& transition : definition.transitions) {
        if (!transition.any_active) continue;
        GraphEdge edge{{}, transition.to, &transition};
        for (const auto& state : definition.states) {
            const auto between = definition.between(state.name, transition.to);
            if (std::find(between.begin(), between.end(), &transition) != between.end())
                edge.from.push_back(state.name);
        }
        if (!edge.from.empty()) edges.push_back(std::move(edge));
    }
    return edges;
}

std::string asker_text(const Transition& transition) {
    std::vector<std::string> names;
    for (const auto role : transition.by) names.emplace_back(name_of(role));
    auto text = names.empty() ? std::string("anyone") : join(names, ", ");
    if (names.empty() && transition.force) text = "human, system";
    if (names.empty() && !transition.force && transition.gate && transition.gate->verdict)
        text = "anyone but the worker";
    return transition.force ? text + ", only with --force" : text;
}

std::string need_text(const Transition& transition) {
    if (!transition.gate) return {};
    const auto& gate = *transition.gate;
    auto facts = engine::facts_text(gate.facts, std::nullopt);
    if (gate.children) facts = facts.empty() ? "sub-tasks" : "sub-tasks; " + facts;
    if (gate.attempts) facts = facts.empty() ? "attempts" : "attempts; " + facts;
    if (gate.section.empty()) return facts;
    auto text = "## " + printable(gate.section);
    if (gate.verdict) text += ": " + std::string(engine::name_of(*gate.verdict));
    if (!gate.fields.empty()) text += " with " + printable(join(gate.fields, " or "));
    if (gate.fresh) text += ", fresh";
    if (gate.comments) text += ", with an answer to each comment";
    return facts.empty() ? text : text + "; " + facts;
}

std::string by_itself_text(const Definition& definition, const GraphEdge& edge) {
    const auto* state = edge.from.size() == 1 ? definition.state(edge.from.front()) : nullptr;
    if (state == nullptr || !state->children || !engine::is_free(*edge.transition)) return {};
    const bool commits = edge.to == state->children->when_commits, other = edge.to == state->children->otherwise;
    if (commits && other) return "all sub-tasks are done";
    if (commits) return "all sub-tasks are done, and the branch has work of its own";
    return other ? "all sub-tasks are done" : "";
}

std::string hook_text(const Transition& transition) {
    std::vector<std::string> names;
    for (const auto& hook : transition.hooks) {
        auto name = hook.name;
        std::vector<std::string> said;
        for (const char* param : {"prompt", "field", "value"}) {
            if (const auto value = hook.param(param); !value.empty()) said.push_back(value);
        }
        if (hook.name == "notify_worker" && hook.param("message").find(' ') == std::string::npos) {
            said.push_back(hook.param("message"));
        }
        const auto role = engine::spawned_role(hook);
        const auto harness = role ? engine::harness_word(hook) : std::string();
        const bool is_named = role && engine::is_another_harness(harness, *role);
        if (!said.empty()) name += " (" + join(said, " ") + (is_named ? ", harness " + harness : "") + ")";
        if (const auto field = hook.param("increment"); !field.empty()) name += ", increment (" + field + ")";
        names.push_back(printable(name));
    }
    return join(names, ", ");
}

std::vector<std::string> straight_way(const Definition& definition) {
    const auto& first = definition.initial().name;
    std::map<std::string, std::string> came_from{{first, {}}};
    std::deque<std::string> queue{first};
    while (!queue.empty()) {
        const auto at = queue.front();
        queue.pop_front();
        if (definition.state(at)->terminal && !definition.means(at, Meaning::cancelled)) {
            std::vector<std::string> way;
            for (auto state = at; !state.empty(); state = came_from.at(state)) way.insert(way.begin(), state);
            return way;
        }
        for (const auto& to : definition.targets_from(at)) {
            const auto between = definition.between(at, to);
            const bool ordinary = std::any_of(between.begin(), between.end(), [](const auto* t) { return !t->force; });
            const bool aside = definition.means(to, Meaning::stuck) || definition.means(to, Meaning::clarification);
            if (aside || definition.state(to)->children) continue;
            if (ordinary && came_from.try_emplace(to, at).second) queue.push_back(to);
        }
    }
    return {first};
}

}  // namespace orange::workflow
