// The layout of the screen, and the lines below the list.
#include <algorithm>

#include "client/dashboard/core.hpp"
#include "client/dashboard/hosts.hpp"
#include "client/output/clashes.hpp"
#include "client/output/task_cells.hpp"
#include "common/base/text.hpp"

namespace orange::dashboard {
namespace {

constexpr int k_least_width = 40, k_least_height = 8, k_beside = 110, k_tall_width = 84, k_tall = 46;
constexpr int k_air = 2, k_least_below = 12;
constexpr std::size_t k_most_message_rows = 6, k_most_need_rows = 3, k_most_clash_rows = 2;
constexpr std::size_t k_age_room = 6;  ///< " (59m)"

/// Adds a text. Commands stand on their own lines, with the key that does the same for the selected task.
void add_wrapped(std::vector<Line>& lines, std::string_view text, std::size_t room, Look look, const Row* task) {
    for (const auto row : split_lines(text)) {
        const auto key = key_for(task, OrangeCommand::from_text(trim(row)));
        const auto shown = clean(row) + (key.empty() ? "" : "   (here: " + key + ")");
        for (auto& part : wrapped(shown, room)) lines.push_back(Line(" ").add(std::move(part), look));
    }
}

}  // namespace

namespace {

std::size_t most_rows(const State& state) {
    return static_cast<std::size_t>(std::max(2, state.height - 5));
}

std::vector<Line> all_message_lines(const State& state) {
    std::vector<Line> lines;
    const auto room = static_cast<std::size_t>(std::max(10, state.width - 2));
    if (state.question) {
        for (const auto& fact : state.question->facts) add_wrapped(lines, fact, room, {}, nullptr);
        const auto rows = wrapped(state.question->text, room > 8 ? room - 8 : room);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            Line line(" ");
            line.add(rows[i], k_bold);
            if (i + 1 == rows.size() && state.question->options.empty()) line.add(" (y/N)", k_bold);
            lines.push_back(std::move(line));
        }
    } else if (state.message) {
        const auto look = state.message->bad ? k_red : Look{};
        add_wrapped(lines, (state.message->bad ? "✗ " : "") + state.message->text, room, look, selected_in(state));
        if (lines.size() > k_most_message_rows) {
            lines.resize(k_most_message_rows - 1);
            lines.push_back(Line(" ").add("… the rest is under ?", k_dim));
        }
    }
    return lines;
}

}  // namespace

bool fits_on_screen(const State& state) {
    return all_message_lines(state).size() <= most_rows(state);
}

std::vector<Line> message_lines(const State& state) {
    auto lines = all_message_lines(state);
    const auto most = most_rows(state);
    if (lines.size() > most) {
        lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(most - 1));
        lines.insert(lines.begin(), Line(" ").add("… more than the screen has room for", k_dim));
    }
    return lines;
}

std::vector<Line> need_lines(const State& state, const Row& task) {
    const auto room = static_cast<std::size_t>(std::max(10, state.width - 2)) - k_age_room;
    if (const auto refusal = host_refusal(state, task); !refusal.empty()) {
        std::vector<Line> lines;
        for (auto& row : wrapped(refusal, room)) lines.push_back(Line(" ").add(std::move(row), k_bold));
        if (lines.size() > k_most_need_rows) lines.resize(k_most_need_rows);
        return lines;
    }
    const bool is_needy = task.needs != Need::nothing;
    auto first = is_needy ? name_text(task.needs) + ":" : std::string();
    auto text = clean(task.needs_text);
    if (!task.preview_url.empty() && text.find(clean(task.preview_url)) == std::string::npos)
        text += (text.empty() ? "it runs at " : "; it runs at ") + clean(task.preview_url);
    if (const auto fact = comments_fact(task); !fact.empty()) text += (text.empty() ? "" : "; ") + fact;
    if (!task.unreadable.empty()) first = "unreadable:", text = clean(task.unreadable);
    if (!task.alarm.empty()) first = "!", text = clean(task.alarm);
    const bool is_bad = !task.unreadable.empty() || !task.alarm.empty();
    const auto look_of_rest = is_bad ? k_red : is_needy ? Look{} : k_dim;
    auto rows = wrapped(first + (first.empty() ? "" : " ") + text, room);
    if (rows.size() > k_most_need_rows) {
        rows.resize(k_most_need_rows);
        rows.back() = cut(rows.back() + " …", room);
    }
    std::vector<Line> lines;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto named = i == 0 ? std::min(first.size(), rows[i].size()) : 0;
        lines.push_back(Line(" ")
                            .add(rows[i].substr(0, named), is_bad ? k_red : look_of(task.needs))
                            .add(rows[i].substr(named), look_of_rest));
    }
    return lines;
}

