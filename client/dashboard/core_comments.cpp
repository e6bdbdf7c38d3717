// The cursor in the diff and in TASK.md, and comments on the lines where it stands (docs/review.md).
#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "client/dashboard/calls.hpp"
#include "client/dashboard/core.hpp"
#include "client/output/comments.hpp"
#include "common/base/text.hpp"

namespace orange::dashboard {
namespace {

std::int64_t line_of_place(const Place& place) {
    return place.now > 0 ? place.now : place.before;
}

bool is_same_place(const Place& a, const Place& b) {
    if (a.part != b.part || a.comment != b.comment || a.attempt != b.attempt) return false;
    if (a.comment > 0) return true;
    return a.path == b.path && a.section == b.section && a.remark == b.remark && (a.now > 0) == (b.now > 0) &&
           line_of_place(a) == line_of_place(b) && a.text == b.text;
}

/// Returns the place that is `wanted`, or else a row of the same comment, the nearest line of the file or section with
/// the same text, the nearest one with another text, or the place at `index`.
std::size_t nearest_place(const std::vector<Place>& all, const Place& wanted, std::size_t index) {
    const auto apart = [](auto a, auto b) { return static_cast<std::int64_t>(a > b ? a - b : b - a); };
    using Distance = std::tuple<int, std::int64_t, std::int64_t>;
    const bool has_text = !trim(wanted.text).empty();  // an empty line is like any other
    Distance least{9, 0, 0};
    std::size_t best = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& each = all[i];
        const auto steps = apart(i, index);
        const bool is_near = wanted.is_line() && each.is_line() && !each.is_note() && each.path == wanted.path &&
                             each.section == wanted.section;
        const bool has_its_text = each.text == wanted.text && (each.now > 0) == (wanted.now > 0) && has_text;
        Distance distance{4, 0, steps};
        if (is_same_place(each, wanted)) {
            distance = {0, 0, steps};
        } else if (wanted.comment > 0 && each.comment == wanted.comment) {
            distance = {1, apart(each.part, wanted.part), steps};
        } else if (is_near) {
            distance = {has_its_text ? 2 : 3, apart(line_of_place(each), line_of_place(wanted)), steps};
        }
        if (distance < least) least = distance, best = i;
    }
    return best;
}

/// Returns the last place of those of a note at the cursor that `fits`: of the one on which the cursor stands, or of
/// those below its line. nullptr if there is none.
template <class Fits>
const Place* note_at_cursor(const PaneText& text, Fits fits) {
    const auto& all = text.places.all;
    const auto at = text.cursor;
    if (at >= all.size()) return nullptr;
    if (all[at].is_note()) return fits(all[at]) ? &all[at] : nullptr;
    if (!all[at].is_line()) return nullptr;
    const Place* last = nullptr;
    for (auto i = at + 1; i < all.size() && all[i].is_note(); ++i) {
        if (fits(all[i])) last = &all[i];
    }
    return last;
}

const rpc::CommentView* comment_numbered(const PaneText& text, std::int64_t number) {
    const auto found = std::ranges::find(text.places.comments, number, &rpc::CommentView::number);
    return found == text.places.comments.end() ? nullptr : &*found;
}

/// Returns the comment at the cursor in one of these states; nullptr if there is none.
const rpc::CommentView* comment_at_cursor(const PaneText& text, std::string_view states) {
    const auto wanted = split(states, ' ');
    const auto* place = note_at_cursor(text, [&](const Place& each) {
        const auto* comment = comment_numbered(text, each.comment);
        return comment != nullptr && std::ranges::find(wanted, comment->state) != wanted.end();
    });
    return place == nullptr ? nullptr : comment_numbered(text, place->comment);
}

const rpc::RemarkView* remark_at_cursor(const PaneText& text) {
    const auto* place = note_at_cursor(text, [](const Place& each) { return each.remark > 0; });
    return place == nullptr ? nullptr : &text.places.remarks[place->remark - 1];
}

constexpr const char *k_draft = "draft", *k_removable = "draft outside", *k_sent = "sent answered resolved",
                     *k_answered = "answered", *k_outside = "outside";

/// Returns the comment on the chosen lines, without a text. Lines of both sides mean those of the branch.
Result<rpc::NewComment> comment_on_chosen(const PaneText& text) {
    const auto [first, last] = chosen_places(text);
    std::vector<const Place*> lines;
    for (auto i = first; i <= last; ++i) {
        const auto& place = text.places.all[i];
        if (place.is_line() && (first == last || !place.is_note())) lines.push_back(&place);
    }
    const bool is_now = std::ranges::any_of(lines, [](const Place* place) { return place->now > 0; });
    std::erase_if(lines, [&](const Place* place) { return is_now && place->now == 0; });
    if (lines.empty()) return Error(ErrorCode::invalid_argument, "No line of the work is here");
    const auto number = [&](const Place* place) { return is_now ? place->now : place->before; };
    const auto& begin = *lines.front();
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const auto& place = *lines[i];
        const bool follows = place.path == begin.path && place.section == begin.section &&
                             number(&place) == number(&begin) + static_cast<std::int64_t>(i);
        if (!follows) return Error(ErrorCode::invalid_argument, "A comment is on lines that follow each other");
    }
    rpc::NewComment comment;
    comment.side = is_now ? DiffSide::now : DiffSide::before;
    if (begin.section.empty()) comment.path = is_now ? begin.path : begin.before_path;
    if (!begin.section.empty()) comment.section = begin.section;
    comment.line = number(&begin);
    if (lines.size() > 1) comment.end = number(lines.back());
    if (comment.path) {
        comment.commit = is_now ? text.places.tip : text.places.base;
        return comment;
    }
    std::vector<std::string> quoted;
    for (const auto* place : lines) quoted.push_back(place->text);
    comment.quoted = join(quoted, "\n");
    return comment;
}

