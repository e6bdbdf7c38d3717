// The actions of keys on the selected task.
#include <algorithm>

#include "client/dashboard/calls.hpp"
#include "client/dashboard/core.hpp"
#include "client/dashboard/hosts.hpp"
#include "common/base/forges.hpp"
#include "common/base/text.hpp"
#include "common/rpc/task_queries.hpp"

namespace orange::dashboard {
namespace {

bool has_begun(const Row& task) {
    return !can(task, "spawn") && !task.initial;
}

/// Returns why a key that is not offered has no effect on the task; the text follows the task's name.
std::string why_not(const Row& task, const Binding& key) {
    const auto action = key.action;
    const auto status = clean(task.status), workflow = clean(task.workflow);
    if (!task.unreadable.empty()) return "cannot be read: " + clean(task.unreadable);
    if (task.ended && action != Action::shell) return "has ended: it is " + status;
    const bool waits = task.blocked || task.queue_place > 0;
    if (waits && action == Action::enter) return "has no agent yet: " + clean(task.needs_text);
    if (!has_begun(task)) return "has not started yet";
    if (task.in_progress && (key.is & k_changes)) return "is in the middle of a step; press the key again later";
    if (offers_nothing(task)) return "cannot do that now: " + clean(task.needs_text);
    switch (action) {
        case Action::pick:
            if (!task.picked.empty()) return "has its attempt already; m merges it";
            return "has no attempt that can be picked while it is " + status;
        case Action::shell:
            return "has no worktree now";
        case Action::merge:
            if (!task.on.empty()) return "cannot be merged now: " + clean(task.needs_text);
            return "cannot be merged from " + status + ": workflow " + workflow + " has no such step";
        case Action::cancel:
            return "cannot be cancelled from " + status + ": workflow " + workflow + " has no such step";
        case Action::reject:
            return "cannot be sent back: workflow " + workflow + " has no such step from " + status;
        case Action::pull_request:
            if (task.attempts > 0 && task.picked.empty()) return "has no picked attempt yet; Enter compares them";
            if (!task.merges_into.empty()) return "is merged into its parent's branch, so it has no pull request";
            if (!task.on.empty()) return "can have no pull request now: " + clean(task.needs_text);
            return std::string("can have no pull request: its project has no origin at ") + k_forge_names;
        case Action::reply:
            return task.needs == Need::answer ? "asks in its own window; Enter opens it" : "asks nothing";
        case Action::send:
            return "has no agent that runs";
        case Action::enter:
            return "has no agent's terminal now" + std::string(task.has_worktree ? "; o opens a shell" : "");
        case Action::stop:
        case Action::respawn:
            return "has no agent in the status " + status;
        case Action::acknowledge:
            return "has no notices";
        case Action::approve:
            return "has nothing that waits for your approval";
        case Action::move_to:
            return "cannot be moved by you from " + status + " now; 5 shows every way out";
        case Action::try_work:
            if (!task.has_worktree) return "has no worktree now";
            return "cannot be tried, because its project has no command for that:\n  orange project update " +
                   clean(task.project) + " --dev npm run dev";
        case Action::update_branch:
            return is_alive(task) ? "is being worked on: its agent merges, or S stops it first" : "has no worktree now";
        default:
            return "cannot do that while it is " + status;
    }
}

}  // namespace

bool Core::refuse(const Row& task, const Binding& key, Moment now) {
    const auto refused = [&](const std::string& why) {
        say(why, true, now);
        if (key.is & k_takes_text) state_.unwanted_until = now.steady + k_typing;
        return true;
    };
    if (const auto busy = state_.busy.find(task.id); busy != state_.busy.end() && (key.is & k_changes)) {
        return refused(quoted_title(task) + " is busy: " + busy->second);
    }
    if (is_offered(task, key)) return false;
    return refused(quoted_title(task) + " " + why_not(task, key));
}

void Core::run(const Binding& key, Moment now, Effects& effects) {
    if (state_.read_only && is_refused_to_readers(key)) return say("This dashboard is read-only", true, now);
    if (key.is & k_of_task) {
        const auto* task = selected();
        if (task == nullptr) {
            return say(state_.tasks.empty() ? "There is no task; c creates one" : "No task is selected", false, now);
        }
        const bool many = (key.is & k_on_marked) && !state_.marked.empty();
        const bool needs_host = key.action != Action::copy && key.action != Action::mark && !many;
        if (const auto why = host_refusal(state_, *task); needs_host && !why.empty()) return say(why, true, now);
        if ((key.is & k_changes) && task->host == 0 && state_.link.state != Link::State::up) {
            return say("The daemon does not run; Ctrl-r starts it", true, now);
        }
        if (!many && refuse(*task, key, now)) return;
    }
    key.run(*this, effects, now);
}

int Core::half_a_page() const {
    const auto layout = layout_of(state_);
    return std::max(1, std::max(layout.list.height, layout.pane.height) / 2);
}

void Core::show_next_pane() {
    const auto panes = panes_of(state_);
    const auto at = static_cast<std::size_t>(std::ranges::find(panes, state_.pane) - panes.begin());
    show_pane(pane_is_visible() ? panes[(at + 1) % panes.size()] : state_.pane);
}

void Core::open_overlay(Overlay overlay, Effects& effects) {
    state_.overlay = overlay;
    state_.overlay_scroll = 0;
    if (overlay == Overlay::workspaces && state_.link.state == Link::State::up)
        effects.requests.push_back(request_of(rpc::WorkspaceList{}, Purpose::workspaces));
}

void Core::mark() {
    if (!state_.marked.erase(state_.selected)) state_.marked.insert(state_.selected);
    move(1);
}

/// Marks all tasks of the section with the same need; unmarks them if all are marked.
void Core::mark_all() {
    const auto& chosen = *selected();
    std::vector<std::string> alike;
    for (const auto& item : state_.items) {
        const auto& task = state_.tasks[item.task];
        if (!item.heading && item.section == section_of(chosen) && task.needs == chosen.needs) alike.push_back(task.id);
    }
    const bool all = std::ranges::all_of(alike, [&](const auto& id) { return state_.marked.contains(id); });
    for (auto& id : alike) {
        if (all) state_.marked.erase(id);
        if (!all) state_.marked.insert(std::move(id));
    }
}

void Core::ask_for_moves(Effects& effects) {
    add_request(effects, request_about(rpc::TaskWhy{}, Purpose::moves, state_.selected), selected()->host);
}

void Core::copy_id(Effects& effects, Moment now) {
    const auto id = id_for_commands(state_, *selected());
    effects.outside.push_back({Outside::What::copy, {}, id});
    say("Copied " + clean(id), false, now);
}

void Core::act(Effects& effects, Request request) {
    state_.busy[request.task] = request.doing;
    for (const auto& other : request.others) state_.busy[other] = request.doing;
    request.keys = inputs_;
    const auto found = std::ranges::find_if(state_.tasks, [&](const auto& task) { return task.id == request.task; });
    if (found != state_.tasks.end()) {
        request.title = short_title(*found);
        request.host = found->host;
    }
    effects.requests.push_back(std::move(request));
}

void Core::client(Effects& effects, std::vector<std::string> words, bool pauses) {
    words.insert(words.begin(), "orange");
    words.push_back(id_for_commands(state_, *selected()));
    effects.outside.push_back({Outside::What::run, std::move(words), {}, pauses});
}

/// Starts the work, whose output is then shown, or ends it.
void Core::try_work(Effects& effects) {
    const auto& task = *selected();
    rpc::TaskTry params;
    params.stop = is_tried(task);
    params.lines = 0;
    if (!params.stop && pane_is_visible()) show_pane(Pane::preview);
    act(effects, action_of(params, task.id, params.stop ? "ending" : "starting",
                           params.stop ? "not tried any more" : "being tried; T ends that"));
}

void Core::enter(Effects& effects) {
    const auto* task = selected();
    const auto& id = task->id;
    if (can(*task, "attach")) return client(effects, {"task", "attach"});
    if (is_compared(*task)) return compare();
    if (can(*task, "spawn")) return act(effects, action_of(rpc::TaskSpawn{}, id, "starting", "started"));
    act(effects, action_of(rpc::TaskRespawn{}, id, "respawning", "respawned"));
}

void Core::edit_task_file(Effects& effects, Moment now) {
    const auto& task = *selected();
    if (task.host > 0)
        return say("TASK.md of " + quoted_title(task) + " is on its host; o opens a shell there", true, now);
    if (task.file.empty()) return say("TASK.md of " + quoted_title(task) + " cannot be found", true, now);
    effects.outside.push_back({Outside::What::run, {"$EDITOR", task.file}, {}, false});
}

}  // namespace orange::dashboard
