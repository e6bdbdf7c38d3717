#include "client/dashboard/keys.hpp"

#include <algorithm>
#include <utility>

#include "client/dashboard/calls.hpp"
#include "client/dashboard/core.hpp"
#include "client/dashboard/hosts.hpp"
#include "client/dashboard/rows.hpp"
#include "client/output/local_time.hpp"
#include "client/output/task_cells.hpp"
#include "common/base/text.hpp"

namespace orange::dashboard {
namespace {

constexpr int k_far = 1'000'000;

struct Part {
    std::string key, label;
    Look look = k_bold;  ///< of the key
};

/// Returns a row with as many of `parts` as fit, and with all of `last`.
Line key_row(const std::vector<Part>& parts, const std::vector<Part>& last, std::size_t width) {
    const auto room_of = [](const Part& part) { return columns(part.key) + columns(part.label) + 3; };
    std::size_t used = 0;
    for (const auto& part : last) used += room_of(part);
    std::size_t all = used;
    for (const auto& part : parts) all += room_of(part);
    const bool is_cut = all > width;
    if (is_cut) used += 3;
    Line line;
    const auto put = [&](const Part& part) {
        line.add(line.spans.empty() ? " " : "  ").add(part.key, part.look).add(" " + part.label, k_dim);
    };
    for (const auto& part : parts) {
        if (used + room_of(part) > width) break;
        used += room_of(part);
        put(part);
    }
    if (is_cut) line.add("  …", k_dim);
    for (const auto& part : last) put(part);
    return line;
}

std::string shown_key(const Key& key) {
    if (key == "Right") return "→";
    return key.starts_with("C-") ? "Ctrl-" + key.substr(2) : key;
}

/// Returns the first of the binding's keys, in the form of the footer.
std::string first_key(const Binding& binding) {
    return shown_key(std::string(split(binding.keys, ' ').front()));
}

bool offers_one(const Row& task, const Binding& binding) {
    const auto names = split(binding.offers, ' ');
    return std::ranges::any_of(names, [&](const auto& name) { return can(task, name); });
}

/// Returns true if the key does for the task the same as `verb`, the last word of a command.
bool does(const Row& task, const Binding& binding, std::string_view verb) {
    if (*binding.offers == '\0') return true;
    std::string name(verb);
    std::ranges::replace(name, '-', '_');
    const auto names = split(binding.offers, ' ');
    const bool is_exact = binding.action != Action::merge && std::ranges::find(names, name) != names.end();
    return is_exact ? can(task, name) : offers_one(task, binding);
}

}  // namespace

// The order is that of the footer: first the keys that a task's need calls for.
std::span<const Binding> Core::keys() {
    static const Binding k_keys[] = {
        {"Enter", Action::enter, k_of_task | k_changes, "attach",
         "Start the task, open its agent's terminal, start a dead agent again, or compare the task's attempts",
         "spawn attach respawn compare", "task attach, task spawn, task compare",
         [](Core& c, Effects& effects, Moment) { c.enter(effects); }},
        {"a", Action::reply, k_of_task | k_changes | k_takes_text, "answer",
         "Answer the agent's question, or look at what its program asks for, and allow or deny it", "reply allow deny",
         "task reply, task allow, task deny", [](Core& c, Effects& effects, Moment now) { c.answer(effects, now); }},
        {"A", Action::approve, k_of_task | k_changes, "approve",
         "Approve the plan, or the sub-tasks that the task's agent created", "approve", "task approve",
         [](Core& c, Effects&, Moment now) { c.approve(now); }},
        {"m", Action::merge, k_of_task | k_changes | k_on_marked, "merge", "Merge the task's branch",
         "merge force_merge", "task merge", [](Core& c, Effects& effects, Moment now) { c.merge(effects, now); }},
        {"r", Action::reject, k_of_task | k_changes | k_takes_text, "reject",
         "Send the work back to the worker, with a text", "reject", "task reject, task update",
         [](Core& c, Effects& effects, Moment now) { c.reject(effects, now); }},
        {"p", Action::pull_request, k_of_task | k_changes, "PR",
         "Open a pull request, or show the open one in the browser", "create_pr", "task create-pr",
         [](Core& c, Effects& effects, Moment now) { c.pull_request(effects, now); }},
        {"s", Action::send, k_of_task | k_changes | k_takes_text, "send", "Send the worker a message", "send",
         "task send", [](Core& c, Effects&, Moment now) { c.open_prompt(Prompt::For::send, c.selected(), now); }},
        {"x", Action::cancel, k_of_task | k_changes | k_on_marked, "cancel",
         "Cancel the task; uncommitted work is kept", "cancel", "task cancel",
         [](Core& c, Effects&, Moment now) { c.cancel(now); }},
        {"t", Action::move_to, k_of_task | k_changes, "move to",
         "Move the task to another status, as its workflow lets you", "move", "task update",
         [](Core& c, Effects& effects, Moment) { c.ask_for_moves(effects); }},
        {"!", Action::acknowledge, k_of_task | k_changes, "ack", "Acknowledge the task's notices", "ack", "task ack",
         [](Core& c, Effects& effects, Moment) {
             c.act(effects, action_of(rpc::TaskAck{}, c.state_.selected, "acknowledging", "notices acknowledged"));
         }},
        {"S", Action::stop, k_of_task | k_changes, "stop",
         "Stop the task's agents, or start the agent of its state again", "stop restart", "task stop",
         [](Core& c, Effects& effects, Moment now) { c.stop(effects, now); }},
        {"R", Action::respawn, k_of_task | k_changes | k_on_marked, "respawn", "Start the task's agent again",
         "respawn restart", "task respawn, task restart",
         [](Core& c, Effects& effects, Moment now) { c.respawn(effects, now); }},
        {"u", Action::update_branch, k_of_task | k_changes, "update", "Merge the default branch into the task's branch",
         "update_branch", "task update-branch",
         [](Core& c, Effects& effects, Moment) {
             c.act(effects, action_of(rpc::TaskUpdateBranch{}, c.state_.selected, "updating", "branch updated"));
         }},
        {"T", Action::try_work, k_of_task | k_changes, "try",
         "Run the task's work in its worktree, to look at it before the merge; again: end it", "try", "task try",
         [](Core& c, Effects& effects, Moment) { c.try_work(effects); }},
        {"U", Action::restore, k_of_task | k_changes, "go on", "Undo a cancel: go on with the kept work in a new task",
         "restore", "task restore", [](Core& c, Effects&, Moment now) { c.restore(now); }},
        {"d", Action::remove, k_of_task | k_changes | k_on_marked, "delete",
         "Delete the task with its TASK.md, history and logs", "delete", "task delete",
         [](Core& c, Effects&, Moment now) { c.remove(now); }},
        {"D", Action::diff, k_of_task | k_looks, "diff", "Show what the branch changes, in your pager", "", "task diff",
         [](Core& c, Effects& effects, Moment) {
             c.client(effects, {"task", "diff"}, true);
         }},
        {"o", Action::shell, k_of_task, "shell", "Open a shell in the task's worktree", "", "task shell",
         [](Core& c, Effects& effects, Moment) {
             c.client(effects, {"task", "shell"});
         }},
        {"e", Action::edit, k_of_task, "edit", "Edit TASK.md in $EDITOR", "", "",
         [](Core& c, Effects& effects, Moment now) { c.edit_task_file(effects, now); }},
        {"y", Action::copy, k_of_task | k_looks, "copy id", "Copy the task's id", "", "",
         [](Core& c, Effects& effects, Moment now) { c.copy_id(effects, now); }},
        {"Space", Action::mark, k_of_task | k_looks, "",
         "Select the task for m, x, d and R, which then act on all selected tasks", "", "",
         [](Core& c, Effects&, Moment) { c.mark(); }},
        {"*", Action::mark_all, k_of_task | k_looks, "",
         "Select all tasks that need the same from you as this one; again: none of them", "", "",
         [](Core& c, Effects&, Moment) { c.mark_all(); }},
        {"c", Action::create, k_of_list, "create", "Create a task", "", "task create",
         [](Core& c, Effects& effects, Moment now) { c.open_form(now, effects); }},
        {"f", Action::filter, k_of_list, "filter", "Show active tasks, those that need you, all, or ended ones", "", "",
         [](Core& c, Effects&, Moment) { c.next_filter(); }},
        {"/", Action::search, k_of_list, "search", "Show only tasks with this text in branch, summary, id or project",
         "", "", [](Core& c, Effects&, Moment now) { c.open_prompt(Prompt::For::search, nullptr, now); }},
        {"P", Action::projects, k_of_list, "", "Show the tasks of all projects, or only those of this task's project",
         "", "", [](Core& c, Effects&, Moment) { c.switch_project(); }},
        {"w", Action::workspaces, k_of_list, "workspaces", "Show the workspaces of the projects", "", "workspace list",
         [](Core& c, Effects& effects, Moment) { c.open_overlay(Overlay::workspaces, effects); }},
        {"Tab", Action::next_pane, k_of_list, "pane", "Show the next pane", "", "",
         [](Core& c, Effects&, Moment) { c.show_next_pane(); }},
        {"Right", Action::focus, k_of_list, "",
         "Give the keys to the pane, as its digit does a second time; Left or Esc takes them back", "", "",
         [](Core& c, Effects&, Moment) {
             c.show_pane(c.state_.pane);
             c.state_.pane_focused = true;
         }},
        {"C", Action::whole, k_of_list, "",
         "Show the diff on the whole screen, to comment on its lines; again: as before", "", "task comment",
         [](Core& c, Effects&, Moment now) { c.show_whole(now); }},
        {"1", Action::pane_1, k_of_list, "", "Pane: the agent's screen", "", "task peek",
         [](Core& c, Effects&, Moment) { c.focus_pane(Pane::screen); }},
        {"2", Action::pane_2, k_of_list, "", "Pane: what the branch changes", "", "",
         [](Core& c, Effects&, Moment) { c.focus_pane(Pane::diff); }},
        {"3 v", Action::pane_3, k_of_list, "", "Pane: TASK.md", "", "task show",
         [](Core& c, Effects&, Moment) { c.focus_pane(Pane::task); }},
        {"4", Action::pane_4, k_of_list, "", "Pane: the task's history", "", "task history",
         [](Core& c, Effects&, Moment) { c.focus_pane(Pane::history); }},
        {"5", Action::pane_5, k_of_list, "", "Pane: why the task is where it is, and every way out", "", "task why",
         [](Core& c, Effects&, Moment) { c.focus_pane(Pane::why); }},
        {"6", Action::pane_6, k_of_list, "",
         "Pane: the attempts of the task, or the last lines of the work that is tried", "", "",
         [](Core& c, Effects&, Moment) {
             const auto* task = c.selected();
             c.focus_pane(task != nullptr && task->attempts > 0 ? Pane::compare : Pane::preview);
         }},
        {"j Down", Action::down, k_of_list, "", "Next task", "", "", [](Core& c, Effects&, Moment) { c.move(1); }},
        {"k Up", Action::up, k_of_list, "", "Previous task", "", "", [](Core& c, Effects&, Moment) { c.move(-1); }},
        {"g Home", Action::first, k_of_list, "", "First task", "", "",
         [](Core& c, Effects&, Moment) { c.move(-k_far); }},
        {"G End", Action::last, k_of_list, "", "Last task", "", "", [](Core& c, Effects&, Moment) { c.move(k_far); }},
        {"C-d", Action::page_down, k_of_list, "", "Half a page down", "", "",
         [](Core& c, Effects&, Moment) { c.move(c.half_a_page()); }},
        {"C-u", Action::page_up, k_of_list, "", "Half a page up", "", "",
         [](Core& c, Effects&, Moment) { c.move(-c.half_a_page()); }},
        {"J PageDown", Action::pane_down, k_of_list, "", "Scroll the pane down; without a pane, the list", "", "",
         [](Core& c, Effects&, Moment) { c.scroll_pane(c.half_a_page()); }},
        {"K PageUp", Action::pane_up, k_of_list, "", "Scroll the pane up; without a pane, the list", "", "",
         [](Core& c, Effects&, Moment) { c.scroll_pane(-c.half_a_page()); }},
        {"Esc", Action::back, k_of_list, "",
         "One step back: a question, a text, this page, the selection, the search, the pane", "", "",
         [](Core& c, Effects&, Moment now) { c.back(now); }},
        {"C-r", Action::reconnect, k_of_list, "", "Connect again; starts the daemon if it does not run", "", "",
         [](Core&, Effects& effects, Moment) { effects.outside.push_back({Outside::What::reconnect}); }},
        {"C-l", Action::redraw, k_of_list, "", "Draw the screen again", "", "",
         [](Core&, Effects& effects, Moment) { effects.outside.push_back({Outside::What::redraw}); }},
        {"C-z", Action::suspend, k_of_list, "", "Suspend the dashboard", "", "",
         [](Core&, Effects& effects, Moment) { effects.outside.push_back({Outside::What::suspend}); }},
        {"q", Action::quit, k_of_list, "quit", "Quit, or go back to the list; agents and daemon go on", "", "",
         [](Core& c, Effects& effects, Moment now) { c.quit(effects, now); }},
        {"?", Action::help, k_of_list, "help", "This page: all keys, and the last messages", "", "",
         [](Core& c, Effects& effects, Moment) { c.open_overlay(Overlay::help, effects); }},
    };
    return k_keys;
}

std::span<const Binding> bindings() {
    return Core::keys();
}

const Binding* binding_of(const Key& key) {
    const auto name = key == " " ? std::string_view("Space") : std::string_view(key);
    for (const auto& binding : bindings()) {
        const auto keys = split(binding.keys, ' ');
        if (std::ranges::find(keys, name) != keys.end()) return &binding;
    }
    return nullptr;
}

bool is_offered(const Row& task, const Binding& binding) {
    switch (binding.action) {
        case Action::pull_request:
            return !task.pr_url.empty() || can(task, "create_pr");
        case Action::diff:
            return task.unreadable.empty() && (task.has_worktree || !can(task, "spawn"));
        case Action::copy:
        case Action::edit:
            return task.unreadable.empty();
        case Action::shell:
            return task.has_worktree;
        case Action::merge:  // of a task with attempts it leads to the comparison until one is picked
            return offers_one(task, binding) || (task.attempts > 0 && can(task, "compare") && !task.ended);
        case Action::restore:  // of a cancelled task with work
            return can(task, "restore") && task.needs_command.verb == "task restore";
        default:
            return *binding.offers == '\0' || offers_one(task, binding);
    }
}

bool has_no_place_for_tasks(const State& state) {
    return state.projects_known && state.projects.empty() && !state.repository;
}

bool is_refused_to_readers(const Binding& binding) {
    return binding.action == Action::create || (binding.is & (k_of_task | k_looks)) == k_of_task;
}

std::string key_for(const Row* task, const OrangeCommand& command) {
    const auto& verb = command.verb;
    if (verb.empty()) return {};
    if (verb == "task update" && command.options.find("--status ") == std::string::npos) return {};
    const bool is_its =
        task != nullptr && !command.about.empty() && (command.about == task->id || command.about == task->short_id);
    const bool is_any = !verb.starts_with("task ") || verb == "task create";
    std::string key;
    for (const auto& binding : bindings()) {
        const auto commands = split(binding.commands, ',');
        const bool is_named = std::ranges::any_of(commands, [&](auto each) { return trim(each) == verb; });
        // If two keys do the same, use the later one, which asks for details.
        if (is_named && (is_any || (is_its && does(*task, binding, split(verb, ' ').back())))) key = first_key(binding);
    }
    return key;
}

bool scrolls_about(const State& state) {
    const auto& about = state.about;
    return about && about->lines.size() > static_cast<std::size_t>(std::max(0, about_box(layout_of(state)).height));
}

/// Returns the keys of a question, prompt, form or page that has the input; nothing if the list has it.
std::optional<std::vector<Part>> other_keys(const State& state) {
    if (state.question) {
        std::vector<Part> keys{{"any other key", "no"}};
        const auto choices = state.question->options.size();
        if (scrolls_about(state)) keys.push_back({"J K", "scroll"});
        if (state.question->readable)
            keys.insert(keys.begin(), choices > 0 ? Part{"1-" + std::to_string(choices), "choose"} : Part{"y", "yes"});
        return keys;
    }
    if (state.prompt && state.prompt->what == Prompt::For::search)
        return std::vector<Part>{{"Enter", "keep the search"}, {"Esc", "end it"}};
    if (state.prompt && state.prompt->what == Prompt::For::find)
        return std::vector<Part>{{"Enter", "find"}, {"Esc", "end it"}};
    if (state.prompt) {
        const auto what = state.prompt->what;
        const auto* does = what == Prompt::For::comment ? "save" : what == Prompt::For::deny ? "deny" : "send";
        std::vector<Part> keys{{"Enter", does}, {"Ctrl-e", "editor"}, {"Esc", "leave and keep the text"}};
        if (scrolls_about(state) || state.permit) keys.push_back({"PageUp PageDown", "scroll"});
        return keys;
    }
    if (shows_permit(state)) {
        const auto& page = *state.permit;
        std::vector<Part> keys;
        if (page.can_allow) keys.push_back({"y", "allow once"});
        if (page.shown && !page.over) keys.push_back({"n", "deny, with a text"});
        if (page.over && !page.open.empty()) keys.push_back({"a", "the next request"});
        if (!page.over && page.open.size() > 1) keys.push_back({"Tab", "the next request"});
        keys.insert(keys.end(), {{"Esc", "leave"}, {"j k", "scroll"}});
        return keys;
    }
    if (state.form)
        return std::vector<Part>{{"Enter", "create"},
                                 {"Tab", "next field"},
                                 {"← →", "choose"},
                                 {"Ctrl-e", "editor"},
                                 {"Esc", "leave and keep the text"},
                                 {"Ctrl-v", "picture from the clipboard"}};
    return std::nullopt;
}

std::string label_of(const Row* task, const Binding& binding) {
    if (task == nullptr) return binding.label;
    if (binding.action == Action::enter) {
        if (can(*task, "spawn")) return "start";
        if (is_compared(*task)) return "compare";
        if (!can(*task, "attach")) return "respawn";
        return "attach";
    }
    if (binding.action == Action::merge && task->attempts > 0 && task->picked.empty()) return "";
    if (binding.action == Action::merge && can(*task, "force_merge")) return "force merge";
    if (binding.action == Action::pull_request) return !task->pr_url.empty() ? "open PR" : "create PR";
    if (binding.action == Action::try_work) return is_tried(*task) ? "end try" : "try";
    if (binding.action == Action::stop) return can(*task, "stop") ? "stop" : "restart";
    if (binding.action == Action::respawn && !can(*task, "respawn"))
        return "";  // for a living agent it is only in the help
    return binding.label;
}

/// Returns the keys for comments that do something at the pane's cursor.
std::vector<Part> comment_parts(const State& state) {
    std::vector<Part> keys;
    if (!has_cursor(state) || !state.panes.at(state.pane).knows_comments) return keys;
    const auto& text = state.panes.at(state.pane);
    const auto [first, last] = chosen_places(text);
    if (text.range) {
        const auto begin = text.places.all.begin() + static_cast<std::ptrdiff_t>(first);
        const auto lines = std::count_if(begin, begin + static_cast<std::ptrdiff_t>(last - first + 1),
                                         [](const Place& place) { return place.is_line() && !place.is_note(); });
        keys.push_back({"Esc", "ends the range of " + std::to_string(lines)});
    }
    for (const auto& key : Core::comment_keys()) {
        const bool is_refused = state.read_only && is_refused_to_readers(key);
        if (is_of_use(text, key) && !is_refused) keys.push_back({first_key(key), key.label});
    }
    return keys;
}

/// Returns which pane has the keys, what of it is shown, and its keys.
std::vector<Line> pane_footer(const State& state, std::size_t width, int rows) {
    const auto view = view_of(state);
    const auto last = std::min(view.top + view.rows, view.all);
    const auto where =
        view.all == 0 ? "no rows"
                      : std::to_string(view.top + 1) + "-" + std::to_string(last) + " of " + std::to_string(view.all);
    auto keys = comment_parts(state);
    std::vector<Line> lines(static_cast<std::size_t>(std::max(1, rows)));
    if (rows > 1) {
        Line first(" ");
        first.add(std::string(name_of(state.pane)), k_bold).add(" has the keys  " + where, k_dim);
        const auto room = width > first.width() ? width - first.width() : 0;
        if (!keys.empty()) first.add(" ").add(key_row(std::exchange(keys, {}), {}, room > 0 ? room - 1 : 0));
        lines.front() = std::move(first);
    }
    if (const auto* task = selected_in(state); state.pane == Pane::compare && task != nullptr && !state.read_only) {
        keys.insert(keys.begin(), task->picked.empty() ? Part{"Enter", "pick"} : Part{"m", "merge"});
    }
    for (const auto& key : pane_keys()) {
        const bool is_of_text = std::string_view("[{(").find(*key.keys) != std::string_view::npos;
        if (!is_of_text || state.pane != Pane::compare) keys.push_back({key.keys, key.label});
    }
    lines.back() = key_row(keys, {{"?", "help"}}, width);
    return lines;
}

std::vector<Line> footer(const State& state, const Row* task, std::size_t width, int rows) {
    if (const auto others = other_keys(state)) {
        std::vector<Line> lines(static_cast<std::size_t>(std::max(1, rows)));
        lines.back() = key_row(*others, {}, width);
        return lines;
    }
    if (pane_has_keys(state)) return pane_footer(state, width, rows);
    std::vector<Part> urgent, of_task, later, fixed, last;
    const bool pane_covers = state.pane_open && layout_of(state).list.height == 0;
    if (pane_covers) fixed = {{"Esc", "list"}, {"j k", "other task"}, {"→", "keys to the pane"}};
    auto needed = task == nullptr ? std::string() : key_for(task, task->needs_command);
    if (task != nullptr && task->permit) needed = "a";  // its command may only show the request
    if (task != nullptr && task->attempts > 0 && is_compared(*task)) needed = "Enter";
    for (const auto& binding : bindings()) {
        const auto label = label_of(task, binding);
        if (label.empty()) continue;
        const bool is_tasks = (binding.is & k_of_task) != 0;
        if (is_tasks && (task == nullptr || !is_offered(*task, binding))) continue;
        if (is_tasks && binding.action != Action::copy && !host_refusal(state, *task).empty()) continue;
        if (state.read_only && is_refused_to_readers(binding)) continue;
        if (binding.action == Action::create && has_no_place_for_tasks(state)) continue;
        const bool always = binding.action == Action::help || binding.action == Action::quit;
        // The key for the task's need comes first, a rarely used one last.
        const bool is_needed = first_key(binding) == needed;
        const bool is_rare = binding.action == Action::merge && !can(*task, "merge");
        if (pane_covers && !always && !is_tasks && binding.action != Action::next_pane) continue;
        auto& group = always ? last : !is_tasks ? fixed : is_needed ? urgent : is_rare ? later : of_task;
        group.push_back({first_key(binding), label, is_needed && is_tasks ? output::look_of(task->needs) : k_bold});
    }
    of_task.insert(of_task.begin(), urgent.begin(), urgent.end());
    of_task.insert(of_task.end(), later.begin(), later.end());
    if (rows < 2) {
        of_task.insert(of_task.end(), fixed.begin(), fixed.end());
        return {key_row(of_task, last, width)};
    }
    return {key_row(of_task, {}, width), key_row(fixed, last, width)};
}

std::vector<Line> help_lines(const State& state) {
    std::vector<Line> lines;
    const auto heading = [&](const char* text) {
        if (!lines.empty()) lines.emplace_back();
        lines.emplace_back(text, k_bold);
    };
    const auto explain = [&](std::string keys, const char* help) {
        for (const auto& row : wrapped(help, static_cast<std::size_t>(std::max(20, state.width - 15))))
            lines.push_back(Line("  ").add(padded(std::exchange(keys, ""), 13), k_bold).add(row));
    };
    heading("Keys");
    for (const auto& binding : bindings()) {
        if (binding.action == Action::create) heading("The list and the panes");
        std::string keys;
        for (const auto key : split(binding.keys, ' '))
            keys += (keys.empty() ? "" : ", ") + shown_key(std::string(key));
        explain(std::move(keys), binding.help);
    }
    heading("A pane that has the keys");
    for (const auto& key : pane_keys()) explain(key.keys, key.help);
    explain("Enter", "In the comparison: pick this attempt; m merges the picked one, D shows what this one changes");
    heading("On a line of the diff or of TASK.md, in a pane that has the keys");
    for (const auto& key : Core::comment_keys()) explain(first_key(key), key.help);
    heading("Elsewhere");
    for (const char* text : {
             "In a question only y is yes; every other key is no.",
             "In a program's request y allows it once, after its last line was seen; n denies it, with or without a "
             "text.",
             "In a text, Ctrl-e opens $EDITOR, Ctrl-u deletes it; Esc keeps it for next time.",
             "In the form of a new task, Ctrl-v takes a picture from the clipboard.",
             "Ctrl-c closes what is open; in the list it quits.",
             "The mouse selects; a double click is Enter; the wheel moves what it is over.",
             "To select text with the mouse, hold Shift.",
             "In an agent's terminal, the line at the bottom says how to leave it.",
         }) {
        lines.push_back(Line("  ").add(text));
    }
    heading("Messages");
    if (state.log.empty()) lines.push_back(Line("  ").add("none yet", k_dim));
    for (auto message = state.log.rbegin(); message != state.log.rend(); ++message) {
        auto indent = "  " + output::local_clock(to_rfc3339(message->at)) + "  ";
        for (const auto text : split_lines(message->text)) {
            for (auto& row : wrapped(clean(text), static_cast<std::size_t>(std::max(20, state.width - 13)))) {
                lines.push_back(Line(std::exchange(indent, std::string(12, ' ')), k_dim)
                                    .add(std::move(row), message->bad ? k_red : Look{}));
            }
        }
    }
    return lines;
}

}  // namespace orange::dashboard
