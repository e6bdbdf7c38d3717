// What each key does with the selected task.
#include <algorithm>

#include "client/dashboard/calls.hpp"
#include "client/dashboard/core.hpp"
#include "common/base/text.hpp"
#include "common/rpc/task_queries.hpp"

namespace orange::dashboard {
namespace {

bool acts_on_marked(Action action) {
    return action == Action::merge || action == Action::cancel || action == Action::remove || action == Action::respawn;
}

bool changes_something(Action action) {
    return action >= Action::enter && action <= Action::update_branch;
}

bool has_begun(const Row& task) {
    return !can(task, "spawn") && !task.initial;
}

bool takes_text(Action action) {
    return action == Action::reject || action == Action::reply || action == Action::send;
}

/// Why a key that is not offered does nothing for the task, behind its name.
std::string why_not(const Row& task, Action action) {
    const auto status = clean(task.status), workflow = clean(task.workflow);
    if (!task.unreadable.empty()) return "cannot be read: " + clean(task.unreadable);
    if (task.ended && action != Action::shell) return "has ended: it is " + status;
    const bool waits = task.blocked || task.queue_place > 0;
    if (waits && action == Action::enter) return "has no agent yet: " + clean(task.needs_text);
    if (!has_begun(task)) return "has not started yet";
    if (task.in_progress && changes_something(action)) return "is in the middle of a step; press the key again later";
    if (offers_nothing(task)) return "cannot do that now: " + clean(task.needs_text);
    switch (action) {
        case Action::shell:
            return "has no worktree now";
        case Action::merge:
            return "cannot be merged from " + status + ": workflow " + workflow + " has no such step";
        case Action::cancel:
            return "cannot be cancelled from " + status + ": workflow " + workflow + " has no such step";
        case Action::reject:
            return "cannot be sent back: workflow " + workflow + " has no such step from " + status;
        case Action::pull_request:
            if (!task.merges_into.empty()) return "is merged into its parent's branch, so it has no pull request";
            return "can have no pull request: its project has no origin at GitHub";
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
            return "has no sub-tasks that wait for your approval";
        case Action::move_to:
            return "cannot be moved by you from " + status + " now; 5 shows every way out";
        case Action::update_branch:
            return is_alive(task) ? "is being worked on: its agent merges, or S stops it first" : "has no worktree now";
        default:
            return "cannot do that while it is " + status;
    }
}

}  // namespace

bool Core::refuse(const Row& task, Action action, Moment now) {
    const auto refused = [&](const std::string& why) {
        say(why, true, now);
        if (takes_text(action)) state_.unwanted_until = now.steady + k_typing;
        return true;
    };
    if (const auto busy = state_.busy.find(task.id); busy != state_.busy.end() && changes_something(action)) {
        return refused(title_of(task) + " is busy: " + busy->second);
    }
    if (is_offered(task, action)) return false;
    return refused(title_of(task) + " " + why_not(task, action));
}

void Core::run(Action action, Moment now, Effects& effects) {
    const long page = std::max(1, layout_of(state_).list.height / 2);
    switch (action) {
        case Action::down:
            return move(1);
        case Action::up:
            return move(-1);
        case Action::first:
            return move(-1'000'000);
        case Action::last:
            return move(1'000'000);
        case Action::page_down:
            return move(static_cast<int>(page));
        case Action::page_up:
            return move(static_cast<int>(-page));
        case Action::pane_down:
            return scroll_pane(page);
        case Action::pane_up:
            return scroll_pane(-page);
        case Action::filter:
            return next_filter(effects);
        case Action::search:
            return open_prompt(Prompt::For::search, nullptr, now);
        case Action::next_pane:
            return show_pane(pane_is_visible() ? static_cast<Pane>((static_cast<int>(state_.pane) + 1) % k_panes)
                                               : state_.pane);
        case Action::pane_1:
            return show_pane(Pane::screen);
        case Action::pane_2:
            return show_pane(Pane::diff);
        case Action::pane_3:
            return show_pane(Pane::task);
        case Action::pane_4:
            return show_pane(Pane::history);
        case Action::pane_5:
            return show_pane(Pane::why);
        case Action::back:
            return back(now);
        case Action::help:
            state_.overlay = Overlay::help;
            state_.overlay_scroll = 0;
            return;
        case Action::workspaces:
            state_.overlay = Overlay::workspaces;
            state_.overlay_scroll = 0;
            if (state_.link.state == Link::State::up)
                effects.requests.push_back(request_of(rpc::WorkspaceList{}, Purpose::workspaces));
            return;
        case Action::redraw:
            return effects.outside.push_back({Outside::What::redraw});
        case Action::suspend:
            return effects.outside.push_back({Outside::What::suspend});
        case Action::reconnect:
            return effects.outside.push_back({Outside::What::reconnect});
        case Action::quit:
            return effects.outside.push_back({Outside::What::quit});
        default:
            break;
    }
    if (state_.read_only && is_refused_to_readers(action)) {
        return say("This dashboard is read-only", true, now);
    }
    if (action == Action::create) return open_form(now, effects);
    const auto* task = selected();
    if (task == nullptr)
        return say(state_.tasks.empty() ? "There is no task; c creates one" : "No task is selected", false, now);
    if (action == Action::mark) {
        if (!state_.marked.erase(state_.selected)) state_.marked.insert(state_.selected);
        return move(1);
    }
    if (changes_something(action) && state_.link.state != Link::State::up) {
        return say("The daemon does not run; Ctrl-r starts it", true, now);
    }
    const bool many = acts_on_marked(action) && !state_.marked.empty();
    if (!many && refuse(*task, action, now)) return;
    const auto& id = task->id;
    switch (action) {
        case Action::enter:
            return enter(effects);
        case Action::merge:
            return merge(effects, now);
        case Action::cancel:
            return cancel(now);
        case Action::remove:
            return remove(now);
        case Action::respawn:
            return respawn(effects, now);
        case Action::stop:
            return stop(effects, now);
        case Action::pull_request:
            return pull_request(effects, now);
        case Action::reject:
            return open_prompt(Prompt::For::reject, task, now);
        case Action::reply:
            return open_prompt(Prompt::For::reply, task, now);
        case Action::send:
            return open_prompt(Prompt::For::send, task, now);
        case Action::move_to: {
            rpc::TaskWhy why;
            why.id = id;
            return effects.requests.push_back(request_of(why, Purpose::moves, id));
        }
        case Action::acknowledge:
            return act(effects, action_of(rpc::TaskAck{}, id, "acknowledging", "notices acknowledged"));
        case Action::approve:
            return act(effects, action_of(rpc::TaskApprove{}, id, "approving", "sub-tasks approved"));
        case Action::update_branch:
            return act(effects, action_of(rpc::TaskUpdateBranch{}, id, "updating", "branch updated"));
        case Action::diff:
            return client(effects, {"task", "diff", id}, true);
        case Action::shell:
            return client(effects, {"task", "shell", id});
        case Action::edit:
            return edit_task_file(effects, now);
        case Action::copy:
            effects.outside.push_back({Outside::What::copy, {}, id});
            return say("Copied " + clean(id), false, now);
        default:
            return;
    }
}

void Core::act(Effects& effects, Request request) {
    state_.busy[request.task] = request.doing;
    const auto found = std::ranges::find_if(state_.tasks, [&](const auto& task) { return task.id == request.task; });
    if (found != state_.tasks.end()) request.title = title_of(*found);
    effects.requests.push_back(std::move(request));
}

void Core::client(Effects& effects, std::vector<std::string> words, bool pauses) {
    words.insert(words.begin(), "orange");
    effects.outside.push_back({Outside::What::run, std::move(words), {}, pauses});
}

void Core::enter(Effects& effects) {
    const auto* task = selected();
    const auto& id = task->id;
    if (can(*task, "attach")) return client(effects, {"task", "attach", id});
    if (can(*task, "spawn")) return act(effects, action_of(rpc::TaskSpawn{}, id, "starting", "started"));
    act(effects, action_of(rpc::TaskRespawn{}, id, "respawning", "respawned"));
}

void Core::edit_task_file(Effects& effects, Moment now) {
    const auto& task = *selected();
    if (task.file.empty()) return say("TASK.md of " + title_of(task) + " cannot be found", true, now);
    effects.outside.push_back({Outside::What::run, {"$EDITOR", task.file}, {}, false});
}

}  // namespace orange::dashboard