std::vector<Line> clash_lines(const State& state, const Row& task) {
    auto clashes = task.clashes;
    std::erase_if(clashes,
                  [&](const Clash& clash) { return task.needs_text.find(clash_clause(clash)) != std::string::npos; });
    if (clashes.empty() || !host_refusal(state, task).empty()) return {};
    const auto room = static_cast<std::size_t>(std::max(10, state.width - 2));
    auto rows = wrapped(k_clash_mark + (" " + clean(clashes_text(clashes))), room);
    if (rows.size() > k_most_clash_rows) {
        rows.resize(k_most_clash_rows);
        rows.back() = cut(rows.back() + " …", room);
    }
    std::vector<Line> lines;
    for (auto& row : rows) lines.push_back(Line(" ").add(std::move(row), k_yellow));
    return lines;
}

Layout layout_of(const State& state) {
    Layout layout;
    layout.tiny = state.width < k_least_width || state.height < k_least_height;
    auto messages = static_cast<int>(message_lines(state).size());
    const auto* task = selected_in(state);
    const bool is_covered = state.overlay != Overlay::none || state.form || shows_permit(state);
    layout.whole = state.whole && state.pane_focused && task != nullptr && !layout.tiny && !is_covered;
    const bool has_facts = task != nullptr && state.height >= 16 && !state.prompt && !state.form && !layout.whole;
    if (messages == 0 && has_facts && !shows_permit(state))
        messages = 1 + static_cast<int>(need_lines(state, *task).size() + clash_lines(state, *task).size());
    // Rows from top to bottom: the header; list and pane; the selected task's need or the message; the keys.
    const bool says_why = state.prompt && state.message && state.message->bad && !state.question;
    layout.message_rows = says_why       ? messages + 2
                          : state.prompt ? std::max(2, messages)
                                         : std::max(state.height >= 16 && !layout.whole ? 2 : 1, messages);
    layout.footer_rows = state.height >= 16 ? 2 : 1;
    const int first = 1, height = std::max(1, state.height - 1 - layout.footer_rows - layout.message_rows);
    layout.list = {first, 0, state.width, height};
    if (layout.tiny || task == nullptr || shows_permit(state)) return layout;
    if (layout.whole) {
        layout.pane = {0, 0, state.width, height + first};
        layout.list.height = 0;
    } else if (state.width >= k_beside) {
        const int list = std::min(state.width / 2, 90);
        layout.list.width = list;
        layout.pane = {first, list + 1, state.width - list - 1, height};
        const int used = std::max(static_cast<int>(state.items.size()) + k_air, height / 2);
        if (state.height >= k_tall && !state.items.empty() && height - used >= k_least_below) {
            layout.list.height = used;
            layout.below = {first + used, 0, list, height - used};
        }
    } else if (state.width <= k_tall_width && state.height >= k_tall) {
        const int list = height / 2;
        layout.list.height = list;
        layout.pane = {first + list, 0, state.width, height - list};
    } else if (state.pane_open) {
        layout.pane = {first, 0, state.width, height};
        layout.list.height = 0;
    }
    return layout;
}

}  // namespace orange::dashboard
