// The pane beside the list. The daemon is asked for it when the selection has moved, after an event of its task and,
// for the agent's screen, after the agent has written to it.
#include <algorithm>
#include <utility>

#include "client/dashboard/calls.hpp"
#include "client/dashboard/core.hpp"
#include "client/dashboard/hosts.hpp"
#include "common/rpc/attempt_methods.hpp"
#include "common/rpc/task_queries.hpp"
#include "common/rpc/watch_methods.hpp"

namespace orange::dashboard {
namespace {

constexpr std::chrono::milliseconds k_screen_interval{250};
constexpr std::chrono::milliseconds k_preview_interval{500};
constexpr std::chrono::milliseconds k_between{40};       ///< between requests for panes, while the selection moves
constexpr std::chrono::milliseconds k_slow_answer{150};  ///< a slower answer does not delay the next task any longer
constexpr int k_history = 300, k_log_lines = 200, k_preview_lines = 300;
constexpr std::size_t k_not_wrapped = 10'000;  ///< columns of a row that is cut at the pane's edge

Request screen_request(const Row& task, int lines) {
    const auto& id = task.id;
    if (!is_alive(task)) {
        rpc::TaskLog log;
        log.lines = k_log_lines;
        return request_about(std::move(log), Purpose::screen, id);
    }
    rpc::TaskPeek peek;
    peek.lines = std::clamp(lines, 1, 500);
    peek.colours = true;
    return request_about(std::move(peek), Purpose::screen, id);
}

Request request_for(Pane pane, const Row& task, int lines, bool knows_comments) {
    const auto& id = task.id;
    switch (pane) {
        case Pane::screen:
            return screen_request(task, lines);
        case Pane::diff: {
            rpc::TaskDiff diff;
            diff.patch = true;
            diff.comments = knows_comments;
            return request_about(std::move(diff), Purpose::diff, id);
        }
        case Pane::task: {
            rpc::TaskShow show;
            show.changes = true;
            show.comments = knows_comments;
            return request_about(std::move(show), Purpose::task, id);
        }
        case Pane::history: {
            rpc::TaskHistory history;
            history.limit = k_history;
            return request_about(std::move(history), Purpose::history, id);
        }
        case Pane::preview: {
            rpc::TaskPreview look;
            look.lines = k_preview_lines;
            return request_about(std::move(look), Purpose::preview, id);
        }
        case Pane::compare:
            return request_about(rpc::TaskCompare{}, Purpose::compare, id);
        case Pane::why:
            break;
    }
    return request_about(rpc::TaskWhy{}, Purpose::why, id);
}

Pane pane_of(Purpose purpose) {
    switch (purpose) {
        case Purpose::diff:
            return Pane::diff;
        case Purpose::task:
            return Pane::task;
        case Purpose::history:
            return Pane::history;
        case Purpose::why:
            return Pane::why;
        case Purpose::preview:
            return Pane::preview;
        case Purpose::compare:
            return Pane::compare;
        default:
            return Pane::screen;
    }
}

}  // namespace

Pane second_pane(const State& state) {
    return state.pane == Pane::diff ? Pane::task : Pane::diff;
}

std::vector<Pane> panes_of(const State& state) {
    std::vector<Pane> panes = {Pane::screen, Pane::diff, Pane::task, Pane::history, Pane::why};
    const auto* task = selected_in(state);
    const bool is_tried = task != nullptr && task->preview != Row::Preview::none;
    if (state.pane == Pane::compare || state.pane == Pane::preview) {
        panes.push_back(state.pane);
    } else if (task != nullptr && task->attempts > 0) {
        panes.push_back(Pane::compare);
    } else if (is_tried) {
        panes.push_back(Pane::preview);
    }
    return panes;
}

bool is_from_end(Pane pane) {
    return pane == Pane::screen || pane == Pane::preview;
}

bool Core::pane_is_visible() const {
    return state_.overlay == Overlay::none && !state_.form && layout_of(state_).pane.height > 0;
}

void Core::show_pane(Pane pane) {
    state_.pane = pane;
    if (layout_of(state_).pane.height == 0) state_.pane_open = true;
}

/// Shows the pane; if it is shown already, gives it the focus.
void Core::focus_pane(Pane pane) {
    const bool is_shown = pane_is_visible() && state_.pane == pane;
    state_.pane_focused = is_shown || pane_has_keys(state_);
    show_pane(pane);
}

void Core::scroll_pane(long by) {
    const auto box = layout_of(state_).pane;
    if (box.height == 0) return move(static_cast<int>(std::clamp(by, -1000L, 1000L)));
    prepare();
    auto& text = state_.panes[state_.pane];
    const auto rows = static_cast<long>(box.height - 1);
    const auto most = std::max(0L, static_cast<long>(text.lines.size()) - rows);
    const auto wanted = static_cast<long>(text.scroll) + (is_from_end(state_.pane) ? -by : by);
    text.scroll = static_cast<std::size_t>(std::clamp(wanted, 0L, most));
    follow_view();
}

void Core::make_stale(const std::string& task) {
    const auto changed = std::ranges::find(state_.tasks, task, &Row::id);
    const auto parent = changed == state_.tasks.end() ? std::string() : changed->parent;
    for (auto& [pane, text] : state_.panes) {
        const bool compares = pane == Pane::compare && !parent.empty() && text.task == parent;
        if (text.task == task || compares) text.stale = true;
    }
    if (state_.permit && state_.permit->task == task) state_.permit->stale = true;
}

/// Marks the panes as stale after a change without an event: the task's last change differs from the pane's.
void Core::make_stale_if_changed() {
    const auto* task = selected();
    if (task == nullptr) return;
    for (const auto pane : {state_.pane, second_pane(state_)}) {
        auto& text = state_.panes[pane];
        if (text.task != state_.selected || text.changed == task->updated_at) continue;
        text.changed = task->updated_at;
        text.stale = true;
    }
}

/// Subscribes to the screen of one agent. The subscription is sent before the screen is requested, so that no change is
/// missed.
void Core::watch_screen(const Row* task, Effects& effects) {
    for (std::size_t host = 0; host < feeds_.size(); ++host) {
        feeds_[host].screen_wanted = task != nullptr && task->host == host ? task->id : "";
        subscribe_screen(host, effects);
    }
}

void Core::subscribe_screen(std::size_t host, Effects& effects) {
    auto& feed = feeds_[host];
    if (feed.cursor.empty() || feed.screen_watched == feed.screen_wanted) return;
    feed.screen_watched = feed.screen_wanted;
    rpc::EventsSubscribe subscribe;
    subscribe.since = feed.cursor;
    if (!feed.screen_wanted.empty()) subscribe.screen = feed.screen_wanted;
    add_request(effects, request_of(subscribe, Purpose::subscribe), host);
}

void Core::subscribed(std::size_t host, Result<Json> reply, Moment now, Effects& effects) {
    const auto read = reply ? read_as<rpc::EventsSubscribe::Reply>(*reply, "", UnknownKeys::ignore)
                            : Result<rpc::EventsSubscribe::Reply>(reply.error());
    if (!read) return;
    feeds_[host].cursor = read->cursor;
    if (read->resync) refresh(now, host);
    subscribe_screen(host, effects);
}

/// Prepares the pane for the selected task. After the first move the request is sent at once; after further moves, when
/// the reply has come and some time has passed. So while a key is held down, there is one request at a time, and not
/// one for each task. The rows of the previous task stay until then, so that the pane does not flicker.
void Core::begin_pane(PaneText& text, bool moved, Moment now) {
    PaneText next;
    next.task = state_.selected;
    pane_due_.reset();
    if (moved) {
        next.lines = std::move(text.lines);
        next.width = text.width;
        if (!rows_due_) rows_due_ = now.steady + k_slow_answer;
        pane_due_ = pane_asked_ ? now.steady + k_slow_answer : pane_sent_ + k_between;
    }
    text = std::move(next);
}

void Core::drop_old_rows() {
    rows_due_.reset();
    for (auto& [pane, text] : state_.panes) {
        if (text.came == Time{}) text.width = 0;
    }
}

void Core::request_panes(Moment now, Effects& effects) {
    follow_permit(now, effects);
    request_pane(now, effects);
    request_second_pane(effects);
}

void Core::request_pane(Moment now, Effects& effects) {
    show_about_question(effects);
    const auto* task = pane_is_visible() ? selected() : nullptr;
    const auto shown = std::exchange(pane_shown_, task != nullptr ? std::optional(state_.pane) : std::nullopt);
    const bool is_live = task != nullptr && state_.pane == Pane::screen && is_alive(*task);
    if (!is_live) watch_screen(nullptr, effects);
    if (task == nullptr || !is_up(state_, task->host) || !answers(state_, *task)) return;
    auto& text = state_.panes[state_.pane];
    if (text.task != state_.selected) begin_pane(text, shown == state_.pane, now);
    const bool is_watched = !is_live || feeds_[task->host].screen_wanted == task->id;
    if (text.live != is_live || !is_watched) text.stale = true;  // its agent has started, ended or written since
    const bool is_preview = state_.pane == Pane::preview && is_tried(*task);
    if (is_preview && text.came != Time{}) text.stale = true;  // no event says that it has printed more
    const std::pair wanted(state_.pane, state_.selected);
    if (pane_asked_ == wanted || !text.stale || ((is_live || is_preview) && text.scroll > 0)) return;
    const auto soon = text.came + (is_live ? k_screen_interval : k_preview_interval);
    if ((is_live || is_preview) && text.came != Time{} && soon > now.steady) pane_due_ = soon;
    if (pane_due_ && *pane_due_ > now.steady) return;
    pane_due_.reset();
    if (is_live) watch_screen(task, effects);
    pane_asked_ = wanted;
    pane_sent_ = now.steady;
    text.stale = false;
    text.live = is_live;
    text.changed = task->updated_at;
    const auto lines = layout_of(state_).pane.height + 100;
    add_request(effects, request_for(state_.pane, *task, lines, feeds_[task->host].knows_comments), task->host);
}

/// Requests what is below the list once the pane has its own.
void Core::request_second_pane(Effects& effects) {
    const auto* task = pane_is_visible() && layout_of(state_).below.height > 0 ? selected() : nullptr;
    if (task == nullptr || !is_up(state_, task->host) || !answers(state_, *task) || second_asked_) return;
    if (const auto& first = state_.panes[state_.pane]; first.task != state_.selected || first.came == Time{}) return;
    const auto pane = second_pane(state_);
    auto& text = state_.panes[pane];
    if (text.task != state_.selected) {
        text = PaneText();
        text.task = state_.selected;
    }
    if (!text.stale) return;
    second_asked_ = {pane, state_.selected};
    text.stale = false;
    text.changed = task->updated_at;
    const auto lines = layout_of(state_).below.height;
    add_request(effects, request_for(pane, *task, lines, feeds_[task->host].knows_comments), task->host);
}

void Core::pane_reply(const Request& request, Result<Json> reply, Moment now) {
    const auto pane = pane_of(request.purpose);
    if (pane_asked_ == std::pair(pane, request.task)) {
        pane_asked_.reset();
        if (pane_due_) pane_due_ = pane_sent_ + k_between;
    }
    if (second_asked_ == std::pair(pane, request.task)) second_asked_.reset();
    auto& text = state_.panes[pane];
    if (text.task != request.task) return;
    if (text.came == Time{}) text.width = 0;
    text.knows_comments = request.params.contains("comments");
    const bool is_too_old = !reply && text.knows_comments && reply.error().code == ErrorCode::invalid_argument &&
                            reply.error().message.find("unknown parameter \"comments\"") != std::string::npos;
    if (is_too_old) {  // a daemon of an older version on another host
        feeds_[request.host].knows_comments = false;
        text.stale = true;
        return;
    }
    text.came = now.steady;
    const auto shows_old_rows = [](const auto& each) { return each.second.came == Time{} && each.second.width > 0; };
    if (std::ranges::none_of(state_.panes, shows_old_rows)) rows_due_.reset();
    text.error.clear();
    if (!reply) {
        text.error = reply.error().message;
        text.reply = Json();
        text.width = 0;
    } else if (text.reply != *reply) {
        text.reply = std::move(*reply);
        text.width = 0;
    }
    if (!text.range || text.width > 0 || pane != state_.pane) return;
    prepare();
    if (!text.range) say("The lines of the range have changed, so it is ended", false, now);
}

void Core::prepare() {
    if (state_.permit) prepare_permit();
    if (state_.about) prepare_about();
    const auto layout = layout_of(state_);
    const auto& box = layout.pane;
    if (box.height == 0) return;
    if (const auto second = second_pane(state_); layout.below.height > 0 && state_.panes.contains(second)) {
        auto& text = state_.panes[second];
        const auto width = static_cast<std::size_t>(layout.below.width);
        if (text.width != width) lay_out(second, text, width);
    }
    auto& text = state_.panes[state_.pane];
    const auto width = state_.pane_wraps ? static_cast<std::size_t>(std::max(1, box.width)) : k_not_wrapped;
    if (text.width != width) {
        lay_out(state_.pane, text, width);
        const auto rows = static_cast<std::size_t>(std::max(1, box.height - 1));
        const auto most = text.lines.size() > rows ? text.lines.size() - rows : 0;
        text.scroll = std::min(text.scroll, most);
    }
    if (state_.pane_focused && has_cursor(state_) && state_.pane != Pane::compare) follow_cursor();
}

}  // namespace orange::dashboard