/// Returns the comment that takes over what the reviewer says of a line.
rpc::NewComment comment_of(const rpc::RemarkView& remark, const std::string& tip) {
    rpc::NewComment comment;
    comment.path = remark.path;
    comment.commit = tip;
    comment.line = remark.line;
    if (remark.end > remark.line) comment.end = remark.end;
    comment.text = remark.text;
    comment.origin = remark.origin;
    return comment;
}

Request change_of(const PaneText& text, const rpc::CommentView& comment, const char* change, const std::string& done) {
    rpc::TaskCommentChange params;
    params.numbers = {comment.number};
    params.change = change;
    const auto number = "comment #" + std::to_string(comment.number);
    return action_of(std::move(params), text.task, k_commenting, number + " " + done);
}

std::string label_of_comment(const Request& request) {
    if (const auto made = typed<rpc::TaskComment>(request.params); made && !made->comments.empty()) {
        const auto& comment = made->comments.front();
        rpc::CommentView view;
        view.path = comment.path.value_or("");
        view.section = comment.section.value_or("");
        view.side = comment.side;
        view.line = comment.line;
        view.end = comment.end.value_or(comment.line);
        return "Comment on " + clean(output::place_text(view));
    }
    const auto changed = typed<rpc::TaskCommentChange>(request.params);
    if (!changed || changed->numbers.empty()) return "Comment";
    const auto number = std::to_string(changed->numbers.front());
    return changed->change == "ask" ? "Ask #" + number + " again" : "Comment #" + number;
}

/// Returns the texts of the lines of the work in the range, which say whether it is still the same.
std::vector<std::string> lines_in_range(const PaneText& text) {
    std::vector<std::string> lines;
    const auto [first, last] = chosen_places(text);
    for (auto i = first; i <= last; ++i) {
        const auto& place = text.places.all[i];
        if (place.is_line() && !place.is_note()) lines.push_back(place.text);
    }
    return lines;
}

}  // namespace

std::span<const CommentKey> Core::comment_keys() {
    constexpr unsigned k_writes = k_of_task | k_changes | k_takes_text, k_acts = k_of_task | k_changes;
    constexpr auto k_no_line = "No line of the work is here", k_none_unsent = "No comment is here that was not sent";
    static const CommentKey k_keys[] = {
        {{"c", Action::comment, k_writes, "comment", "Write a comment on the line, or on the range; r sends them all",
          "", "", [](Core& c, Effects&, Moment now) { c.write_comment(now); }},
         "",
         k_no_line},
        {{"v", Action::range, k_of_list, "range", "Begin a range of lines here; j and k make it longer, Esc ends it",
          "", "", [](Core& c, Effects&, Moment) { c.begin_range(); }},
         "",
         k_no_line},
        {{"e", Action::edit_comment, k_writes, "edit", "Edit the comment here, until it is sent", "", "",
          [](Core& c, Effects&, Moment) { c.rewrite_comment(false); }},
         k_draft,
         k_none_unsent},
        {{"X", Action::remove_comment, k_acts, "remove",
          "Remove the comment here, until it is sent, or one from outside", "", "",
          [](Core& c, Effects&, Moment now) { c.remove_comment(now); }},
         k_removable,
         k_none_unsent},
        {{"y", Action::resolve_comment, k_acts, "resolve", "The comment here is resolved; again: it is not", "", "",
          [](Core& c, Effects& effects, Moment) { c.resolve_comment(effects); }},
         k_sent,
         "No comment is here that was sent"},
        {{"A", Action::ask_again, k_writes, "ask again", "Ask again, after an answer that is not enough", "", "",
          [](Core& c, Effects&, Moment) { c.rewrite_comment(true); }},
         k_answered,
         "No comment is here that was answered"},
        {{"t", Action::take_over, k_acts, "take over",
          "Make a comment of yours of the reviewer's remark here, or of one from outside", "", "",
          [](Core& c, Effects& effects, Moment) { c.take_over(effects); }},
         k_outside,
         "No remark of the reviewer or from outside is here"},
    };
    return k_keys;
}

