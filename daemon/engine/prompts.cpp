#include "common/base/text.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/engine/edges.hpp"

namespace orange::engine {
namespace {

/// Returns `text` with each {name} of `values` replaced. One pass: inserted text is never expanded again.
std::string substituted(std::string_view text, const std::map<std::string, std::string>& values) {
    constexpr std::size_t k_longest_name = 64;
    std::string out;
    while (!text.empty()) {
        const auto open = text.find('{');
        out += text.substr(0, open);
        if (open == std::string_view::npos) break;
        text.remove_prefix(open);
        const auto close = text.substr(0, k_longest_name).find('}');
        const auto found =
            close == std::string_view::npos ? values.end() : values.find(std::string(text.substr(1, close - 1)));
        if (found == values.end()) {
            out += '{';
            text.remove_prefix(1);
        } else {
            out += found->second;
            text.remove_prefix(close + 1);
        }
    }
    return out;
}

/// Returns the transition whose gate a worker has to pass from `status`; nullptr if the workflow has none.
const Transition* way_on(const Definition& definition, std::string_view status) {
    for (const auto& to : definition.targets_from(status)) {
        for (const auto* transition : definition.between(status, to)) {
            const auto& gate = transition->gate;
            if (gate && !gate->verdict && may_ask(*transition, Role::worker)) return transition;
        }
    }
    return nullptr;
}

/// Returns what the worker has to write, and the command after that.
std::string worker_command(const Definition& definition, std::string_view status) {
    const auto* way = way_on(definition, status);
    if (way == nullptr) return {};
    return ", update ## " + way->gate->section + ", then run: " + agent_command(way->to).text();
}

}  // namespace

Result<AgentNeed> respawn_need(const Definition& definition, const Task& task, bool queued) {
    const State* state = definition.state(task.status);
    if (state == nullptr) {
        return Error(ErrorCode::conflict, "the status " + printable(task.status) + " of " + called(task) +
                                              " is not a state of workflow " + definition.name);
    }
    if (state->respawn_prompt.empty()) {
        const auto refused = [&task](const std::string& why, std::string_view verb, std::string_view options = {}) {
            return Error(ErrorCode::conflict,
                         called(task) + why + ":\n  " + task_command(verb, task.id.value, options).text());
        };
        if (state->name == definition.initial().name) {
            if (queued) return refused(" has not started and has no agent yet. What it waits for", "why");
            return refused(" has not started and has no agent yet. To start it", "spawn");
        }
        if (state->meaning == Meaning::cancelled && !task.branch.empty()) {
            return refused(" is " + state->name + ". To go on with its work in a new task", "restore", "--create");
        }
        if (state->terminal) return refused(" is " + state->name + " and has no agent any more. Its output", "log");
        return refused(" has the status " + state->name + ", in which no agent works. What you can do", "why");
    }
    return AgentNeed{role_of_state(definition, *state), state->respawn_prompt};
}

const std::vector<std::string>& prompt_variables() {
    static const std::vector<std::string> names{"summary", "project",   "branch", "review_round",
                                                "status",  "task_file", "base",   "checks"};
    return names;
}

Result<std::string> build_prompt(const Definition& definition, const Task& task, const std::string& key,
                                 const std::string& task_file, const std::string& base,
                                 const std::vector<std::string>& checks) {
    const auto found = definition.prompts.find(key);
    if (found == definition.prompts.end()) {
        return Error(ErrorCode::not_found, "workflow " + definition.name + " has no prompt \"" + printable(key) + "\"");
    }
    return substituted(found->second, {{"summary", task.summary},
                                       {"project", task.project},
                                       {"branch", task.branch},
                                       {"review_round", std::to_string(task.review_round())},
                                       {"status", task.status},
                                       {"task_file", task_file},
                                       {"base", base},
                                       {"checks", checks.empty() ? "none" : join(checks, ", ")}});
}

std::string verdict_section(const Definition& definition, std::string_view from, std::string_view to) {
    for (const auto* transition : definition.between(from, to)) {
        if (transition->gate && transition->gate->verdict) return transition->gate->section;
    }
    return {};
}

std::string worker_message(const Definition& definition, const Task& task, std::string_view from,
                           const std::string& name, const std::string& task_file) {
    if (const auto own = definition.messages.find(name); own != definition.messages.end()) {
        const auto* way = way_on(definition, task.status);
        return substituted(own->second, {{"section", verdict_section(definition, from, task.status)},
                                         {"next_section", way != nullptr ? way->gate->section : std::string()},
                                         {"next_status", way != nullptr ? way->to : task.status},
                                         {"task_file", task_file}});
    }
    if (name == "passed") return "The review passed. There is nothing more to do; wait.";
    if (name == "failed") {
        const auto section = verdict_section(definition, from, task.status);
        const auto read = section.empty() ? "Fix" : "Read ## " + section + " in " + task_file + ", fix";
        return "The review failed. " + read + " each point" + worker_command(definition, task.status) + ".";
    }
    if (name == "changes_requested") {
        return "The human asks for changes. Read ## Feedback in " + task_file + ", make the changes" +
               worker_command(definition, task.status) + ".";
    }
    return name;
}

}  // namespace orange::engine
