// The unused space below the list shows which keys to press, and today's ended tasks.
#include <algorithm>
#include <utility>

#include "client/dashboard/core.hpp"
#include "client/dashboard/rows.hpp"
#include "client/output/local_time.hpp"
#include "common/base/text.hpp"

namespace orange::dashboard {
namespace {

constexpr std::size_t k_readable = 80;  ///< columns of a sentence

/// Adds a key with what it does; without a key, a sentence.
void add_hint(Lines& lines, std::string key, std::string_view text, std::size_t width) {
    const std::size_t indent = key.empty() ? 2 : 6;
    for (auto& row : wrapped(text, width > indent + 10 ? width - indent : 10)) {
        Line line("  ");
        if (indent > 2) line.add(padded(std::exchange(key, ""), indent - 2), k_bold);
        lines.push_back(line.add(std::move(row)));
    }
}

std::string nothing_found(const State& state) {
    const char* which = state.filter == Filter::active  ? "active task"
                        : state.filter == Filter::needs ? "task that needs you"
                        : state.filter == Filter::ended ? "ended task"
                                                        : "task";
    return std::string("No ") + which + " has \"" + clean(state.search) + "\" in its branch, summary, id or project" +
           (state.texts_searched ? ", and no task in its texts." : ".");
}

void add_project_hints(Lines& lines, const State& state, std::size_t width) {
    add_hint(lines, "", "There is no project yet. A project is a git repository in which agents work.", width);
    lines.emplace_back();
    if (!state.repository) {
        add_hint(lines, "", "Start the dashboard in a git repository, or register one:", width);
        lines.push_back(Line("  ").add("orange project add PATH", k_cyan));
        lines.emplace_back();
    } else if (!state.read_only) {
        add_hint(lines, "c", "registers " + clean(*state.repository) + " and creates its first task", width);
    }
}

/// Returns which keys to press if there is no task.
Lines hints(const State& state, std::size_t width) {
    Lines lines;
    if (!state.listed) {
        if (state.link.state == Link::State::up) add_hint(lines, "", "Reading the tasks …", width);
        return lines;
    }
    if (!state.found_texts.empty()) return lines;  // found_in_texts() says it
    if (!state.search.empty()) {
        add_hint(lines, "", nothing_found(state), width);
        add_hint(lines, "Esc", "shows all again", width);
        return lines;
    }
    if (state.filter == Filter::needs || state.filter == Filter::ended) {
        add_hint(lines, "", state.filter == Filter::needs ? "Nothing needs you." : "No task has ended yet.", width);
        add_hint(lines, "f", "shows other tasks", width);
        return lines;
    }
    const bool is_first = state.hidden == 0;
    if (state.projects_known && state.projects.empty()) {
        add_project_hints(lines, state, width);
    } else {
        add_hint(lines, "", "There are no active tasks.", width);
        if (is_first) lines.emplace_back();
        if (!state.read_only) add_hint(lines, "c", "creates a task", width);
    }
    if (!is_first) return lines;
    add_hint(lines, "?", "shows all keys", width);
    lines.emplace_back();
    add_hint(lines, "",
             "An agent works on a task in its own worktree, and a second agent reviews the work. Tasks that need your "
             "answer or your decision stand on top. You merge a task with m.",
             width);
    add_hint(lines, "", "To try it without an account, choose the harness demo.", width);
    return lines;
}

/// Returns "ENDED TODAY 3" and a row for each task. If not all fit, the last row has the number of the others.
Lines ended_today(const State& state, std::size_t width, std::size_t room, Timestamp now) {
    const auto today = output::start_of_day(now);
    std::vector<const Row*> tasks;
    for (const auto& task : state.last_ended) {
        if (task.needs_since >= today) tasks.push_back(&task);
    }
    if (tasks.empty() || room < 2) return {};
    const bool fits = tasks.size() < room;
    const auto shown = fits ? tasks.size() : room - 2;
    Lines lines = {Line("ENDED TODAY", k_bold).add(" " + std::to_string(tasks.size()), k_dim)};
    auto rows = ended_rows({tasks.data(), shown}, width, now);
    std::ranges::move(rows, std::back_inserter(lines));
    if (!fits) lines.push_back(Line("    … " + std::to_string(tasks.size() - shown) + " more; f shows them", k_dim));
    return lines;
}

/// Returns the lines of tasks' texts in which the search has found its text.
Lines found_in_texts(const State& state, std::size_t width) {
    Lines lines;
    add_hint(
        lines, "",
        "No task has \"" + clean(state.search) + "\" in its branch, summary, id or project. In their texts:", width);
    for (const auto& task : state.tasks) {
        const auto text = state.found_texts.find(task.id);
        if (text == state.found_texts.end()) continue;
        const auto id = clean(task.short_id);
        const auto used = 4 + columns(id);
        lines.push_back(
            Line("  ").add(id, k_bold).add("  " + cut(clean(text->second), width > used ? width - used : 0)));
    }
    return lines;
}

}  // namespace

Lines lines_below(const State& state, std::size_t width, std::size_t room, Timestamp now) {
    Lines lines;
    const auto add = [&](Lines more) {
        if (more.empty()) return;
        lines.emplace_back();
        std::ranges::move(more, std::back_inserter(lines));
    };
    const bool is_empty = std::ranges::all_of(state.items, &Item::heading);
    if (is_empty) add(hints(state, std::min(width, k_readable)));
    if (!state.found_texts.empty()) add(found_in_texts(state, width));
    const bool is_calm = needing_count(state) == 0 && state.filter == Filter::active && state.search.empty();
    if (is_calm && lines.size() < room) add(ended_today(state, width, room - lines.size() - 1, now));
    if (lines.size() > room) lines.resize(room);
    return lines;
}

}  // namespace orange::dashboard