std::pair<std::size_t, std::size_t> rows_of(const PaneText& text, std::size_t place) {
    const auto found = std::ranges::equal_range(text.places.of_row, place);
    const auto index = [&](auto at) { return static_cast<std::size_t>(at - text.places.of_row.begin()); };
    return {index(found.begin()), index(found.end())};
}

bool has_cursor(const State& state) {
    const auto found = state.panes.find(state.pane);
    return found != state.panes.end() && !found->second.places.all.empty();
}

std::pair<std::size_t, std::size_t> chosen_places(const PaneText& text) {
    const auto other = text.range.value_or(text.cursor);
    return {std::min(text.cursor, other), std::max(text.cursor, other)};
}

bool is_of_use(const PaneText& text, const CommentKey& key) {
    if (*key.states == '\0')
        return text.range || (text.cursor < text.places.all.size() && text.places.all[text.cursor].is_line());
    const auto* remark = key.action == Action::take_over ? remark_at_cursor(text) : nullptr;
    return comment_at_cursor(text, key.states) != nullptr || (remark != nullptr && remark->place != "outdated");
}

/// Lays the pane out. The cursor stays at its line, and that stays where it is on the screen. A range ends if its lines
/// are not the same any more.
void Core::lay_out(Pane pane, PaneText& text, std::size_t width) {
    const auto top = static_cast<long>(text.scroll);
    std::optional<Place> begun;
    std::vector<std::string> chosen;
    long below = 0;
    const bool had_places = !text.places.all.empty();
    if (had_places) {
        text.stood = text.places.all[text.cursor];
        if (text.range) {
            begun = text.places.all[*text.range];
            chosen = lines_in_range(text);
        }
        below = static_cast<long>(rows_of(text, text.cursor).first) - top;
    }
    text.places = {};
    text.found.reset();
    text.range.reset();
    text.lines = pane_lines(pane, text, width, text.places);
    text.width = width;
    ++text.layouts;
    const auto& all = text.places.all;
    if (all.empty()) return;
    if (text.stood) text.cursor = nearest_place(all, *text.stood, text.cursor);
    if (pane == Pane::compare && all[text.cursor].attempt.empty()) text.cursor = first_attempt(all);
    if (!text.stood) return;
    if (had_places)
        text.scroll =
            static_cast<std::size_t>(std::max(0L, static_cast<long>(rows_of(text, text.cursor).first) - below));
    if (!begun) return;
    text.range = nearest_place(all, *begun, text.cursor);
    if (lines_in_range(text) != chosen) text.range.reset();
}

PaneText* Core::text_with_cursor() {
    return has_cursor(state_) ? &state_.panes[state_.pane] : nullptr;
}

void Core::move_cursor(long places) {
    if (state_.pane == Pane::compare) return move_to_attempt(places);
    auto& text = state_.panes[state_.pane];
    const auto last = static_cast<long>(text.places.all.size()) - 1;
    const auto by = places > 0 ? 1L : -1L;
    auto at = std::clamp(static_cast<long>(text.cursor) + places, 0L, last);
    // The lines of a range follow each other: it steps over comments.
    while (text.range && at > 0 && at < last && text.places.all[static_cast<std::size_t>(at)].is_note()) at += by;
    text.cursor = static_cast<std::size_t>(at);
    text.found.reset();
    follow_cursor();
}

