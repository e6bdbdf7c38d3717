#include <algorithm>

#include "common/base/text.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/engine/edges.hpp"

namespace orange::engine {
namespace {

bool open_to(const Task& task, const Transition& edge, Role by) {
    if (edge.gate && edge.gate->attempts) return false;  // `spawn` takes it
    return may_ask(edge, by) && !edge.force && holds(edge.when, task);
}

/// Returns the states for which the role may ask now, without force.
std::vector<std::string> open_targets(const Definition& definition, const Task& task, Role by) {
    auto targets = definition.targets_from(task.status);
    std::erase_if(targets, [&](const std::string& to) {
        return std::ranges::none_of(definition.between(task.status, to),
                                    [&](const auto* edge) { return open_to(task, *edge, by); });
    });
    return targets;
}

/// Returns the first state that `by` may ask for from the task's state without force, and that `fits`.
template <class Fits>
const State* first_target(const Definition& definition, const Task& task, Role by, Fits fits) {
    for (const auto& to : open_targets(definition, task, by)) {
        if (const State* state = definition.state(to); state != nullptr && fits(*state)) return state;
    }
    return nullptr;
}

std::string what_is_possible(const Definition& definition, const Task& task, Role by) {
    std::vector<std::string> commands;
    for (const auto& to : open_targets(definition, task, by)) {
        commands.push_back(command_for(definition, task, to, by).text());
    }
    return commands.empty() ? std::string() : "\nYou can run:\n  " + join(commands, "\n  ");
}

Error no_way(const Definition& definition, const Task& task, Role by, const std::string& what) {
    return {ErrorCode::illegal_transition,
            called(task) + " has the status " + printable(task.status) + what + what_is_possible(definition, task, by)};
}

}  // namespace

OrangeCommand command_for(const Definition& definition, const Task& task, const std::string& to, Role by) {
    return by == Role::human ? human_command(definition, task, to) : agent_command(to);
}

bool can_be_merged_from(const Definition& definition, std::string_view from) {
    const State* state = definition.state(from);
    if (state != nullptr && state->children) return false;
    for (const auto* edge : definition.between(from, definition.name_for(Meaning::done))) {
        if (!edge->force) return true;
    }
    return false;
}

const State* rejection_target(const Definition& definition, const Task& task) {
    const State* from = definition.state(task.status);
    if (from == nullptr || from->terminal || from->meaning == Meaning::initial) return nullptr;
    if (from->agent && from->meaning != Meaning::stuck) return nullptr;
    if (from->children) return nullptr;  // no work was handed over
    return first_target(definition, task, Role::human, [](const State& state) {
        return state.agent == Role::worker && state.meaning == Meaning::none;
    });
}

const State* review_target(const Definition& definition, const Task& task, Role by) {
    return first_target(definition, task, by, [&](const State& state) {
        return state.agent == Role::reviewer || (!state.agent && can_be_merged_from(definition, state.name));
    });
}

const State* approval_target(const Definition& definition, const Task& task) {
    const State* back = rejection_target(definition, task);
    const State* from = definition.state(task.status);
    if (back == nullptr || from->meaning != Meaning::none || can_be_merged_from(definition, task.status))
        return nullptr;
    return first_target(definition, task, Role::human, [&](const State& state) {
        return &state != back && !state.terminal && state.meaning == Meaning::none;
    });
}

Result<std::string> target_of(const Definition& definition, const Task& task, const Request& request) {
    switch (request.goal) {
        case Goal::status:
            return request.to;
        case Goal::cancelled:
            return definition.name_for(Meaning::cancelled);
        case Goal::stuck:
            return definition.name_for(Meaning::stuck);
        case Goal::review:
            if (const State* to = review_target(definition, task, Role::worker)) return to->name;
            return no_way(definition, task, request.by,
                          "; workflow " + definition.name + " has no transition from there to a review");
        case Goal::rejected:
            if (const State* to = rejection_target(definition, task)) return to->name;
            return no_way(definition, task, request.by,
                          " and cannot be rejected; workflow " + definition.name +
                              " has no transition from there back to the worker");
        case Goal::approved:
            if (const State* to = approval_target(definition, task)) return to->name;
            return no_way(definition, task, request.by, " and has nothing to approve");
    }
    return request.to;
}

}  // namespace orange::engine
