// The page with a request of an agent's program: the whole request, which y allows and a text denies. A key answers
// only the request that is shown; another one is shown only by a key, and y counts for it after a pause.
#include <algorithm>

#include "client/dashboard/calls.hpp"
#include "client/dashboard/core.hpp"
#include "client/dashboard/hosts.hpp"
#include "common/base/text.hpp"
#include "common/rpc/permit_methods.hpp"

namespace orange::dashboard {
namespace {

/// This long the end of a request must have been on the screen before y counts.
constexpr std::chrono::milliseconds k_reading_a_request{300};
constexpr long k_all_rows = 1'000'000'000;

}  // namespace

bool shows_permit(const State& state) {
    return state.permit && !state.question;
}

std::size_t permit_rows(const Layout& layout) {
    return static_cast<std::size_t>(std::max(1, layout.list.height - 1));
}

std::string permit_refusal(const PermitPage& page) {
    if (page.over) {
        const std::string why = page.shown ? "This request is over: it was answered elsewhere, or is not asked any more"
                                           : "Nothing waits for your answer any more";
        return why + (page.open.empty() ? "" : "; a shows the next one");
    }
    if (!page.shown) return page.error.empty() ? "The request has not come yet" : "The request cannot be read";
    if (!page.shown->whole) return "Not all of this request is here, so it cannot be allowed; n denies it";
    if (!page.seen_since) return "Scroll to the end first: y counts after its last line was seen";
    return {};
}

/// Opens what a task's need asks for: the request of its agent's program, or the prompt for an answer.
void Core::answer(Effects& effects, Moment now) {
    const auto& task = *selected();
    const bool has_request = can(task, "allow") || can(task, "deny");
    if (has_request && (task.permit || !can(task, "reply"))) return open_permit(task);
    open_prompt(Prompt::For::reply, &task, now);
    show_about(About::What::questions, state_.selected, effects);
}

void Core::open_permit(const Row& task) {
    state_.permit = PermitPage{};
    state_.permit->task = task.id;
    state_.permit->short_id = task.short_id;
    state_.permit->title = quoted_title(task);
    state_.permit->host = task.host;
}

void Core::show_permit(const rpc::PermitView& permit) {
    auto& page = *state_.permit;
    page.shown = permit;
    page.over = page.can_allow = false;
    page.scroll = page.width = 0;
    page.visible_since.reset();
    page.seen_since.reset();
}

/// Shows the request after the shown one; after the last, the first.
void Core::next_permit() {
    const auto& page = *state_.permit;
    if (page.open.empty()) return;
    const auto number = page.shown ? page.shown->number : 0;
    const auto after = std::ranges::find_if(page.open, [&](const auto& each) { return each.number > number; });
    const auto next = after == page.open.end() ? page.open.front() : *after;
    if (page.over || next.number != number) show_permit(next);
}

/// `by_letter`: letters that follow may belong to a text that was meant for the page.
void Core::close_permit(Moment now, bool by_letter) {
    state_.permit.reset();
    if (by_letter) state_.unwanted_until = now.steady + k_typing;
}

void Core::permit_reply(const Request& request, Result<Json> reply, Moment now) {
    if (!state_.permit || state_.permit->task != request.task) return;
    auto& page = *state_.permit;
    page.asked = false;
    auto task = reply ? read_as<rpc::TaskShow::Reply>(*reply, "", UnknownKeys::ignore)
                      : Result<rpc::TaskShow::Reply>(reply.error());
    if (!task) {
        page.error = task.error().message;
        page.width = 0;
        if (task.error().code != ErrorCode::not_found) return;  // the request may still wait
        page.open.clear();
        return end_permit(now);
    }
    page.error.clear();
    page.open = std::move(task->permits);
    page.worktree = task->task.worktree;
    if (page.over) return;
    if (!page.shown && !page.open.empty()) return show_permit(rpc::PermitView(page.open.front()));
    const bool waits = std::ranges::any_of(page.open, [&](const auto& each) {
        return page.shown && each.number == page.shown->number && each.request == page.shown->request;
    });
    if (!waits) end_permit(now);
}

/// Says that the shown request cannot be answered any more. It stays on the screen, so that keys for it reach no other.
void Core::end_permit(Moment now) {
    auto& page = *state_.permit;
    page.over = true;
    page.can_allow = false;
    page.width = 0;
    say(permit_refusal(page), true, now);
}

/// Asks a host again that did not answer.
void Core::ask_permit_again(std::size_t host) {
    if (!state_.permit || state_.permit->host != host) return;
    state_.permit->asked = false;
    state_.permit->stale = true;
}

/// Requests what has changed, and notes since when the end of the request is on the screen.
void Core::follow_permit(Moment now, Effects& effects) {
    if (!state_.permit) return;
    auto& page = *state_.permit;
    if (page.stale && !page.asked && is_up(state_, page.host)) {
        page.stale = false;
        page.asked = true;
        add_request(effects, request_about(rpc::TaskShow{}, Purpose::permit, page.task), page.host);
    }
    const auto layout = layout_of(state_);
    if (!shows_permit(state_) || layout.tiny || !page.shown || page.over) {
        page.visible_since.reset();
        page.can_allow = false;
        return;
    }
    prepare_permit();
    if (!page.visible_since) page.visible_since = now.steady;
    const bool is_at_end = page.scroll + permit_rows(layout) >= page.lines.size();
    if (is_at_end && !page.seen_since) page.seen_since = now.steady;
    if (const auto due = permit_due(); due && now.steady >= *due) page.can_allow = true;
}

/// Returns when y will count; nothing if it does, or if time alone does not bring that about.
std::optional<Core::Time> Core::permit_due() const {
    if (!state_.permit || state_.permit->can_allow) return std::nullopt;
    const auto& page = *state_.permit;
    if (!permit_refusal(page).empty() || !page.visible_since) return std::nullopt;
    return std::max(*page.visible_since, *page.seen_since) + k_reading_a_request;
}

void Core::prepare_permit() {
    auto& page = *state_.permit;
    const auto layout = layout_of(state_);
    const auto width = static_cast<std::size_t>(std::max(1, state_.width));
    if (page.width != width) page.lines = permit_lines(page, width);
    page.width = width;
    const auto rows = permit_rows(layout);
    page.scroll = std::min(page.scroll, page.lines.size() > rows ? page.lines.size() - rows : 0);
}

void Core::scroll_permit(long by) {
    auto& page = *state_.permit;
    const auto most = static_cast<long>(page.lines.size());
    page.scroll = static_cast<std::size_t>(std::clamp(static_cast<long>(page.scroll) + by, 0L, most));
    prepare_permit();
}

bool Core::permit_scrolls(const Key& key) {
    // One row less than a page, so that none is skipped.
    const auto page = std::max(1L, static_cast<long>(permit_rows(layout_of(state_))) - 1);
    const bool is_down = key == "J" || key == "PageDown" || key == "C-d" || key == " ";
    const bool is_up = key == "K" || key == "PageUp" || key == "C-u";
    const long by = is_down                       ? page
                    : is_up                       ? -page
                    : key == "j" || key == "Down" ? 1
                    : key == "k" || key == "Up"   ? -1
                    : key == "g" || key == "Home" ? -k_all_rows
                    : key == "G" || key == "End"  ? k_all_rows
                                                  : 0;
    if (by != 0) scroll_permit(by);
    return by != 0;
}

void Core::permit_key(const Key& key, Moment now, Effects& effects) {
    const auto& page = *state_.permit;
    const bool is_letter = key.size() == 1 || static_cast<unsigned char>(key.front()) >= 0x80;
    if (key == "Esc" || key == "q" || key == "C-c") return close_permit(now, is_letter);
    if (permit_scrolls(key)) return;
    if (key == "y") return allow(now, effects);
    if (key == "n") return deny(now);
    if (key == "Tab" || (key == "a" && page.over)) return next_permit();
    if (!is_letter) return;
    say("To deny it with a text, press n first", true, now);
    state_.unwanted_until = now.steady + k_typing;
}

void Core::allow(Moment now, Effects& effects) {
    const auto page = *state_.permit;
    if (const auto why = permit_refusal(page); !why.empty()) return say(why, true, now);
    const auto due = permit_due();
    if (!page.can_allow && (!due || now.steady < *due)) return;  // typed before it could be read
    if (!is_up(state_, page.host)) return say("Not sent: its daemon does not answer", true, now);
    if (state_.busy.contains(page.task)) return say(page.title + " is busy", true, now);
    rpc::TaskAllow params;
    params.number = page.shown->number;
    auto request = action_of(std::move(params), page.task, "allowing", "allowed");
    request.host = page.host;
    close_permit(now, true);
    act(effects, std::move(request));
}

/// Opens the prompt for the text of a denial.
void Core::deny(Moment now) {
    const auto& page = *state_.permit;
    if (page.over || !page.shown) return say(permit_refusal(page), true, now);
    rpc::TaskDeny params;
    params.number = page.shown->number;
    Prompt prompt;
    prompt.what = Prompt::For::deny;
    prompt.task = page.task;
    prompt.label = "Denied: what " + page.title + " should do instead, or nothing";
    prompt.request = action_of(std::move(params), page.task, "denying", "denied");
    prompt.request.host = page.host;
    const auto draft = state_.drafts.find(draft_key(prompt.what, prompt.task, prompt.request));
    if (draft != state_.drafts.end()) prompt.text = draft->second;
    prompt.cursor = prompt.text.size();
    state_.prompt = std::move(prompt);
}

}  // namespace orange::dashboard
