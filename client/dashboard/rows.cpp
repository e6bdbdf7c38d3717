#include "client/dashboard/rows.hpp"

#include <algorithm>

#include "client/dashboard/core.hpp"
#include "common/base/text.hpp"

namespace orange::dashboard {
namespace {

constexpr const char* k_spinner[] = {"|", "/", "-", "\\"};
constexpr const char* k_tabs[] = {"1 screen", "2 diff", "3 TASK.md", "4 history", "5 why"};
constexpr std::size_t k_activity_room = 8;
constexpr std::size_t k_title_room = 22;  ///< what the other columns leave to a task's name

struct RowMark {
    const char* text;
    Look look;
};

RowMark mark_of(const Row& task) {
    if (is_dead(task)) return {"✗", k_red};
    if (is_alive(task)) return {"●", k_green};
    if (task.worker == Row::Agents::unknown || task.reviewer == Row::Agents::unknown) return {"?", k_magenta};
    return {"○", k_dim};
}

std::string row_status(const Row& task) {
    if (!task.unreadable.empty()) return "unreadable";
    auto text = clean(task.status);
    if (task.children > 0) text += " " + std::to_string(task.children_done) + "/" + std::to_string(task.children);
    if (!task.after.empty()) text += " after " + clean(task.after);
    if (task.queue_place > 0) text += " #" + std::to_string(task.queue_place);
    if (task.review_round > 0) text += " r" + std::to_string(task.review_round);
    if (task.in_progress) text += "…";
    return text;
}

Span pull_span(const Row& task) {
    if (!task.pull) return {task.pr_url.empty() ? "" : "PR", {}};
    const auto& pull = *task.pull;
    const auto number = "#" + std::to_string(pull.number) + " ";
    if (pull.state != PullState::open) return {number + std::string(name_of(pull.state)), k_dim};
    if (pull.checks == PullChecks::failing || pull.conflicts || pull.review == PullReview::changes_requested)
        return {number + "✗", k_red};
    if (pull.checks == PullChecks::pending) return {number + "…", {}};
    const bool good = pull.checks == PullChecks::passing || pull.review == PullReview::approved;
    return {number + (good ? "✓" : "open"), good ? k_green : Look{}};
}

std::string changes_text(const State& state, const Row& task) {
    const auto found = state.changes.find(task.id);
    if (found == state.changes.end() || (found->second.commits == 0 && found->second.files == 0)) return {};
    const auto& counts = found->second;
    return std::to_string(counts.commits) + "c +" + std::to_string(counts.added) + " -" +
           std::to_string(counts.removed);
}

std::string row_age(Timestamp time, Timestamp now);

/// What the active agent does: "busy", "idle 4m", "asks".
std::string activity_text(const Row& task, Timestamp now) {
    if (!is_alive(task)) return is_dead(task) ? "ended" : "";
    switch (task.activity) {
        case Activity::busy:
            return "busy";
        case Activity::idle: {
            const auto age = row_age(task.active_since, now);
            return age.empty() || age == "now" ? "idle" : "idle " + age;
        }
        case Activity::waiting:
            return "asks";
        case Activity::limited:
            return "limit";
        case Activity::unknown:
            break;
    }
    return task.reviewer == Row::Agents::alive ? "reviewer" : "worker";
}

/// Minutes are enough: a row must not change every second.
std::string row_age(Timestamp time, Timestamp now) {
    if (time == Timestamp{}) return {};
    if (now - time < std::chrono::minutes(1)) return "now";
    return age_text(time, now);
}

}  // namespace

Look look_of(Need need) {
    switch (need) {
        case Need::help:
            return Look{1, -1, true};
        case Need::answer:
            return Look{5, -1, true};
        case Need::review:
            return Look{6, -1, true};
        case Need::start:
        case Need::nothing:
            break;
    }
    return k_dim;
}

std::string need_word(const Row& task) {
    return task.needs == Need::nothing ? "" : std::string(name_of(task.needs));
}

Columns columns_for(const State& state) {
    Columns found;
    const std::string* project = nullptr;
    for (const auto& item : state.items) {
        if (item.heading) continue;
        const auto& task = state.tasks[item.task];
        found.status = std::max(found.status, columns(row_status(task)));
        found.pull = std::max(found.pull, columns(pull_span(task).text));
        found.changes = std::max(found.changes, columns(changes_text(state, task)));
        if (!activity_text(task, {}).empty()) found.activity = k_activity_room;
        if (project == nullptr) project = &task.project;
        if (task.project != *project) found.projects = true;
    }
    found.status = std::min<std::size_t>(found.status, 18);
    found.changes = std::min<std::size_t>(found.changes, 16);
    return found;
}

Line task_row(const State& state, const Item& item, std::size_t width, Timestamp now) {
    const auto& task = state.tasks[item.task];
    const auto& id = task.id;
    const bool is_selected = id == state.selected;
    const bool is_marked = state.marked.contains(id);
    const auto busy = state.busy.find(id);
    const auto mark = mark_of(task);
    constexpr std::size_t k_fixed = 2 + 2 + 7 + 5;  // ">+", the mark, what it needs, the age
    // The least important columns go first where there is no room.
    auto room = width > k_fixed ? width - k_fixed : 0;
    const auto take = [&](std::size_t wide) {
        if (wide == 0 || room < wide + 1 + k_title_room) return false;
        room -= wide + 1;
        return true;
    };
    const bool with_status = take(state.columns.status), with_pull = take(state.columns.pull);
    const bool with_changes = take(state.columns.changes), with_activity = take(state.columns.activity);
    Line line;
    line.add(is_selected ? ">" : " ", k_bold).add(is_marked ? "+" : " ", k_bold);
    line.add(mark.text, mark.look).add(" ");
    line.add(padded(need_word(task), 7), look_of(task.needs));
    const auto indent = std::string(2 * std::min<std::size_t>(item.depth, 4), ' ');
    auto title = indent + (state.columns.projects ? clean(task.project) + "/" : "") + title_of(task);
    const auto summary = clean(task.summary);
    const bool with_summary = !summary.empty() && summary != title_of(task) && room > columns(title) + 12;
    line.add(with_summary ? title : padded(title, room), is_selected ? k_bold : Look{});
    if (with_summary) line.add(padded("  " + summary, room - columns(title)), k_dim);
    if (busy != state.busy.end()) {
        const auto rest = width > line.width() + 6 ? width - line.width() - 6 : 0;
        line.add(padded(std::string(" ") + k_spinner[state.spinner % 4] + " " + busy->second, rest), k_bold);
    } else {
        const auto pull = pull_span(task);
        if (with_status) line.add(" " + padded(row_status(task), state.columns.status));
        if (with_pull) line.add(" ").add(padded(pull.text, state.columns.pull), pull.look);
        if (with_changes) line.add(" " + padded(changes_text(state, task), state.columns.changes), k_dim);
        if (with_activity) line.add(" " + padded(activity_text(task, now), state.columns.activity), k_dim);
    }
    const auto age = row_age(task.updated_at, now);
    line.add(std::string(age.size() < 5 ? 5 - age.size() : 0, ' ') + age, k_dim);
    line.fit(width);
    return is_selected ? line.reversed() : line;
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
    for (int i = 0; i < k_panes; ++i) {
        const bool shown = static_cast<int>(state.pane) == i;
        line.add(shown ? std::string("[") + k_tabs[i] + "]" : std::string(" ") + k_tabs[i] + " ",
                 shown ? k_bold : k_dim);
    }
    return line.fit(width);
}

int tab_at(int column) {
    int begin = 0;
    for (int i = 0; i < k_panes; ++i) {
        const int end = begin + static_cast<int>(std::string_view(k_tabs[i]).size()) + 2;
        if (column >= begin && column < end) return i;
        begin = end;
    }
    return -1;
}

}  // namespace orange::dashboard
