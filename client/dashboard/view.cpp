#include "client/dashboard/view.hpp"

#include <algorithm>

#include "client/dashboard/core.hpp"
#include "client/dashboard/hosts.hpp"
#include "client/dashboard/rows.hpp"
#include "client/output/task_cells.hpp"
#include "client/output/terminal.hpp"
#include "client/output/usage.hpp"
#include "common/base/text.hpp"

namespace orange::dashboard {
namespace {

/// The rows of a screen, into which parts are put.
class Canvas {
  public:
    Canvas(int width, int height)
        : width_(static_cast<std::size_t>(std::max(1, width))),
          frame_rows(static_cast<std::size_t>(std::max(1, height))) {}

    /// Puts `line` at a column, cut to `room`. A row must be filled from left to right.
    void put(int row, int column, int room, Line line) {
        if (row < 0 || row >= static_cast<int>(frame_rows.size()) || room <= 0) return;
        auto& target = frame_rows[static_cast<std::size_t>(row)];
        target.fit(static_cast<std::size_t>(column));
        line.fit(static_cast<std::size_t>(room));
        target.add(std::move(line));
    }
    std::vector<Line> finish() {
        for (auto& row : frame_rows) row.fit(width_);
        return std::move(frame_rows);
    }

  private:
    std::size_t width_;
    std::vector<Line> frame_rows;
};

/// Returns a look that says how much of a limit is used.
Look share_look(double share) {
    constexpr double k_much = 0.8;
    return share >= 1 ? k_red : share >= k_much ? k_yellow : k_dim;
}

/// Adds what is used of windows and of the day's budget, as far as there is room.
void add_usage(Line& line, const State& state, Timestamp now) {
    const auto add = [&](const std::string& text, Look look) {
        if (line.width() + 2 + columns(text) <= static_cast<std::size_t>(state.width)) line.add("  ").add(text, look);
    };
    for (const auto& window : state.windows) {
        if (!output::is_current(window, now)) continue;
        add(clean(output::window_text(window, now)), share_look(static_cast<double>(window.window.percent) / 100));
    }
    const rpc::UsageShow::Day* fullest = nullptr;
    const auto share_of = [](const auto& day) {
        return static_cast<double>(day.used) / static_cast<double>(day.budget);
    };
    for (const auto& day : state.budget_days) {
        const bool is_shown = state.shown_project.empty() || day.project == state.shown_project;
        if (day.budget <= 0 || !is_shown) continue;
        if (fullest == nullptr || share_of(day) > share_of(*fullest)) fullest = &day;
    }
    if (fullest == nullptr) return;
    const auto whose = state.shown_project.empty() ? clean(fullest->project) + " " : std::string();
    add(whose + "today " + tokens_text(fullest->used) + " of " + tokens_text(fullest->budget),
        share_look(share_of(*fullest)));
}

Line header_line(const State& state, Timestamp now) {
    Line line(" ");
    line.add("Orange", k_bold).add("  " + (state.shown_project.empty() ? "all projects" : clean(state.shown_project)));
    const auto add = [&](std::size_t n, Need need) {
        if (n > 0) line.add("  ").add(std::to_string(n) + " " + name_text(need), look_of(need));
    };
    add(state.needs_help, Need::help);
    add(state.needs_answer, Need::answer);
    add(state.needs_review, Need::review);
    add(state.needs_start, Need::start);
    if (state.listed) line.add("  " + counted(state.active, "active task"), k_dim);
    if (state.filter == Filter::needs) line.add("  [needs you]", k_bold);
    if (state.filter == Filter::all) line.add("  [all]", k_bold);
    if (state.filter == Filter::ended) line.add("  [ended]", k_bold);
    if (!state.search.empty()) {
        const auto shown = static_cast<std::size_t>(std::ranges::count(state.items, false, &Item::heading));
        line.add("  /" + clean(state.search), k_bold)
            .add(" " + std::to_string(shown) + " of " + std::to_string(state.tasks.size()), k_dim);
    }
    if (!state.marked.empty()) line.add("  " + std::to_string(state.marked.size()) + " selected", k_bold);
    if (state.read_only) line.add("  read-only", k_bold);
    if (const auto missing = missing_hosts(state); !missing.empty()) line.add("  " + missing, k_bold);
    add_usage(line, state, now);
    return line;
}

std::string clock_text(Timestamp since, Timestamp now) {
    const auto age = age_of(since, now);
    return age.empty() || age == "now" ? "" : " for " + age;
}

Line banner_line(const State& state, Timestamp now) {
    if (state.link.state == Link::State::up && state.link.silent) {
        return Line(" The daemon does not answer; what is shown may be old", Look{1, -1, true});
    }
    if (state.link.state == Link::State::up) return {};
    if (state.link.state == Link::State::starting) return Line(" Connecting to the daemon …", k_bold);
    Line line(" ");
    line.add("The daemon does not run" + clock_text(state.link.since, now), Look{1, -1, true})
        .add("; Ctrl-r starts it");
    return line;
}

void draw_list(Canvas& canvas, Frame& frame, const State& state, const Box& box, Timestamp now) {
    const auto width = static_cast<std::size_t>(box.width);
    int row = 0;
    for (; row < box.height; ++row) {
        const auto at = state.top + static_cast<std::size_t>(row);
        if (at >= state.items.size()) break;
        const auto& item = state.items[at];
        if (item.heading) {
            const bool folded = item.section == Section::ended && state.filter == Filter::active;
            auto line = section_row(item, item.section == Section::ended && state.more_ended, width);
            if (folded) line = Line("ENDED", k_bold).add(" " + std::to_string(item.count) + "  f shows them", k_dim);
            canvas.put(box.row + row, 0, box.width, std::move(line));
        } else {
            canvas.put(box.row + row, 0, box.width, task_row(state, item, width, now));
            ++frame.tasks_drawn;
        }
    }
    const auto room = static_cast<std::size_t>(box.height - row);
    for (auto& line : lines_below(state, width, room, now)) canvas.put(box.row + row++, 0, box.width, std::move(line));
}

void draw_pane(Canvas& canvas, const State& state, const Layout& layout, const Row* task) {
    const auto& box = layout.pane;
    if (box.height == 0) return;
    const bool beside = box.column > 0;
    auto tabs = tab_row(state, static_cast<std::size_t>(box.width));
    const auto found = state.panes.find(state.pane);
    if (!beside && layout.list.height == 0 && task != nullptr) {
        constexpr std::size_t k_room = 50, k_usual = 5;
        const auto panes = panes_of(state);
        const auto room_of_last = panes.size() > k_usual ? name_of(panes.back()).size() + 4 : 0;
        tabs = tab_row(state, k_room + room_of_last).add(" " + title_of(*task), k_bold);
    }
    canvas.put(box.row, box.column, box.width, std::move(tabs));
    if (found == state.panes.end() || task == nullptr) return;
    const auto& text = found->second;
    if (text.task != task->id) {
        const bool is_away = task->host == 0 ? state.link.state != Link::State::up : !answers(state, *task);
        const std::string who = task->host == 0 ? "the daemon is away" : "its host does not answer";
        if (is_away) canvas.put(box.row + 1, box.column, box.width, Line(" It cannot be read while " + who, k_dim));
        return;
    }
    const auto [top, rows, all] = view_of(state);
    const auto [low, high] = chosen_places(text);
    const bool has_rows = state.pane_focused && text.places.of_row.size() == text.lines.size();
    const bool is_back = is_from_end(state.pane) && top + rows < all && !pane_has_keys(state);
    for (std::size_t i = 0; i < rows && top + i < text.lines.size(); ++i) {
        auto line = text.lines[top + i];
        const bool is_chosen = has_rows && text.places.of_row[top + i] >= low && text.places.of_row[top + i] <= high;
        if (is_chosen || text.found == top + i) line = line.fit(static_cast<std::size_t>(box.width)).reversed();
        canvas.put(box.row + 1 + static_cast<int>(i), box.column, box.width, std::move(line));
    }
    if (is_back) {
        canvas.put(box.row + box.height - 1, box.column, box.width,
                   Line(" scrolled back; Esc and J show the end ", Look{-1, -1, true, false, true}));
    }
}

/// Draws the beginning of the second pane.
void draw_below(Canvas& canvas, const State& state, const Box& box, const Row* task) {
    const auto pane = second_pane(state);
    const auto found = state.panes.find(pane);
    if (box.height == 0 || task == nullptr || found == state.panes.end() || found->second.task != task->id) return;
    const auto& lines = found->second.lines;
    const auto rows = static_cast<std::size_t>(box.height - 1);
    canvas.put(box.row, 0, box.width, Line(std::string(name_of(pane)), k_bold).add("  " + title_of(*task), k_dim));
    for (std::size_t i = 0; i < rows && i < lines.size(); ++i)
        canvas.put(box.row + 1 + static_cast<int>(i), 0, box.width, lines[i]);
}

/// Draws facts about the selected task, if there is no message.
void draw_facts(Canvas& canvas, const State& state, int row, int rows, const Row* task, Timestamp now) {
    if (task == nullptr) return;
    if (rows >= 2) {
        Line name(" ");
        name.add(clean(task->short_id.empty() ? task->id : task->short_id), k_bold).add("  " + title_of(*task));
        const auto branch = clean(task->branch);
        const auto room = static_cast<std::size_t>(state.width);
        if (branch != title_of(*task) && name.width() + 2 + columns(branch) < room) name.add("  " + branch, k_dim);
        canvas.put(row++, 0, state.width, std::move(name));
    }
    auto lines = need_lines(state, *task);
    const auto age = lines.empty() ? std::string() : age_of(task->needs_since, now);
    if (!age.empty() && age != "now" && task->needs != Need::nothing && host_refusal(state, *task).empty())
        lines.back().add(" (" + age + ")", k_dim);
    for (auto& line : clash_lines(state, *task)) lines.push_back(std::move(line));
    lines.resize(std::min(lines.size(), static_cast<std::size_t>(std::max(1, rows - 1))));
    for (auto& line : lines) canvas.put(row++, 0, state.width, std::move(line));
}

/// Draws the text about a question or a prompt, from the row to which it is scrolled.
void draw_about(Canvas& canvas, const About& about, const Box& box) {
    for (int i = 0; i < box.height; ++i) {
        const auto at = about.scroll + static_cast<std::size_t>(i);
        if (at >= about.lines.size()) break;
        canvas.put(box.row + i, box.column, box.width, about.lines[at]);
    }
}

void draw_border(Canvas& canvas, const Box& pane) {
    if (pane.column == 0) return;
    for (int row = pane.row; row < pane.row + pane.height; ++row) canvas.put(row, pane.column - 1, 1, Line("│", k_dim));
}

void draw_prompt(Canvas& canvas, Frame& frame, const State& state, int row) {
    const auto& prompt = *state.prompt;
    canvas.put(row, 0, state.width, Line(" ").add(prompt.label, k_bold));
    const auto before = columns(clean(prompt.text.substr(0, prompt.cursor)));
    const auto room = static_cast<std::size_t>(std::max(10, state.width - 4));
    auto shown = clean(prompt.text);
    std::size_t hidden = 0;
    while (before - hidden > room - 1) {  // keep the end visible, where the person types
        std::size_t at = 0;
        hidden += static_cast<std::size_t>(std::max(0, width_of(next_point(shown, at))));
        shown.erase(0, at);
    }
    canvas.put(row + 1, 0, state.width, Line(" > ", k_bold).add(shown));
    frame.cursor = {row + 1, 3 + static_cast<int>(before - hidden)};
}

/// Returns true for a field that has no meaning because several agents try the task.
bool is_idle(const Form& form, const FormField& field) {
    const bool has_attempts = std::ranges::any_of(
        form.fields, [](const FormField& each) { return each.name == "attempts" && !trim(each.value).empty(); });
    return has_attempts && (field.name == "harness" || field.name == "effort" || field.name == "model");
}

void draw_form(Canvas& canvas, Frame& frame, const State& state, const Box& box) {
    const auto& form = *state.form;
    canvas.put(box.row, 0, state.width, Line(" Create a task", k_bold));
    const auto rows = static_cast<std::size_t>(std::max(1, box.height - 2));
    const auto first = form.at >= rows ? form.at - rows + 1 : 0;
    for (std::size_t i = first; i < form.fields.size(); ++i) {
        const auto& field = form.fields[i];
        const bool here = i == form.at;
        const int row = box.row + 2 + static_cast<int>(i - first);
        if (row >= box.row + box.height) break;
        Line line(here ? " > " : "   ", k_bold);
        line.add(padded(field.name, 13), here ? k_bold : k_dim);
        const auto lines = split_lines(field.value);
        const auto value =
            lines.size() > 1 ? clean(lines.front()) + "  (" + counted(lines.size(), "line") + ")" : clean(field.value);
        if (here && !field.choices.empty()) line.add("< ", k_bold);
        if (is_idle(form, field)) {
            line.add("as the attempts say", k_dim);
        } else {
            line.add(value.empty() ? field.empty : value, value.empty() ? k_dim : Look{});
        }
        if (here && !field.choices.empty()) line.add(" >", k_bold);
        canvas.put(row, 0, state.width, std::move(line));
        if (here && field.choices.empty())
            frame.cursor = {row, std::min(state.width - 1, 16 + static_cast<int>(columns(clean(field.value.substr(
                                                                    0, std::min(field.cursor, field.value.size()))))))};
    }
}

std::vector<Line> workspace_lines(const State& state) {
    std::vector<Line> lines{Line("Workspaces", k_bold), Line()};
    for (const auto& each : state.workspaces) {
        Line line("  ");
        line.add(padded(clean(each.name), 24))
            .add(" " + padded(each.state, 8), each.state == "broken"  ? k_red
                                              : each.state == "taken" ? k_green
                                                                      : k_dim);
        line.add(" " + clean(each.short_id.value_or("")), k_bold).add("  " + clean(each.branch.value_or("")));
        if (each.problem) line.add("  " + clean(first_line(*each.problem)), k_red);
        lines.push_back(std::move(line));
    }
    if (state.workspaces.empty()) lines.push_back(Line("  none yet: the first task of a project makes one", k_dim));
    return lines;
}

void draw_overlay(Canvas& canvas, const State& state, int rows) {
    auto lines = state.overlay == Overlay::help ? help_lines(state) : workspace_lines(state);
    const auto room = static_cast<std::size_t>(std::max(1, rows));
    const auto most = lines.size() > room ? lines.size() - room : 0;
    const auto top = std::min(state.overlay_scroll, most);
    for (std::size_t i = 0; i < room && top + i < lines.size(); ++i)
        canvas.put(1 + static_cast<int>(i), 0, state.width, std::move(lines[top + i]));
    canvas.put(state.height - 1, 0, state.width,
               Line(" j k scroll   Esc back" + std::string(most > top ? "   (more below)" : ""), k_dim));
}

void draw_permit(Canvas& canvas, const State& state, const Box& box) {
    const auto& page = *state.permit;
    canvas.put(box.row, box.column, box.width, permit_title(state));
    for (int i = 1; i < box.height; ++i) {
        const auto at = page.scroll + static_cast<std::size_t>(i - 1);
        if (at < page.lines.size()) canvas.put(box.row + i, box.column, box.width, page.lines[at]);
    }
}

/// Draws whether y counts.
void draw_permit_fact(Canvas& canvas, const State& state, int row, int rows) {
    const auto why = permit_refusal(*state.permit);
    const auto room = static_cast<std::size_t>(std::max(10, state.width - 2));
    auto lines = wrapped(why.empty() ? "Allow this once?" : why, room);
    lines.resize(std::min(lines.size(), static_cast<std::size_t>(std::max(1, rows))));
    for (auto& line : lines) canvas.put(row++, 0, state.width, Line(" ").add(std::move(line), k_bold));
}

void draw_numbers(Canvas& canvas, const State& state) {
    canvas.put(0, 0, state.width,
               Line(std::to_string(state.needs_help) + " help " + std::to_string(state.needs_answer) + " answer " +
                    std::to_string(state.needs_review) + " review"));
    canvas.put(1, 0, state.width,
               Line("needs 40x8, has " + std::to_string(state.width) + "x" + std::to_string(state.height)));
}

}  // namespace

Frame draw(const State& state, Timestamp now) {
    Frame frame;
    frame.title = output::needs_title(needing_count(state));
    frame.rings = state.rings;
    Canvas canvas(state.width, state.height);
    const auto layout = layout_of(state);
    const auto* task = selected_in(state);
    if (layout.tiny) {
        draw_numbers(canvas, state);
        frame.rows = canvas.finish();
        return frame;
    }
    if (!layout.whole) canvas.put(0, 0, state.width, header_line(state, now));
    if (state.overlay != Overlay::none) {
        draw_overlay(canvas, state, state.height - 2);
        frame.rows = canvas.finish();
        return frame;
    }
    const int below = state.height - layout.footer_rows - layout.message_rows;
    if (state.form) {
        draw_form(canvas, frame, state, {1, 0, state.width, below - 1});
    } else if (shows_permit(state)) {
        draw_permit(canvas, state, layout.list);
    } else {
        const bool has_about = state.about && !state.about->lines.empty();
        const bool covers = has_about && layout.pane.height == 0;
        if (layout.list.height > 0 && !covers) draw_list(canvas, frame, state, layout.list, now);
        if (!covers) draw_below(canvas, state, layout.below, task);
        draw_border(canvas, layout.pane);
        if (has_about) draw_about(canvas, *state.about, about_box(layout));
        if (!has_about) draw_pane(canvas, state, layout, task);
    }
    auto messages = message_lines(state);
    auto banner = banner_line(state, now);
    int row = below;
    if (state.prompt) {
        if (static_cast<int>(messages.size()) + 2 > layout.message_rows) messages.clear();
        for (auto& line : messages) canvas.put(row++, 0, state.width, std::move(line));
        draw_prompt(canvas, frame, state, below + layout.message_rows - 2);
    } else if (!messages.empty()) {
        for (auto& line : messages) canvas.put(row++, 0, state.width, std::move(line));
    } else if (!banner.spans.empty()) {
        canvas.put(row, 0, state.width, std::move(banner));
    } else if (shows_permit(state)) {
        draw_permit_fact(canvas, state, row, layout.message_rows);
    } else if (!state.form) {
        draw_facts(canvas, state, row, layout.message_rows, task, now);
    }
    auto keys = footer(state, task, static_cast<std::size_t>(state.width), layout.footer_rows);
    for (int i = 0; i < layout.footer_rows; ++i)
        canvas.put(state.height - layout.footer_rows + i, 0, state.width, std::move(keys[static_cast<std::size_t>(i)]));
    frame.rows = canvas.finish();
    return frame;
}

}  // namespace orange::dashboard