/// Goes to the comment or remark before or after the cursor.
void Core::go_to_note(bool down, Moment now) {
    auto& text = state_.panes[state_.pane];
    const auto& all = text.places.all;
    const auto key = [&](std::size_t at) { return std::pair(all[at].comment, all[at].remark); };
    const auto count = all.size();
    const auto here = text.cursor < count ? key(text.cursor) : std::pair<std::int64_t, std::size_t>();
    for (std::size_t step = 1; step < count; ++step) {
        if (down ? text.cursor + step >= count : step > text.cursor) break;
        const auto at = down ? text.cursor + step : text.cursor - step;
        if (!all[at].is_note() || key(at) == here) continue;
        move_cursor(static_cast<long>(at) - static_cast<long>(text.cursor));
        while (!down && text.cursor > 0 && all[text.cursor - 1].is_note() && key(text.cursor - 1) == key(text.cursor)) {
            move_cursor(-1);
        }
        return;
    }
    say(down ? "There is no comment after this" : "There is no comment before this", false, now);
}

/// Moves the pane and the cursor by rows; at an end of the pane, the cursor to that end.
void Core::page_cursor(long rows) {
    auto& text = state_.panes[state_.pane];
    const auto view = view_of(state_);
    const auto at = static_cast<long>(std::max(rows_of(text, text.cursor).first, view.top));
    const auto last_row = static_cast<long>(text.places.of_row.size()) - 1;
    const auto last_top = static_cast<long>(view.all > view.rows ? view.all - view.rows : 0);
    text.scroll = static_cast<std::size_t>(std::clamp(static_cast<long>(view.top) + rows, 0L, last_top));
    const bool is_at_end = text.scroll == view.top;
    const auto wanted = !is_at_end ? at + rows : rows > 0 ? last_row : 0;
    text.cursor = text.places.of_row[static_cast<std::size_t>(std::clamp(wanted, 0L, last_row))];
    text.found.reset();
    follow_cursor();
}

/// Scrolls the pane so that the cursor's line is shown, or some of it if it has more rows than the pane.
void Core::follow_cursor() {
    auto& text = state_.panes[state_.pane];
    const auto view = view_of(state_);
    const auto [first, end] = rows_of(text, text.cursor);
    const bool is_seen = first < view.top + view.rows && end > view.top;
    if (view.rows == 0 || (is_seen && end - first > view.rows)) return;
    text.scroll = view.top;
    if (end > view.top + view.rows) text.scroll = end - view.rows;
    if (first < text.scroll) text.scroll = first;
}

/// Moves the cursor into the rows that are shown, after they were scrolled.
void Core::follow_view() {
    auto* text = text_with_cursor();
    const auto view = view_of(state_);
    if (state_.pane == Pane::compare) return;  // its cursor is on an attempt, shown or not
    if (text == nullptr || view.rows == 0 || view.all == 0) return;
    const auto last_row = std::min(view.top + view.rows, view.all) - 1;
    const auto [first, end] = rows_of(*text, text->cursor);
    const auto& of_row = text->places.of_row;
    if (first < view.top) {
        text->cursor = of_row[view.top];
        if (rows_of(*text, text->cursor).first < view.top && of_row[last_row] > text->cursor) ++text->cursor;
    } else if (end > last_row + 1) {
        text->cursor = of_row[last_row];
        if (rows_of(*text, text->cursor).second > last_row + 1 && of_row[view.top] < text->cursor) --text->cursor;
    }
}

/// Gives the diff, or TASK.md if that has the keys, the whole screen; a second time, shows all as it was.
void Core::show_whole(Moment now) {
    if (state_.whole) return end_whole();
    if (selected() == nullptr) return say("No task is selected", false, now);
    const bool had_keys = pane_has_keys(state_);
    const std::tuple before(state_.pane, state_.pane_open, had_keys);
    show_pane(state_.pane == Pane::task && had_keys ? Pane::task : Pane::diff);
    state_.whole = before;
    state_.pane_focused = true;
}

void Core::end_whole() {
    std::tie(state_.pane, state_.pane_open, state_.pane_focused) = *state_.whole;
    state_.whole.reset();
}

void Core::begin_range() {
    auto& text = state_.panes[state_.pane];
    text.range = text.range ? std::nullopt : std::optional(text.cursor);
}

/// Runs a key for comments. Returns false if it is none.
bool Core::comment_key(const Key& key, Moment now, Effects& effects) {
    if (state_.pane != Pane::diff && state_.pane != Pane::task) return false;
    const auto found = std::ranges::find(comment_keys(), key, &Binding::keys);
    if (found == comment_keys().end()) return false;
    auto why = why_no_comments();
    if (why.empty() && is_of_use(state_.panes[state_.pane], *found)) {
        run(*found, now, effects);
        return true;
    }
    if (why.empty() && found->action == Action::take_over && remark_at_cursor(state_.panes[state_.pane]) != nullptr) {
        why = "Its lines have changed since; comment on the line that it is about now";
    }
    if (why.empty()) why = found->not_here;
    if (found->is & k_takes_text) why += "; what is typed now is left out, until Esc or a pause";
    say(std::move(why), true, now);
    if (found->is & k_takes_text) state_.unwanted_until = now.steady + k_typing;
    return true;
}

