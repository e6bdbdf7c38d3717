#include "daemon/engine/children.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/engine/edges.hpp"

namespace orange::engine {
namespace {

constexpr std::size_t k_named_children = 5;

bool is_letter(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// True if one of the text's words is the child's id, or the beginning of it that names no other task.
bool names_child(std::string_view text, const Child& child) {
    const auto id = to_lower(child.id.value);
    for (std::size_t at = 0; at < text.size();) {
        auto end = at;
        while (end < text.size() && is_letter(text[end])) ++end;
        const auto word = text.substr(at, end - at);
        if (word.size() >= child.short_id.size() && !word.empty() && id.starts_with(to_lower(std::string(word)))) {
            return true;
        }
        at = end + 1;
    }
    return false;
}

const ChildrenRule* rule_of_state(const Definition& definition, const Task& task) {
    const auto* state = definition.state(task.status);
    return state != nullptr && state->children ? &*state->children : nullptr;
}

/// Returns a line such as "- 4f2a: Round the total" for each child.
std::string lines_for(const Children& children) {
    std::string lines;
    for (const auto& child : children) lines += "\n    - " + child.short_id + ": " + printable(child.summary);
    return lines;
}

OrangeCommand to_give_up(const Task& task) {
    return task_command("cancel", task.id.value, "--with-children");
}

Trouble trouble_with(const Children& children, ChildState state) {
    Trouble trouble;
    for (const auto& child : children) {
        if (child.state == state) trouble.with.push_back(child.id);
    }
    return trouble;
}

/// Returns the trouble with attempts whose files cannot be read: they cannot be ended either.
std::optional<Trouble> trouble_of_unreadable(const Task& task, const Children& children) {
    auto trouble = trouble_with(children, ChildState::unreadable);
    if (trouble.with.empty()) return std::nullopt;
    trouble.command = OrangeCommand{"doctor"};
    trouble.text = "the files of its attempt " + names_of(children, ChildState::unreadable) +
                   " cannot be read\nTo see what is wrong:\n  " + trouble.command.text() +
                   "\nTo give up all of it:\n  " + to_give_up(task).text();
    return trouble;
}

/// Says why no attempt can be picked.
std::optional<Trouble> trouble_of_attempts(const Task& task, const Children& children) {
    auto trouble = trouble_with(children, ChildState::ended);
    if (trouble.with.size() < children.size()) return trouble_of_unreadable(task, children);
    trouble.command = to_give_up(task);
    trouble.text = "all its attempts have ended, and none was picked";
    if (const auto kept = std::ranges::find(children, false, &Child::deleted); kept != children.end()) {
        trouble.text +=
            "\nTo go on with the work of one:\n  " + task_command("restore", kept->id.value, "--create").text();
    }
    trouble.text += "\nTo give up all of it:\n  " + trouble.command.text();
    return trouble;
}

/// Says why the attempt that was picked does not come to its end.
std::optional<Trouble> trouble_of_picked(const Task& task, const Child& child) {
    const bool is_stuck = child.state == ChildState::stuck;
    if (!is_stuck && child.state != ChildState::ended) return std::nullopt;
    Trouble trouble;
    trouble.with = {child.id};
    const auto& id = child.id.value;
    const auto show = task_command("show", id), restore = task_command("restore", id, "--create");
    trouble.command = is_stuck ? show : to_give_up(task);
    trouble.text = "the attempt that you picked, " + child.short_id +
                   (is_stuck ? ", is stuck\nTo look at it:\n  " + show.text() : ", has ended without being merged");
    const bool has_work = !is_stuck && !child.deleted;
    if (has_work) trouble.text += "\nTo go on with its work in a new task:\n  " + restore.text();
    trouble.text += "\nTo give up all of it:\n  " + to_give_up(task).text();
    return trouble;
}

}  // namespace

bool waits_for_pick(const Children& children) {
    const auto is_attempt = [](const Child& child) { return !child.attempt.empty(); };
    return std::ranges::any_of(children, is_attempt) && std::ranges::none_of(children, &Child::picked);
}

Children comparable(const Children& children) {
    auto rest = children;
    std::erase_if(rest, [](const Child& child) { return child.attempt.empty() || child.state == ChildState::ended; });
    return rest;
}

std::string attempts_text(const Children& children) {
    const auto all = comparable(children);
    const auto ready = static_cast<std::size_t>(std::ranges::count_if(all, &Child::rests));
    return std::to_string(ready) + " of " + counted(all.size(), "attempt") + (all.size() == 1 ? " is" : " are") +
           " ready to be compared";
}

std::size_t how_many(const Children& children, ChildState state) {
    return static_cast<std::size_t>(
        std::ranges::count_if(children, [state](const Child& child) { return child.state == state; }));
}

std::string progress_text(const Children& children) {
    const auto all = children.size();
    return std::to_string(how_many(children, ChildState::done)) + " of " + counted(all, "sub-task") +
           (all == 1 ? " is" : " are") + " done";
}

std::string unapproved_text(std::size_t count) {
    return counted(count, "sub-task") + (count == 1 ? " waits" : " wait") + " for your approval";
}

std::string names_of(const Children& children, ChildState state) {
    std::vector<std::string> names;
    for (const auto& child : children) {
        if (child.state == state) names.push_back(child.short_id);
    }
    return join(names, ",");
}

std::string not_ended(const Children& children) {
    std::vector<std::string> names;
    for (const auto& child : children) {
        if (child.state != ChildState::done && child.state != ChildState::ended) names.push_back(child.short_id);
    }
    return join(names, ",");
}

std::optional<std::string> children_problem(const Gate& gate, const TaskId& parent, const Artifacts& artifacts,
                                            const Children& children) {
    if (!gate.children) return std::nullopt;
    if (children.empty()) {
        const auto then = gate.section.empty() ? std::string() : "name them in ## " + gate.section + " of TASK.md and ";
        return "the task has no sub-tasks. Create each of them:\n  " +
               task_command("create", {}, "--parent " + parent.value + " \"...\"").text() + "\nThen " + then +
               "ask again.";
    }
    if (gate.section.empty()) return std::nullopt;
    const auto found = artifacts.sections.find(gate.section);
    const auto text = found == artifacts.sections.end() ? std::string() : found->second.text;
    Children missing = children;
    std::erase_if(missing, [&](const Child& child) { return child.deleted || names_child(text, child); });
    if (missing.empty()) return std::nullopt;
    const auto more = missing.size() > k_named_children ? missing.size() - k_named_children : 0;
    if (more > 0) missing.resize(k_named_children);
    return "## " + gate.section +
           " does not name each sub-task. Add these lines to that section of TASK.md:" + lines_for(missing) +
           (more > 0 ? "\nand " + std::to_string(more) + " more (" + task_command("show").text() + ")" : "") +
           "\nThen ask again.";
}

bool have_come_back(const Definition& definition, const Task& task, const Children& children) {
    return rule_of_state(definition, task) != nullptr && !children.empty() && !waits_for_pick(children) &&
           how_many(children, ChildState::done) == children.size();
}

std::optional<Trouble> trouble_of(const Definition& definition, const Task& task, const Children& children) {
    const auto* rule = rule_of_state(definition, task);
    if (rule == nullptr) return std::nullopt;
    if (waits_for_pick(children)) return trouble_of_attempts(task, children);
    if (const auto picked = std::ranges::find_if(children, &Child::picked); picked != children.end()) {
        auto trouble = trouble_of_picked(task, *picked);
        return trouble ? trouble : trouble_of_unreadable(task, children);
    }
    const auto stuck = names_of(children, ChildState::stuck), ended = names_of(children, ChildState::ended);
    const auto unreadable = names_of(children, ChildState::unreadable);
    const auto on = human_command(definition, task, rule->when_commits);
    Trouble trouble;
    trouble.command = on;
    std::vector<std::string> what, ways;
    if (children.empty()) what.emplace_back("it waits for its sub-tasks, and has none");
    if (!stuck.empty()) {
        what.push_back("its sub-task " + stuck + " is stuck");
        trouble.command = task_command("show", stuck.substr(0, stuck.find(',')));
    }
    if (!ended.empty()) {
        what.push_back("its sub-task " + ended + " has ended without being done");
        ways.emplace_back("Create another one in its place, or delete it if it is not needed.");
    }
    if (!unreadable.empty()) {
        what.push_back("the files of its sub-task " + unreadable + " cannot be read");
        ways.emplace_back("To see what is wrong with the files:\n  " + OrangeCommand{"doctor"}.text());
    }
    if (what.empty()) return std::nullopt;
    ways.push_back("To go on without:\n  " + on.text());
    ways.push_back("To give up all of it:\n  " + task_command("cancel", task.id.value, "--with-children").text());
    trouble.text = join(what, ", and ") + "\n" + join(ways, "\n");
    for (const auto& child : children) {
        const bool comes = child.state == ChildState::open || child.state == ChildState::done;
        if (!comes) trouble.with.push_back(child.id);
    }
    return trouble;
}

ChildrenOutcome decide_children(const Definition& definition, const TransitionFacts& given) {
    const auto& task = given.task;
    const auto* rule = rule_of_state(definition, task);
    if (rule == nullptr) return NothingToDo{"the status " + task.status + " does not wait for sub-tasks"};
    if (auto trouble = trouble_of(definition, task, given.facts.children)) return std::move(*trouble);
    if (!have_come_back(definition, task, given.facts.children)) {
        const bool unpicked = waits_for_pick(given.facts.children);
        return NothingToDo{unpicked ? attempts_text(given.facts.children) : progress_text(given.facts.children)};
    }
    if (!given.facts.own_work) {
        return NothingToDo{"the task's branch could not be examined: " + given.facts.unknown};
    }
    const auto& to = *given.facts.own_work ? rule->when_commits : rule->otherwise;
    for (const auto* edge : definition.between(task.status, to)) {
        if (!is_free(*edge)) continue;
        auto decision = decision_for(definition, task, *edge);
        decision.auto_reason = progress_text(given.facts.children);
        return decision;
    }
    return NothingToDo{"the workflow has no transition " + task.status + " → " + to};
}

}  // namespace orange::engine
