#include "client/dashboard/core.hpp"

#include <algorithm>

#include "client/dashboard/calls.hpp"
#include "client/dashboard/hosts.hpp"
#include "common/base/text.hpp"

namespace orange::dashboard {
namespace {

constexpr std::chrono::milliseconds k_spin{250};
constexpr std::chrono::seconds k_second{1};
constexpr std::chrono::minutes k_minute{1};
constexpr std::size_t k_log_length = 50;

bool is_character(const Key& key) {
    std::size_t end = 0;
    return !key.empty() && width_of(next_point(key, end)) >= 0 && end == key.size();
}

}  // namespace

const Row* selected_in(const State& state) {
    const bool any = state.at < state.items.size() && !state.items[state.at].heading;
    return any ? &state.tasks[state.items[state.at].task] : nullptr;
}

std::size_t needing_count(const State& state) {
    return state.needs_help + state.needs_answer + state.needs_review + state.needs_start;
}

const Row* Core::selected() const {
    return selected_in(state_);
}

void Core::say(std::string text, bool bad, Moment now) {
    state_.message = Message{std::move(text), bad, now.wall};
    log_message(*state_.message);
}

void Core::log_message(Message message) {
    state_.log.push_back(std::move(message));
    if (state_.log.size() > k_log_length) state_.log.pop_front();
}

Effects Core::on_input(const Input& input, Moment now) {
    Effects effects;
    ++inputs_;
    const auto layout = layout_of(state_);
    switch (input.what) {
        case Input::What::key:
            if (layout.tiny && input.text != "q" && input.text != "C-c") break;  // the effect would be invisible
            key(input.text, now, effects);
            break;
        case Input::What::paste:
            paste(input.text, now);
            break;
        case Input::What::click:
            click(input, now, effects);
            break;
        case Input::What::wheel_up:
        case Input::What::wheel_down:
            wheel(input, input.what == Input::What::wheel_up ? -1 : 1);
            break;
    }
    if (layout_of(state_).list.height != layout.list.height) keep_in_view();
    request_panes(now, effects);
    return effects;
}

void Core::paste(const std::string& text, Moment now) {
    if (state_.prompt) {
        const auto what = state_.prompt->what;
        const bool keeps_lines =
            what == Prompt::For::reject || what == Prompt::For::comment || what == Prompt::For::deny;
        insert_text(state_.prompt->text, state_.prompt->cursor, text, keeps_lines);
    } else if (state_.form && state_.form->fields[state_.form->at].choices.empty()) {
        auto& field = state_.form->fields[state_.form->at];
        insert_text(field.value, field.cursor, text, field.name == "context");
    } else {
        say("Pasted text was ignored: keys here are commands", false, now);
    }
}

void Core::key(const Key& key, Moment now, Effects& effects) {
    if (key == "C-z") return effects.outside.push_back({Outside::What::suspend});
    if (key == "C-l") return effects.outside.push_back({Outside::What::redraw});
    if (state_.question) return question_key(key, now, effects);
    if (state_.prompt) return prompt_key(key, now, effects);
    if (state_.form) return form_key(key, now, effects);
    if (is_unwanted(key, now)) return;
    // The person has read the message, so it goes. The key then does its work; Esc only removes an error, which is its
    // one step back.
    const bool was_error = state_.message && state_.message->bad;
    state_.message.reset();
    if (key == "Esc" && was_error) return;
    if (state_.permit) return permit_key(key, now, effects);
    if (pane_key(key, now, effects) || overlay_key(key)) return;
    if (key == "C-c") return quit(effects, now);
    const auto* binding = binding_of(key);
    if (binding == nullptr) {
        if (key.size() == 1 || key.starts_with("F")) say(key + " is no command; ? shows all keys", false, now);
        return;
    }
    run(*binding, now, effects);
}

/// Returns true for keys that belong to a refused text, until a pause, Enter or Esc.
bool Core::is_unwanted(const Key& key, Moment now) {
    if (!state_.unwanted_until) return false;
    if (now.steady >= *state_.unwanted_until || (!is_character(key) && key != "Backspace" && key != "Enter")) {
        state_.unwanted_until.reset();
        return false;
    }
    if (key == "Enter") {
        state_.unwanted_until.reset();
    } else {
        state_.unwanted_until = now.steady + k_typing;
    }
    return true;
}

/// Handles keys of the help and the list of workspaces: the keys of the list scroll them. On a pane that covers the
/// list, q returns to the list.
bool Core::overlay_key(const Key& key) {
    const bool quits = key == "q" || key == "C-c";
    if (state_.overlay == Overlay::none) {
        const bool pane_covers = state_.pane_open && layout_of(state_).list.height == 0;
        if (quits && pane_covers) state_.pane_open = state_.pane_focused = false;
        return quits && pane_covers;
    }
    const auto* binding = binding_of(key);
    const auto action = binding == nullptr ? Action::redraw : binding->action;
    long by = 0;
    const long page = std::max(1, state_.height / 2);
    if (action == Action::down) by = 1;
    if (action == Action::up) by = -1;
    if (action == Action::page_down || action == Action::pane_down) by = page;
    if (action == Action::page_up || action == Action::pane_up) by = -page;
    if (action == Action::first) by = -1'000'000;
    if (action == Action::last) by = 1'000'000;
    if (quits || action == Action::back || action == Action::help || action == Action::workspaces) {
        state_.overlay = Overlay::none;
    } else {
        const auto moved = static_cast<long>(state_.overlay_scroll) + by;
        state_.overlay_scroll = static_cast<std::size_t>(std::max(0L, moved));
    }
    return true;
}

/// Handles Esc when nothing is open: it closes what covers the list, then clears marks, the search, the filter.
void Core::back(Moment now) {
    auto& screen = state_.panes[state_.pane];
    if (is_from_end(state_.pane) && screen.scroll > 0 && layout_of(state_).pane.height > 0) {
        screen.scroll = 0;
    } else if (state_.pane_open && layout_of(state_).list.height == 0) {
        state_.pane_open = false;
    } else if (!state_.marked.empty()) {
        state_.marked.clear();
    } else if (!state_.search.empty()) {
        search_for("", now);
    } else if (state_.pane_open) {
        state_.pane_open = false;
    } else if (state_.filter != Filter::active) {
        show_filter(Filter::active);
    }
}

Effects Core::on_link(Link::State link, std::string why, Moment now, std::size_t host) {
    if (host > 0) return on_host_link(link, std::move(why), now, host);
    Effects effects;
    const bool was_up = state_.link.state == Link::State::up;
    if (state_.link.state != link) state_.link.since = now.wall;
    state_.link.state = link;
    if (link == Link::State::down && !why.empty()) say(why, true, now);
    feeds_[0].end();
    forget_pane_of(0);
    ended_known_.reset();
    if (link == Link::State::up) {
        effects.requests.push_back(request_of(rpc::EventsSubscribe{}, Purpose::subscribe));
        effects.requests.push_back(request_of(rpc::ProjectList{true}, Purpose::projects));
        request_list(0, effects, now);
    } else if (was_up) {
        if (state_.message && !state_.message->bad)
            state_.message.reset();  // otherwise it would hide that the daemon is gone
        // Open requests get no reply any more. The list will show whether they were carried out.
        const auto lost = std::erase_if(state_.busy, [&](const auto& busy) { return host_of(busy.first) == 0; });
        const char* form = state_.sent_forms.empty() ? "" : ", and c opens the form again";
        if (lost > 0)
            say(std::string("The daemon stopped before it answered; the list shows the result") + form, true, now);
        if (!state_.sent_forms.empty()) state_.kept_form = std::move(state_.sent_forms.begin()->second);
        state_.sent_forms.clear();
        state_.many.clear();
        for (auto& [pane, text] : state_.panes) text.stale = true;
    }
    return effects;
}

Effects Core::on_resize(int width, int height, Moment now) {
    Effects effects;
    state_.width = width;
    state_.height = height;
    keep_in_view();
    request_panes(now, effects);
    return effects;
}

Effects Core::on_returned(Moment now) {
    make_stale(state_.selected);
    for (std::size_t host = 0; host < feeds_.size(); ++host) {
        refresh(now, host);
    }
    return {};
}

Effects Core::on_event(const rpc::EventNotification& event, Moment now, std::size_t host) {
    feeds_[host].cursor = event.cursor;
    if (!state_.project || *state_.project == event.project) {
        if (usage_event(event, now, host)) return {};
        make_stale(event.task);
        refresh(now, host);
    }
    return {};
}

Effects Core::on_screen(const std::string& task, Moment now) {
    Effects effects;
    auto& screen = state_.panes[Pane::screen];
    if (screen.task == task) screen.stale = true;
    request_panes(now, effects);
    return effects;
}

Effects Core::on_time(Moment now) {
    Effects effects;
    for (std::size_t host = 0; host < feeds_.size(); ++host) {
        const auto due = feeds_[host].list_due;
        if (due && *due <= now.steady) request_list(host, effects, now);
    }
    if (search_due_ && *search_due_ <= now.steady) request_search(effects);
    if (usage_due_ && *usage_due_ <= now.steady) request_usage(now, effects);
    if (spin_due_ && *spin_due_ <= now.steady) {
        ++state_.spinner;
        spin_due_.reset();
    }
    if (const auto due = question_due(); due && *due <= now.steady) state_.question->readable = true;
    if (!state_.busy.empty() && !spin_due_) spin_due_ = now.steady + k_spin;
    const std::chrono::seconds step = shows_seconds(now.wall) ? k_second : k_minute;
    if (!ages_due_ || *ages_due_ <= now.steady || *ages_due_ > now.steady + step) ages_due_ = now.steady + step;
    if (pane_due_ && *pane_due_ <= now.steady) pane_due_.reset();
    if (rows_due_ && *rows_due_ <= now.steady) drop_old_rows();
    request_panes(now, effects);
    return effects;
}

bool Core::shows_seconds(Timestamp now) const {
    const auto is_young = [now](Timestamp time) { return now - time < k_minute; };
    if (state_.link.state != Link::State::up && is_young(state_.link.since)) return true;
    return std::ranges::any_of(state_.tasks, [&](const Row& task) {
        return is_young(task.updated_at) || is_young(task.needs_since) ||
               (task.activity != Activity::unknown && is_young(task.active_since));
    });
}

std::optional<std::chrono::steady_clock::time_point> Core::next_time() const {
    std::optional<Time> next = ages_due_;
    const auto earlier = [&](const std::optional<Time>& due) {
        if (due && (!next || *due < *next)) next = due;
    };
    for (const auto& due : {search_due_, pane_due_, rows_due_, spin_due_, usage_due_, question_due(), permit_due()})
        earlier(due);
    for (const auto& feed : feeds_) {
        if (!feed.list_asked) earlier(feed.list_due);
    }
    return next;
}

}  // namespace orange::dashboard
