#include "client/dashboard/keys.hpp"

#include <algorithm>
#include <utility>

#include "client/dashboard/core.hpp"
#include "client/output/local_time.hpp"
#include "common/base/text.hpp"

namespace orange::dashboard {
namespace {

// In the order of the footer: what asks for the person first.
const Binding k_bindings[] = {
    {"Enter", Action::enter, "attach", "Start the task, open its agent's terminal, or start a dead agent again"},
    {"a", Action::reply, "answer", "Answer the agent's question"},
    {"A", Action::approve, "approve", "Approve the sub-tasks that the task's agent created"},
    {"m", Action::merge, "merge", "Merge the task's branch"},
    {"r", Action::reject, "reject", "Send the work back to the worker, with a text"},
    {"p", Action::pull_request, "PR", "Open a pull request, or show the open one in the browser"},
    {"s", Action::send, "send", "Send the worker a message"},
    {"x", Action::cancel, "cancel", "Cancel the task; uncommitted work is kept"},
    {"t", Action::move_to, "move to", "Move the task to another status, as its workflow lets you"},
    {"!", Action::acknowledge, "ack", "Acknowledge the task's notices"},
    {"S", Action::stop, "stop", "Stop the task's agents, or start the agent of its state again"},
    {"R", Action::respawn, "respawn", "Start the task's agent again"},
    {"u", Action::update_branch, "update", "Merge the default branch into the task's branch"},
    {"d", Action::remove, "delete", "Delete the task with its TASK.md, history and logs"},
    {"D", Action::diff, "diff", "Show what the branch changes, in your pager"},
    {"o", Action::shell, "shell", "Open a shell in the task's worktree"},
    {"e", Action::edit, "edit", "Edit TASK.md in $EDITOR"},
    {"y", Action::copy, "copy id", "Copy the task's id"},
    {" ", Action::mark, "", "Select the task for m, x, d and R, which then act on all selected tasks"},
    {"c", Action::create, "create", "Create a task"},
    {"f", Action::filter, "filter", "Show active tasks, those that need you, all, or ended ones"},
    {"/", Action::search, "search", "Show only tasks with this text in branch, summary, id or project"},
    {"w", Action::workspaces, "workspaces", "Show the workspaces of the projects"},
    {"Tab", Action::next_pane, "pane", "Show the next pane"},
    {"1", Action::pane_1, "", "Pane: the agent's screen"},
    {"2", Action::pane_2, "", "Pane: what the branch changes"},
    {"3", Action::pane_3, "", "Pane: TASK.md"},
    {"v", Action::pane_3, "", "Pane: TASK.md"},
    {"4", Action::pane_4, "", "Pane: the task's history"},
    {"5", Action::pane_5, "", "Pane: why the task is where it is, and every way out"},
    {"j", Action::down, "", "Next task"},
    {"Down", Action::down, "", "Next task"},
    {"k", Action::up, "", "Previous task"},
    {"Up", Action::up, "", "Previous task"},
    {"g", Action::first, "", "First task"},
    {"Home", Action::first, "", "First task"},
    {"G", Action::last, "", "Last task"},
    {"End", Action::last, "", "Last task"},
    {"C-d", Action::page_down, "", "Half a page down"},
    {"C-u", Action::page_up, "", "Half a page up"},
    {"J", Action::pane_down, "", "Scroll the pane down"},
    {"PageDown", Action::pane_down, "", "Scroll the pane down; without a pane, the list"},
    {"K", Action::pane_up, "", "Scroll the pane up"},
    {"PageUp", Action::pane_up, "", "Scroll the pane up; without a pane, the list"},
    {"Esc", Action::back, "", "One step back: a question, a text, this page, the selection, the search, the pane"},
    {"C-r", Action::reconnect, "", "Connect again; starts the daemon if it does not run"},
    {"C-l", Action::redraw, "", "Draw the screen again"},
    {"C-z", Action::suspend, "", "Suspend the dashboard"},
    {"q", Action::quit, "quit", "Quit; agents and daemon go on"},
    {"?", Action::help, "help", "This page: all keys, and the last messages"},
};

struct NeededOffer {
    Action action;
    const char* any_of;
};
constexpr NeededOffer k_offers[] = {
    {Action::enter, "spawn attach respawn"},
    {Action::merge, "merge force_merge"},
    {Action::cancel, "cancel"},
    {Action::reject, "reject"},
    {Action::reply, "reply"},
    {Action::send, "send"},
    {Action::respawn, "respawn restart"},
    {Action::stop, "stop restart"},
    {Action::remove, "delete"},
    {Action::acknowledge, "ack"},
    {Action::approve, "approve"},
    {Action::move_to, "move"},
    {Action::update_branch, "update_branch"},
};

/// What a command line asks for, and the key that does it; `needs`: one of what the daemon must offer for it.
struct CommandKey {
    const char* words;
    const char* key;
    const char* needs;
};
constexpr CommandKey k_command_keys[] = {
    {"task attach", "Enter", "attach"},
    {"task spawn", "Enter", "spawn"},
    {"task reply", "a", "reply"},
    {"task merge", "m", "merge force_merge"},
    {"task reject", "r", "reject"},
    {"task create-pr", "p", "create_pr"},
    {"task send", "s", "send"},
    {"task cancel", "x", "cancel"},
    {"task ack", "!", "ack"},
    {"task approve", "A", "approve"},
    {"task stop", "S", "stop"},
    {"task respawn", "R", "respawn"},
    {"task restart", "R", "restart"},
    {"task update-branch", "u", "update_branch"},
    {"task update", "t", "move"},
    {"task update", "r", "reject"},
    {"task delete", "d", "delete"},
    {"task diff", "D", ""},
    {"task shell", "o", ""},
    {"task peek", "1", ""},
    {"task show", "3", ""},
    {"task history", "4", ""},
    {"task why", "5", ""},
    {"workspace list", "w", ""},
    {"task create", "c", ""},
};

struct Part {
    std::string key, label;
};

/// As many of `parts` as fit, each whole, and all of `last`.
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
        line.add(line.spans.empty() ? " " : "  ").add(part.key, k_bold).add(" " + part.label, k_dim);
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
    if (key == " ") return "Space";
    if (key.starts_with("C-")) return "Ctrl-" + key.substr(2);
    return key;
}

}  // namespace

