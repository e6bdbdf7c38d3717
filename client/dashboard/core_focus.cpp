// The keys of a pane that has the focus.
#include <algorithm>

#include "client/dashboard/core.hpp"
#include "common/base/text.hpp"

namespace orange::dashboard {
namespace {

enum class Mark { file, hunk };
constexpr long k_all_places = 1'000'000'000;

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

/// Returns true for keys that change tasks or marks: a person who reads did not mean them. Enter and the text of a
/// rejection, which sends the comments, are meant.
bool belongs_to_list(const Binding& binding) {
    const bool is_meant = binding.action == Action::enter || binding.action == Action::reject;
    const bool changes = (binding.is & (k_changes | k_on_marked)) != 0 && !is_meant;
    return changes || binding.action == Action::mark || binding.action == Action::mark_all;
}

}  // namespace

std::span<const PaneKey> pane_keys() {
    static constexpr PaneKey k_keys[] = {
        {"←", "list", "Gives the keys back to the list; so do Esc and q"},
        {"j k", "line", "One line down or up; g and G are the ends, J and K, Ctrl-d and Ctrl-u half a page"},
        {"[ ]", "file", "The file before or after in the diff; in TASK.md the section"},
        {"{ }", "hunk", "The part before or after of a file in the diff; in TASK.md any heading"},
        {"( )", "comment", "The comment before or after, in the diff and in TASK.md"},
        {"/", "find", "Find a text in the pane"},
        {"n N", "next", "The next place of that text, or the one before"},
        {"z", "wrap", "Wrap long lines, or cut them"},
        {"C", "full", "The whole screen for the pane; again, or Esc: as before"},
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

/// Marks a row as found, and puts the cursor there.
void Core::go_to_row(std::size_t row) {
    auto& text = state_.panes[state_.pane];
    text.found = row;
    if (has_cursor(state_)) text.cursor = text.places.of_row[row];
}

std::size_t Core::row_to_find_from() const {
    const auto found = state_.panes.find(state_.pane);
    if (found != state_.panes.end() && found->second.found) return *found->second.found;
    return has_cursor(state_) ? rows_of(found->second, found->second.cursor).first : view_of(state_).top;
}

void Core::go_to_mark(bool of_files, bool down, Moment now) {
    auto& text = state_.panes[state_.pane];
    const auto mark = of_files ? Mark::file : Mark::hunk;
    const auto view = view_of(state_);
    // A row near the end cannot be the first one of the pane: it is the one that was gone to last.
    const bool is_on_screen = text.found && *text.found >= view.top && *text.found < view.top + view.rows;
    for (auto row = is_on_screen || has_cursor(state_) ? row_to_find_from() : view.top;;) {
        if (down ? ++row >= text.lines.size() : row-- == 0) break;
        if (!is_marked(state_.pane, text.lines[row], mark)) continue;
        go_to_row(row);
        return show_row(row);
    }
    if (!down && has_cursor(state_) && text.cursor > 0) return move_cursor(-k_all_places);
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
        go_to_row(row);
        const auto view = view_of(state_);
        if (row < view.top || row >= view.top + view.rows) show_row(row > view.rows / 3 ? row - view.rows / 3 : 0);
        return;
    }
    text.found.reset();
    say("\"" + clean(state_.pane_find) + "\" is not in this pane", false, now);
}

/// Handles the keys that move the cursor, or scroll a pane without one.
bool Core::pane_moves(const Key& key) {
    const bool is_down = key == "C-d" || key == " " || key == "J" || key == "PageDown";
    const bool is_up = key == "C-u" || key == "K" || key == "PageUp";
    const long steps = key == "j" || key == "Down"   ? 1
                       : key == "k" || key == "Up"   ? -1
                       : key == "g" || key == "Home" ? -k_all_places
                       : key == "G" || key == "End"  ? k_all_places
                                                     : 0;
    if (!is_down && !is_up && steps == 0) return false;
    const auto page = is_up ? -half_a_page() : half_a_page();
    if (has_cursor(state_) && (steps != 0 || state_.pane != Pane::compare)) {
        if (steps != 0) move_cursor(steps);
        if (steps == 0) page_cursor(page);
    } else if (steps == 0) {
        scroll_pane(page);
    } else {
        show_row(static_cast<std::size_t>(std::max(0L, static_cast<long>(view_of(state_).top) + steps)));
    }
    return true;
}

bool Core::pane_key(const Key& key, Moment now, Effects& effects) {
    if (!pane_has_keys(state_)) return false;
    prepare();
    auto& text = state_.panes[state_.pane];
    if (pane_moves(key) || comment_key(key, now, effects) || compare_key(key, now, effects)) return true;
    if (key == "Esc" && text.range) {
        text.range.reset();
    } else if (state_.whole && (key == "Left" || key == "Esc" || key == "q" || key == "C-c")) {
        end_whole();
    } else if (key == "Left" || key == "Esc" || key == "q") {
        state_.pane_focused = false;
    } else if (key == "[" || key == "]" || key == "{" || key == "}") {
        go_to_mark(key == "[" || key == "]", key == "]" || key == "}", now);
    } else if ((key == "(" || key == ")") && has_cursor(state_)) {
        go_to_note(key == ")", now);
    } else if (key == "/") {
        open_prompt(Prompt::For::find, nullptr, now);
    } else if (key == "n" || key == "N") {
        const auto at = row_to_find_from();
        const auto last = std::max<std::size_t>(text.lines.size(), 1) - 1;
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