/// Returns why no key for comments can be used in the pane; empty if one can.
std::string Core::why_no_comments() const {
    const auto& text = state_.panes.at(state_.pane);
    if (!text.error.empty()) return "It could not be read";
    if (text.places.all.empty()) return "It is not read yet";
    if (text.knows_comments) return {};
    const auto host = host_of(text.task);
    return "orange on " + (host == 0 ? "this machine" : state_.hosts[host - 1].name) + " is too old for comments";
}

void Core::write_comment(Moment now) {
    const auto& text = state_.panes[state_.pane];
    auto comment = comment_on_chosen(text);
    if (!comment) return say(comment.error().message, true, now);
    rpc::TaskComment params;
    params.comments.push_back(std::move(*comment));
    open_comment(action_of(std::move(params), text.task, k_commenting, "saved as a draft; r sends it"), "");
}

void Core::rewrite_comment(bool again) {
    const auto& text = state_.panes[state_.pane];
    const auto& comment = *comment_at_cursor(text, again ? k_answered : k_draft);
    if (again) return open_comment(change_of(text, comment, "ask", "is asked again; r sends it"), "");
    open_comment(change_of(text, comment, "edit", "is changed"),
                 comment.turns.empty() ? std::string() : comment.turns.back().text);
}

void Core::resolve_comment(Effects& effects) {
    const auto& text = state_.panes[state_.pane];
    const auto& comment = *comment_at_cursor(text, k_sent);
    const bool is_resolved = comment.state == "resolved";
    act(effects, is_resolved ? change_of(text, comment, "reopen", "is open again")
                             : change_of(text, comment, "resolve", "is resolved"));
}

void Core::remove_comment(Moment now) {
    const auto& text = state_.panes[state_.pane];
    const auto& comment = *comment_at_cursor(text, k_removable);
    Question question;
    question.facts.push_back(clean(comment.turns.empty() ? "" : first_line(comment.turns.back().text)));
    const bool is_again = comment.turns.size() > 1;
    const auto name = "comment #" + std::to_string(comment.number);
    question.text = "Remove " + (is_again ? "the new question of " + name : name) + "?";
    question.if_yes.push_back(change_of(text, comment, "remove", is_again ? "is not asked again" : "is removed"));
    ask(std::move(question), now);
}

void Core::take_over(Effects& effects) {
    const auto& text = state_.panes[state_.pane];
    if (const auto* comment = comment_at_cursor(text, k_outside))
        return act(effects, change_of(text, *comment, "take", "is yours; r sends it"));
    rpc::TaskComment params;
    params.comments.push_back(comment_of(*remark_at_cursor(text), text.places.tip));
    act(effects, action_of(std::move(params), text.task, k_commenting, "the remark is a comment of yours; r sends it"));
}

/// Opens the prompt for the text of a comment. A text that was left, or refused, is offered again.
void Core::open_comment(Request request, const std::string& text) {
    Prompt prompt;
    prompt.what = Prompt::For::comment;
    prompt.task = request.task;
    prompt.label = label_of_comment(request);
    const auto draft = state_.drafts.find(draft_key(prompt.what, prompt.task, request));
    prompt.text = draft != state_.drafts.end() ? draft->second : text;
    prompt.cursor = prompt.text.size();
    prompt.request = std::move(request);
    state_.prompt = std::move(prompt);
}

void Core::send_comment(Request request, const std::string& text, Effects& effects) {
    auto& comment = request.method == rpc::TaskComment::k_name ? request.params["comments"][0] : request.params;
    comment["text"] = text;
    if (auto* pane = text_with_cursor()) pane->range.reset();
    act(effects, std::move(request));
}

/// Opens the prompt again after the text of a comment was refused. If the person does something else now, or has
/// pressed a key since, returns instead how to get the text.
std::string Core::offer_comment_again(const Request& request) {
    if (!is_comment(request) || !state_.drafts.contains(request.draft)) return {};
    const bool is_free = !state_.prompt && pane_has_keys(state_) && state_.selected == request.task;
    if (!is_free || request.keys != inputs_)
        return std::string("\nThe text is kept; ") + key_of_draft(request.draft) + " offers it again";
    open_comment(request, "");
    return {};
}

}  // namespace orange::dashboard