std::span<const Binding> bindings() {
    return k_bindings;
}

const Binding* binding_of(const Key& key) {
    const auto found = std::ranges::find(k_bindings, key, &Binding::key);
    return found == std::end(k_bindings) ? nullptr : found;
}

bool is_offered(const Row& task, Action action) {
    if (action == Action::pull_request) return !task.pr_url.empty() || can(task, "create_pr");
    if (action == Action::diff && can(task, "spawn") && !task.has_worktree) return false;
    if (action == Action::diff || action == Action::copy || action == Action::edit) return task.unreadable.empty();
    if (action == Action::shell) return task.has_worktree;
    for (const auto& each : k_offers) {
        if (each.action != action) continue;
        const auto names = split(each.any_of, ' ');
        return std::ranges::any_of(names, [&](const auto& name) { return can(task, name); });
    }
    return true;
}

bool is_refused_to_readers(Action action) {
    const bool looks = action == Action::diff || action == Action::copy;
    return action == Action::create || (action >= Action::enter && action <= Action::copy && !looks);
}

std::string key_for(const Row* task, std::string_view command) {
    const auto words = split(trim(command), ' ');
    if (words.size() < 3 || words[0] != "orange") return {};
    const auto name = std::string(words[1]) + " " + std::string(words[2]);
    if (words[2] == "update" && command.find(" --status ") == std::string_view::npos) return {};
    const bool is_its = task != nullptr && words.size() > 3 && !words[3].empty() &&
                        (words[3] == task->id || words[3] == task->short_id);
    const bool is_any = words[1] != "task" || words[2] == "create";
    const auto does = [&](const CommandKey& each) {
        if (each.words != name || !(is_its || is_any)) return false;
        const auto needs = split(each.needs, ' ');
        return *each.needs == '\0' || std::ranges::any_of(needs, [&](auto what) { return can(*task, what); });
    };
    const auto found = std::ranges::find_if(k_command_keys, does);
    return found == std::end(k_command_keys) ? std::string() : found->key;
}

