#include "client/dashboard/rows.hpp"

#include <algorithm>

#include "client/dashboard/core.hpp"
#include "client/dashboard/hosts.hpp"
#include "client/output/clashes.hpp"
#include "client/output/task_cells.hpp"
#include "common/base/text.hpp"

namespace orange::dashboard {
namespace {

constexpr const char* k_spinner[] = {"|", "/", "-", "\\"};
constexpr const char* k_tabs[] = {"1 screen", "2 diff", "3 TASK.md", "4 history", "5 why", "6 try", "6 compare"};
constexpr std::size_t k_title_room = 22;   ///< that the other columns leave to a task's name, or half of the row
constexpr std::size_t k_least_status = 9;  ///< "reviewing"
constexpr std::size_t k_most_project = 12;
constexpr std::size_t k_host_room = 16;

Line cell_of(const State& state, const ListColumn& column, const Row& task, Timestamp now) {
    const auto changes = state.changes.find(task.id);
    const auto cell = column.cell(task, changes == state.changes.end() ? nullptr : &changes->second, now);
    Line shown;
    for (const auto& span : cell.spans)
        shown.add((shown.spans.empty() ? column.sign : "") + clean(span.text), span.look);
    return shown;
}

/// Takes the columns' widths out of `room`. The status is cut if it does not fit; other columns are omitted, the least
/// important one first.
std::vector<std::size_t> widths_within(std::vector<std::size_t> widths, std::size_t& room) {
    const auto title_room = std::max(k_title_room, room / 2);
    const auto left = room > title_room + 1 ? room - title_room - 1 : 0;
    bool fits = widths.front() <= left || left >= k_least_status;
    widths.front() = std::min(widths.front(), left);
    for (auto& wide : widths) {
        fits = fits && (wide == 0 || room >= wide + 1 + title_room);
        if (!fits) wide = 0;
        if (wide > 0) room -= wide + 1;
    }
    return widths;
}

std::string padded_age(Timestamp time, Timestamp now) {
    const auto age = age_of(time, now);
    return std::string(age.size() < 5 ? 5 - age.size() : 0, ' ') + age;
}

/// Returns the columns of the marks before the age.
std::size_t room_for_marks(const Columns& columns) {
    const std::size_t marks = (columns.noted ? 1 : 0) + (columns.clashing ? 1 : 0);
    return marks > 0 ? 1 + marks : 0;
}

std::string marks_of(const Columns& columns, const Row& task) {
    std::string marks = " ";
    if (columns.noted) marks += task.noted ? "!" : " ";
    if (columns.clashing) marks += task.clashes.empty() ? " " : k_clash_mark;
    return marks;
}

}  // namespace

Columns columns_for(const State& state) {
    Columns found;
    found.widths.resize(list_columns().size());
    const std::string* project = nullptr;
    std::size_t longest = 0;
    bool several = false;
    for (const auto& item : state.items) {
        if (item.heading) continue;
        const auto& task = state.tasks[item.task];
        for (std::size_t i = 0; i < found.widths.size(); ++i) {
            const auto& column = list_columns()[i];
            const auto wide = cell_of(state, column, task, task.active_since).width();
            if (wide > 0)
                found.widths[i] = std::max(found.widths[i], column.fixed ? column.most : std::min(wide, column.most));
        }
        found.noted = found.noted || task.noted;
        found.clashing = found.clashing || !task.clashes.empty();
        found.host = std::max(found.host, std::min(columns(host_text(state, task)), k_host_room));
        if (project == nullptr) project = &task.project;
        longest = std::min(std::max(longest, columns(clean(task.project))), k_most_project);
        several = several || task.project != *project;
    }
    if (several) found.project = longest;
    return found;
}

Line task_row(const State& state, const Item& item, std::size_t width, Timestamp now) {
    const auto& task = state.tasks[item.task];
    const auto& id = task.id;
    const bool is_selected = id == state.selected;
    const bool is_marked = state.marked.contains(id);
    const auto busy = state.busy.find(id);
    const auto mark = mark_of(task);
    const auto need = need_of(task);
    const auto host_room = state.columns.host > 0 ? state.columns.host + 1 : 0;
    const auto note_room = room_for_marks(state.columns);
    const auto fixed = 2 + 2 + 7 + 5 + host_room + note_room;  // ">+", the mark, the need, the age, the host, the marks
    auto project = state.columns.project > 0 ? state.columns.project + 1 : 0;
    if (host_room > 0 && width < fixed + project + k_title_room) project = 0;  // a task's name is more important
    auto room = width > fixed + project ? width - fixed - project : 0;
    const auto widths = widths_within(state.columns.widths, room);
    Line line;
    line.add(is_selected ? ">" : " ", k_bold).add(is_marked ? "+" : " ", k_bold);
    line.add(mark.text, mark.look).add(" ");
    line.add(padded(need.text, 7), need.look);
    if (host_room > 0) line.add(padded(padded(host_text(state, task), state.columns.host), host_room), k_dim);
    const auto indent = std::string(2 * std::min<std::size_t>(item.depth, 4), ' ');
    if (project > 0) line.add(padded(clean(task.project), project - 1), k_dim).add(" ");
    line.add(padded(indent + title_of(task), room), is_selected ? k_bold : Look{});
    if (busy != state.busy.end()) {
        const auto rest = width > line.width() + 5 + note_room ? width - line.width() - 5 - note_room : 0;
        line.add(padded(std::string(" ") + k_spinner[state.spinner % 4] + " " + busy->second, rest), k_bold);
    } else {
        for (std::size_t i = 0; i < widths.size(); ++i) {
            if (widths[i] == 0) continue;
            line.add(" ").add(cell_of(state, list_columns()[i], task, now).fit(widths[i]));
        }
    }
    if (note_room > 0) line.add(marks_of(state.columns, task), k_yellow);
    line.add(padded_age(task.updated_at, now), k_dim);
    line.fit(width);
    if (!answers(state, task)) {
        for (auto& span : line.spans) span.look = k_dim;
    }
    return is_selected ? line.reversed() : line;
}

Lines ended_rows(std::span<const Row* const> tasks, std::size_t width, Timestamp now) {
    constexpr std::size_t k_indent = 4, k_age = 5, k_most = 40, k_least_title = 16;
    std::size_t widest = 0;
    for (const auto* task : tasks) widest = std::max(widest, columns(clean(task->needs_text)));
    auto room = width > k_indent + k_age + 1 ? width - k_indent - k_age - 1 : 0;
    const auto how = std::min({widest, k_most, room > k_least_title ? room - k_least_title : 0});
    room -= how;
    Lines lines;
    for (const auto* task : tasks) {
        const bool is_other =
            std::ranges::any_of(tasks, [&](const Row* each) { return each->project != task->project; });
        const auto title = (is_other ? clean(task->project) + "/" : "") + title_of(*task);
        Line line(std::string(k_indent, ' '));
        line.add(padded(title, room))
            .add(" " + padded(clean(task->needs_text), how), k_dim)
            .add(padded_age(task->needs_since, now), k_dim);
        lines.push_back(std::move(line.fit(width)));
    }
    return lines;
}

Line section_row(const Item& item, bool more, std::size_t width) {
    static constexpr const char* k_names[] = {"NEEDS YOU", "RUNNING", "WAITING", "ENDED"};
    Line line;
    line.add(k_names[static_cast<std::size_t>(item.section)], k_bold);
    line.add(" " + std::to_string(item.count) + (more ? "+" : ""), k_dim);
    return line.fit(width);
}

Line tab_row(const State& state, std::size_t width) {
    Line line;
    for (const auto pane : panes_of(state)) {
        const bool shown = state.pane == pane;
        const std::string name = k_tabs[static_cast<std::size_t>(pane)];
        line.add(shown ? "[" + name + "]" : " " + name + " ", !shown                 ? k_dim
                                                              : pane_has_keys(state) ? Look{-1, -1, true, false, true}
                                                                                     : k_bold);
    }
    return line.fit(width);
}

std::string_view name_of(Pane pane) {
    return std::string_view(k_tabs[static_cast<std::size_t>(pane)]).substr(2);
}

int tab_at(const State& state, int column) {
    int begin = 0;
    for (const auto pane : panes_of(state)) {
        const auto name = std::string_view(k_tabs[static_cast<std::size_t>(pane)]);
        const int end = begin + static_cast<int>(name.size()) + 2;
        if (column >= begin && column < end) return static_cast<int>(pane);
        begin = end;
    }
    return -1;
}

}  // namespace orange::dashboard
