// Decides which tasks are shown, in which order, and which one is selected.
#include <algorithm>

#include "client/dashboard/calls.hpp"
#include "client/dashboard/core.hpp"
#include "client/dashboard/rows.hpp"
#include "client/output/families.hpp"
#include "common/base/text.hpp"

namespace orange::dashboard {
namespace {

constexpr std::size_t k_margin = 2, k_more_ended = 200;
constexpr std::size_t k_most_ended = 2000;  ///< in memory; `orange task list --all` shows older ones
constexpr std::chrono::milliseconds k_double_click{500};

/// Moves sub-tasks below their parent if both are in one section.
void put_below_parents(std::vector<Item>& items, const std::vector<Row>& all) {
    std::vector<const Row*> tasks;
    for (const auto& item : items) tasks.push_back(&all[item.task]);
    std::vector<Item> sorted;
    for (const auto& member : output::families(tasks)) {
        sorted.push_back(items[member.at]);
        sorted.back().depth = member.depth;
    }
    items = std::move(sorted);
}

}  // namespace

Section section_of(const Row& task) {
    const auto need = task.needs;
    if (task.ended && need == Need::nothing) return Section::ended;
    if (!task.unreadable.empty()) return Section::needs_you;
    if (need != Need::nothing) return Section::needs_you;
    if (task.queue_place > 0 || task.blocked) return Section::waiting;
    return Section::running;
}

bool Core::is_shown(const Row& task) const {
    const auto section = section_of(task);
    if (state_.filter == Filter::active && section == Section::ended) return false;
    if (state_.filter == Filter::needs && task.needs == Need::nothing) return false;
    if (state_.filter == Filter::ended && section != Section::ended) return false;
    return is_found(task);
}

bool Core::is_found(const Row& task) const {
    if (state_.found_texts.contains(task.id)) return true;
    const auto host = task.host == 0 ? std::string() : state_.hosts[task.host - 1U].name;
    return std::ranges::any_of(
        std::initializer_list<const std::string*>{&task.branch, &task.summary, &task.id, &task.project, &host},
        [&](const auto* text) { return found_in(*text, state_.search); });
}

void Core::rebuild() {
    std::vector<Item> sections[4];
    for (std::size_t i = 0; i < state_.tasks.size(); ++i) {
        const auto& task = state_.tasks[i];
        if (!is_shown(task)) continue;
        const auto section = section_of(task);
        sections[static_cast<std::size_t>(section)].push_back({i, section});
    }
    if (!state_.hosts.empty()) {  // the list of a single daemon is in order already
        std::ranges::stable_sort(sections[0], {}, [&](const Item& item) {
            const auto& task = state_.tasks[item.task];
            return std::pair(-static_cast<int>(task.needs), task.needs_since);
        });
    }
    for (auto& rows : sections) {
        if (&rows != &sections[0])
            put_below_parents(rows, state_.tasks);  // the tasks that need you are in the order of urgency
    }
    state_.items.clear();
    // This filter shows only the number of ended tasks.
    auto folded_count = static_cast<std::size_t>(state_.hidden);
    if (!state_.search.empty()) {
        folded_count = static_cast<std::size_t>(
            std::ranges::count_if(state_.tasks, [&](const auto& task) { return task.ended && is_found(task); }));
    }
    for (std::size_t s = 0; s < 4; ++s) {
        auto& rows = sections[s];
        const bool folded = s == 3 && rows.empty() && folded_count > 0 && state_.filter == Filter::active;
        if (rows.empty() && !folded) continue;
        Item heading{0, static_cast<Section>(s), true, folded ? folded_count : rows.size()};
        state_.items.push_back(heading);
        state_.items.insert(state_.items.end(), rows.begin(), rows.end());
    }
    state_.columns = columns_for(state_);
    keep_selection();
    keep_in_view();
}

/// Keeps the selected task. If it is no longer shown, the task in its place is selected.
void Core::keep_selection() {
    const auto before = state_.at;
    const auto size = state_.items.size();
    state_.at = size;
    std::size_t nearest = size;
    for (std::size_t i = 0; i < size; ++i) {
        if (state_.items[i].heading) continue;
        if (state_.tasks[state_.items[i].task].id == state_.selected) {
            state_.at = i;
            return;
        }
        if (nearest == size || i <= before) nearest = i;
    }
    state_.selected.clear();
    if (nearest < size) select_at(nearest);
}

void Core::select_at(std::size_t item) {
    if (item >= state_.items.size() || state_.items[item].heading) return;
    state_.at = item;
    state_.selected = state_.tasks[state_.items[item].task].id;
}

void Core::move(int by) {
    const auto at = static_cast<long>(state_.at);
    const auto size = static_cast<long>(state_.items.size());
    if (at >= size) return;
    const long step = by < 0 ? -1 : 1;
    long left = std::abs(by), best = at;
    for (long next = at + step; next >= 0 && next < size && left > 0; next += step) {
        if (state_.items[static_cast<std::size_t>(next)].heading) continue;
        best = next;
        --left;
    }
    select_at(static_cast<std::size_t>(best));
    keep_in_view();
    // Fetch more ended tasks before the end of the list is reached.
    if (best + 20 <= size || std::ranges::any_of(feeds_, &Feed::list_asked)) return;
    const bool may_be_more = state_.more_ended && ended_wanted_ > 0 && ended_wanted_ < k_most_ended;
    if (may_be_more && state_.search.empty()) {
        ended_wanted_ += k_more_ended;
        list_soon();
    } else if (more_found_ && found_wanted_ < k_most_ended) {
        found_wanted_ += k_more_ended;
        search_due_ = Time{};
    }
}

void Core::keep_in_view() {
    const int shown = layout_of(state_).list.height;
    if (shown <= 0) return;  // a pane covers the list
    const auto height = static_cast<std::size_t>(shown);
    const auto size = state_.items.size();
    const auto at = state_.at < size ? state_.at : 0;
    const auto margin = std::min(k_margin, (height - 1) / 2);
    if (state_.top + margin > at) state_.top = at > margin ? at - margin : 0;
    if (at + margin >= state_.top + height) state_.top = at + margin + 1 - height;
    const auto last_top = size > height ? size - height : 0;
    state_.top = std::min(state_.top, last_top);
}

void Core::next_filter() {
    constexpr Filter k_order[] = {Filter::active, Filter::needs, Filter::all, Filter::ended};
    const auto at = std::ranges::find(k_order, state_.filter) - std::begin(k_order);
    show_filter(k_order[(at + 1) % 4]);
}

void Core::show_filter(Filter filter) {
    state_.filter = filter;
    const bool wants_ended = filter == Filter::all || filter == Filter::ended;
    if (wants_ended && ended_wanted_ == 0) {
        ended_wanted_ = k_more_ended;
        list_soon();
    }
    if (filter == Filter::active && ended_wanted_ > 0) {
        ended_wanted_ = 0;
        list_soon();  // the number of ended tasks may have changed
    }
    rebuild();
}

/// Switches from one project to all of them, and from all to that of the selected task.
void Core::switch_project() {
    if (!state_.shown_project.empty()) {
        state_.project.reset();
        state_.cwd.reset();
    } else if (const auto* task = selected()) {
        state_.project = task->project;
    } else {
        return;
    }
    header_project();
    list_soon();
    if (usage_sent_ != Time{}) usage_due_ = Time{};
}

void Core::click(const Input& input, Moment now, Effects& effects) {
    const bool is_covered = state_.overlay != Overlay::none || state_.permit;
    if (state_.question || state_.prompt || state_.form || is_covered) return;
    const auto layout = layout_of(state_);
    const auto inside = [&](const Box& box) {
        return input.row >= box.row && input.row < box.row + box.height && input.column >= box.column &&
               input.column < box.column + box.width;
    };
    if (inside(layout.pane) && input.row == layout.pane.row) {
        const auto tab = tab_at(state_, input.column - layout.pane.column);
        if (tab >= 0) show_pane(static_cast<Pane>(tab));
        return;
    }
    if (!inside(layout.list)) return;
    const auto at = state_.top + static_cast<std::size_t>(input.row - layout.list.row);
    if (at >= state_.items.size()) return;
    if (state_.items[at].heading) {
        if (state_.items[at].section == Section::ended && state_.filter == Filter::active) {
            next_filter();
            next_filter();
        }
        return;
    }
    select_at(at);
    const bool twice = clicked_ == state_.selected && now.steady - clicked_at_ < k_double_click;
    clicked_ = twice ? std::string() : state_.selected;
    clicked_at_ = now.steady;
    if (twice) run(*binding_of("Enter"), now, effects);
}

void Core::wheel(const Input& input, int by) {
    if (state_.overlay != Overlay::none) {
        const auto moved = static_cast<long>(state_.overlay_scroll) + 3L * by;
        state_.overlay_scroll = static_cast<std::size_t>(std::max(0L, moved));
        return;
    }
    if (shows_permit(state_)) return scroll_permit(3L * by);
    if (state_.about) return scroll_about(3L * by);
    if (state_.question || state_.prompt || state_.form) return;
    const auto layout = layout_of(state_);
    const auto& pane = layout.pane;
    if (layout.below.height > 0 && input.row >= layout.below.row && input.column < pane.column) return;
    const bool on_pane =
        pane.height > 0 && input.row >= pane.row && input.row < pane.row + pane.height && input.column >= pane.column;
    if (on_pane) return scroll_pane(3L * by);
    move(by);
}

}  // namespace orange::dashboard