/// While something else than the list has the keys.
std::optional<std::vector<Part>> other_keys(const State& state) {
    if (state.question) {
        std::vector<Part> keys{{"any other key", "no"}};
        const auto choices = state.question->options.size();
        if (state.question->readable)
            keys.insert(keys.begin(), choices > 0 ? Part{"1-" + std::to_string(choices), "choose"} : Part{"y", "yes"});
        return keys;
    }
    if (state.prompt && state.prompt->what == Prompt::For::search)
        return std::vector<Part>{{"Enter", "keep the search"}, {"Esc", "end it"}};
    if (state.prompt)
        return std::vector<Part>{{"Enter", "send"}, {"Ctrl-e", "editor"}, {"Esc", "leave and keep the text"}};
    if (state.form)
        return std::vector<Part>{{"Enter", "create"},
                                 {"Tab", "next field"},
                                 {"← →", "choose"},
                                 {"Ctrl-e", "editor"},
                                 {"Esc", "leave and keep the text"}};
    return std::nullopt;
}

std::string label_of(const Row* task, const Binding& binding) {
    if (task == nullptr) return binding.label;
    if (binding.action == Action::enter) {
        if (can(*task, "spawn")) return "start";
        if (!can(*task, "attach")) return "respawn";
        return "attach";
    }
    if (binding.action == Action::merge && can(*task, "force_merge")) return "force merge";
    if (binding.action == Action::pull_request) return !task->pr_url.empty() ? "open PR" : "create PR";
    if (binding.action == Action::stop) return can(*task, "stop") ? "stop" : "restart";
    if (binding.action == Action::respawn && !can(*task, "respawn")) return "";  // of a living agent: only in the help
    return binding.label;
}

std::vector<Line> footer(const State& state, const Row* task, std::size_t width, int rows) {
    if (const auto others = other_keys(state)) {
        std::vector<Line> lines(static_cast<std::size_t>(std::max(1, rows)));
        lines.back() = key_row(*others, {}, width);
        return lines;
    }
    std::vector<Part> urgent, of_task, later, fixed, last;
    const bool pane_covers = state.pane_open && layout_of(state).list.height == 0;
    if (pane_covers) fixed = {{"Esc", "list"}, {"j k", "scroll"}};
    const auto needed = task == nullptr ? std::string() : key_for(task, task->needs_command);
    for (const auto& binding : bindings()) {
        const auto label = label_of(task, binding);
        if (label.empty()) continue;
        const bool is_tasks = binding.action >= Action::enter && binding.action <= Action::copy;
        if (is_tasks && (task == nullptr || !is_offered(*task, binding.action))) continue;
        if (state.read_only && is_refused_to_readers(binding.action)) continue;
        const bool always = binding.action == Action::help || binding.action == Action::quit;
        // What the task needs comes first; what most people need never, last.
        const bool is_needed = shown_key(binding.key) == needed;
        const bool is_rare = binding.action == Action::merge && !can(*task, "merge");
        if (pane_covers && !always && !is_tasks && binding.action != Action::next_pane) continue;
        auto& group = always ? last : !is_tasks ? fixed : is_needed ? urgent : is_rare ? later : of_task;
        group.push_back({shown_key(binding.key), label});
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
    heading("Keys");
    for (const auto& binding : bindings()) {
        if (binding.action == Action::create) heading("The list and the panes");
        const auto room = static_cast<std::size_t>(std::max(20, state.width - 12));
        const auto rows = wrapped(binding.help, room);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            lines.push_back(Line("  ").add(padded(i == 0 ? shown_key(binding.key) : "", 10), k_bold).add(rows[i]));
        }
    }
    heading("Elsewhere");
    for (const char* text : {
             "In a question only y is yes; every other key is no.",
             "In a text, Ctrl-e opens $EDITOR, Ctrl-u deletes it; Esc keeps it for next time.",
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
