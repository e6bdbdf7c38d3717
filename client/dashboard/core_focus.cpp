// The keys of a pane that has the focus.
#include <algorithm>

#include "client/dashboard/core.hpp"
#include "common/base/text.hpp"

namespace orange::dashboard {
namespace {

enum class Mark { file, hunk };

/// Returns true for a row where a file or a hunk of a diff begins, and where a section or a part of TASK.md does.
bool is_marked(Pane pane, const Line& line, Mark mark) {
    if (line.spans.empty()) return false;
    const auto& first = line.spans.front();
    const std::string_view text = first.text;
    if (pane == Pane::diff) {
        return mark == Mark::file ? first.look == k_bold && text.starts_with("diff ")
                                  : first.look == k_cyan && text.starts_with("@@");
    }
    const bool is_heading = pane == Pane::task && first.look.bold && text.starts_with("#");
    return is_heading && (mark == Mark::hunk || text.starts_with("## ") || text.starts_with("# "));
}

/// Returns true for keys that change tasks or marks: a person who reads did not mean them.
bool belongs_to_list(const Binding& binding) {
    const bool changes = (binding.is & (k_changes | k_on_marked)) != 0 && binding.action != Action::enter;
    return changes || binding.action == Action::mark || binding.action == Action::mark_all;
}

}  // namespace

std::span<const PaneKey> pane_keys() {
    static constexpr PaneKey k_keys[] = {
        {"←", "list", "Gives the keys back to the list; so do Esc and q"},
        {"j k", "line", "One line down or up; g and G are the ends, J and K, Ctrl-d and Ctrl-u half a page"},
        {"[ ]", "file", "The file before or after in the diff; in TASK.md the section"},
        {"{ }", "hunk", "The part before or after of a file in the diff; in TASK.md any heading"},
        {"/", "find", "Find a text in the pane"},
        {"n N", "next", "The next place of that text, or the one before"},
        {"z", "wrap", "Wrap long lines, or cut them"},
    };
    return k_keys;
}

bool pane_has_keys(const State& state) {
    const bool covered = state.overlay != Overlay::none || state.form || state.question || state.about;
    return state.pane_focused && !covered && layout_of(state).pane.height > 0;
}

PaneView view_of(const State& state) {
    PaneView view;
    const auto found = state.panes.find(state.pane);
    if (found == state.panes.end()) return view;
    view.rows = static_cast<std::size_t>(std::max(0, layout_of(state).pane.height - 1));
    view.all = found->second.lines.size();
    const auto most = view.all > view.rows ? view.all - view.rows : 0;
    const auto scroll = std::min(found->second.scroll, most);
    view.top = is_from_end(state.pane) ? most - scroll : scroll;
    return view;
}

void Core::show_row(std::size_t row) {
    const auto view = view_of(state_);
    const auto most = view.all > view.rows ? view.all - view.rows : 0;
    const auto top = std::min(row, most);
    state_.panes[state_.pane].scroll = is_from_end(state_.pane) ? most - top : top;
}

void Core::go_to_mark(bool of_files, bool down, Moment now) {
    auto& text = state_.panes[state_.pane];
    const auto mark = of_files ? Mark::file : Mark::hunk;
    const auto view = view_of(state_);
    // A row near the end cannot be the first one of the pane: it is the one that was gone to last.
    const bool is_on_screen = text.found && *text.found >= view.top && *text.found < view.top + view.rows;
    for (auto row = is_on_screen ? *text.found : view.top;;) {
        if (down ? ++row >= text.lines.size() : row-- == 0) break;
        if (!is_marked(state_.pane, text.lines[row], mark)) continue;
        text.found = row;
        return show_row(row);
    }
    if (!down && view.top > 0) return show_row(0);
    say(down ? "There is none after this" : "There is none before this", false, now);
}

/// Goes to the next row with the text that is looked for, from `from` on, and around the end once.
void Core::find_in_pane(std::size_t from, bool down, Moment now) {
    prepare();
    auto& text = state_.panes[state_.pane];
    const auto count = text.lines.size();
    if (state_.pane_find.empty()) return say("Nothing is looked for; / finds a text in the pane", false, now);
    for (std::size_t step = 0; step < count; ++step) {
        const auto row = down ? (from + step) % count : (from + count - step) % count;
        if (!found_in(text.lines[row].text(), state_.pane_find)) continue;
        text.found = row;
        const auto view = view_of(state_);
        if (row < view.top || row >= view.top + view.rows) show_row(row > view.rows / 3 ? row - view.rows / 3 : 0);
        return;
    }
    text.found.reset();
    say("\"" + clean(state_.pane_find) + "\" is not in this pane", false, now);
}

bool Core::pane_key(const Key& key, Moment now) {
    if (!pane_has_keys(state_)) return false;
    prepare();
    const auto view = view_of(state_);
    if (key == "Left" || key == "Esc" || key == "q") {
        state_.pane_focused = false;
    } else if (key == "j" || key == "Down") {
        show_row(view.top + 1);
    } else if (key == "k" || key == "Up") {
        show_row(view.top > 0 ? view.top - 1 : 0);
    } else if (key == "g" || key == "Home") {
        show_row(0);
    } else if (key == "G" || key == "End") {
        show_row(view.all);
    } else if (key == "C-d" || key == " " || key == "C-u") {
        scroll_pane(key == "C-u" ? -half_a_page() : half_a_page());
    } else if (key == "[" || key == "]" || key == "{" || key == "}") {
        go_to_mark(key == "[" || key == "]", key == "]" || key == "}", now);
    } else if (key == "/") {
        open_prompt(Prompt::For::find, nullptr, now);
    } else if (key == "n" || key == "N") {
        const auto& found = state_.panes[state_.pane].found;
        const auto at = found ? *found : view.top;
        const auto last = std::max<std::size_t>(view.all, 1) - 1;
        find_in_pane(key == "n" ? at + 1 : (at > 0 ? at - 1 : last), key == "n", now);
    } else if (key == "z") {
        state_.pane_wraps = !state_.pane_wraps;
        prepare();
    } else if (const auto* binding = binding_of(key); binding != nullptr && belongs_to_list(*binding)) {
        say("The keys are the pane's; ← gives them back to the list", false, now);
    } else {
        return false;
    }
    return true;
}

}  // namespace orange::dashboard
