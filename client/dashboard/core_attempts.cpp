// Several agents have tried the same task: the pane that compares their attempts, and the question that picks one.
#include <algorithm>

#include "client/dashboard/calls.hpp"
#include "client/dashboard/core.hpp"
#include "client/dashboard/hosts.hpp"
#include "common/base/text.hpp"
#include "common/rpc/attempt_methods.hpp"

namespace orange::dashboard {
namespace {

const Row* task_named(const State& state, const std::string& id) {
    const auto found = std::ranges::find(state.tasks, id, &Row::id);
    return found == state.tasks.end() ? nullptr : &*found;
}

/// Returns the id of the attempt at the pane's cursor; empty if there is none.
std::string attempt_at_cursor(const PaneText& text) {
    const auto& all = text.places.all;
    return text.cursor < all.size() ? all[text.cursor].attempt : std::string();
}

/// Returns the id of the task whose attempts the pane shows. The pane may have been opened on one of them.
std::string compared_task(const PaneText& text) {
    const auto reply = typed<rpc::TaskCompare::Reply>(text.reply);
    return reply ? reply->task.fields.id.value : text.task;
}

std::string name_of_attempt(const State& state, const std::string& id) {
    const auto* task = task_named(state, id);
    if (task == nullptr) return "the attempt " + clean(id.substr(0, 4));
    return task->attempt.empty() ? quoted_title(*task) : clean(task->attempt);
}

}  // namespace

bool is_compared(const Row& task) {
    const bool has_agent = can(task, "attach") || can(task, "spawn") || can(task, "respawn");
    return can(task, "compare") && !has_agent;
}

std::size_t first_attempt(const std::vector<Place>& places) {
    const auto found = std::ranges::find_if(places, [](const Place& place) { return !place.attempt.empty(); });
    return found == places.end() ? 0 : static_cast<std::size_t>(found - places.begin());
}

/// Gives the comparison the whole screen and the keys.
void Core::compare() {
    if (!state_.whole) state_.whole = std::tuple(state_.pane, state_.pane_open, pane_has_keys(state_));
    show_pane(Pane::compare);
    state_.pane_focused = true;
}

/// Moves the cursor by attempts.
void Core::move_to_attempt(long by) {
    auto& text = state_.panes[state_.pane];
    const auto& all = text.places.all;
    const long step = by < 0 ? -1 : 1;
    long left = by < 0 ? -by : by;
    for (auto at = static_cast<long>(text.cursor) + step; left > 0 && at >= 0 && at < std::ssize(all); at += step) {
        if (all[static_cast<std::size_t>(at)].attempt.empty()) continue;
        text.cursor = static_cast<std::size_t>(at);
        --left;
    }
    text.found.reset();
    follow_cursor();
}

/// Runs a key of the comparison. Returns false if it is none.
bool Core::compare_key(const Key& key, Moment now, Effects& effects) {
    if (state_.pane != Pane::compare) return false;
    static const Binding k_pick = {
        "Enter", Action::pick, k_of_task | k_changes, "pick",
        "",      "pick",       "task pick",           [](Core& c, Effects&, Moment at) { c.pick(at); }};
    const auto attempt = attempt_at_cursor(state_.panes[state_.pane]);
    if (key == "Enter" && attempt.empty()) {
        say("The attempts are not read yet", false, now);
    } else if (key == "Enter") {
        run(k_pick, now, effects);
    } else if (key == "m") {
        run(*binding_of(key), now, effects);
    } else if (key == "D" && !attempt.empty()) {
        const auto* task = task_named(state_, attempt);
        const auto id = task == nullptr ? attempt : id_for_commands(state_, *task);
        effects.outside.push_back({Outside::What::run, {"orange", "task", "diff", id}, {}, true});
    } else {
        return false;
    }
    return true;
}

/// Asks whether to pick the attempt at the cursor.
void Core::pick(Moment now) {
    const auto& text = state_.panes[Pane::compare];
    ask(question_to_pick(compared_task(text), attempt_at_cursor(text)), now);
}

/// Makes the question that names what ends.
Question Core::question_to_pick(const std::string& parent, const std::string& attempt) const {
    std::vector<std::string> losers;
    for (const auto& task : state_.tasks) {
        const bool ends = task.parent == parent && task.id != attempt && !task.attempt.empty() && !task.ended;
        if (ends) losers.push_back(clean(task.attempt) + " (" + clean(task.status) + ")");
    }
    const auto name = name_of_attempt(state_, attempt);
    rpc::TaskPick params;
    params.attempt = attempt;
    Question question;
    if (!losers.empty()) {
        question.facts.push_back("This cancels " + join(losers, " and ") + ". " +
                                 (losers.size() == 1 ? "Its" : "Their") + " work is kept");
    }
    question.text = "Pick " + name + "?";
    question.if_yes.push_back(action_of(std::move(params), parent, "picking", "picked " + name));
    question.if_yes.front().host = host_of(attempt);
    return question;
}

/// Asks to pick an attempt after a request that is only for a picked one, and then sends that request again. If none is
/// named, shows the attempts.
bool Core::ask_to_pick(const Request& request, const Error& error, Moment now) {
    if (detail(error, "why") != rpc::k_not_picked) return false;
    const auto attempt = detail(error, "attempt");
    if (attempt.empty()) {
        const bool is_free = !state_.question && !state_.prompt && !state_.form && state_.selected == request.task;
        if (!is_free) return false;
        compare();
        say("None is picked yet; Enter picks the attempt at the cursor", true, now);
        return true;
    }
    auto question = question_to_pick(detail(error, "parent"), attempt);
    question.late = true;
    question.facts.insert(question.facts.begin(), "It is an attempt, and none is picked yet");
    question.if_yes.front().then = {request};
    ask(std::move(question), now);
    return true;
}

/// Returns the attempt that was picked, which is what a merge or a pull request of its parent is about; else the task.
const Row& Core::meant(const Row& task) const {
    const auto* picked = task.picked.empty() ? nullptr : task_named(state_, task.picked);
    return picked == nullptr || picked->ended ? task : *picked;
}

}  // namespace orange::dashboard
