// Typed lines: the search, an answer, a rejection, a message.
#include <algorithm>

#include "client/dashboard/calls.hpp"
#include "client/dashboard/core.hpp"
#include "client/dashboard/hosts.hpp"
#include "common/base/shell_words.hpp"
#include "common/base/text.hpp"
#include "common/rpc/permit_methods.hpp"

namespace orange::dashboard {
namespace {

/// Returns the beginning of the grapheme before `at`.
std::size_t before_cursor(const std::string& text, std::size_t at) {
    std::size_t begin = 0, next = 0;
    while (next < at) {
        const auto start = next;
        if (width_of(next_point(text, next)) != 0 || start == 0) begin = start;
    }
    return begin;
}

std::size_t behind_cursor(const std::string& text, std::size_t at) {
    if (at >= text.size()) return text.size();
    next_point(text, at);
    while (at < text.size()) {
        auto next = at;
        if (width_of(next_point(text, next)) != 0) break;
        at = next;
    }
    return at;
}

/// Returns the feedback that the command proposes; empty if there is none.
std::string feedback_in(const std::string& command) {
    const auto words = shell_words(command);
    if (!words) return {};
    const auto option = std::ranges::find(*words, "--feedback");
    return option == words->end() || option + 1 == words->end() ? std::string() : *(option + 1);
}

}  // namespace

bool is_comment(const Request& request) {
    return request.method == rpc::TaskComment::k_name || request.method == rpc::TaskCommentChange::k_name;
}

std::string draft_key(Prompt::For what, const std::string& task, const Request& request) {
    auto key = std::to_string(static_cast<int>(what)) + " " + task;
    if (request.method == rpc::TaskDeny::k_name) return key + " " + dump(request.params.at("number"));
    if (request.method != rpc::TaskCommentChange::k_name) return key;
    return key + " " + dump(request.params.at("change")) + dump(request.params.at("numbers"));
}

std::string_view task_of_draft(std::string_view name) {
    const auto task = name.substr(name.find(' ') + 1);
    return task.substr(0, task.find(' '));
}

const char* key_of_draft(std::string_view name) {
    if (name.find(" \"edit\"") != std::string_view::npos) return "e";
    return name.find(" \"ask\"") != std::string_view::npos ? "A" : "c";
}

bool edit_line(std::string& text, std::size_t& cursor, const Key& key) {
    if (key == "Left" || key == "C-b") {
        cursor = before_cursor(text, cursor);
    } else if (key == "Right" || key == "C-f") {
        cursor = behind_cursor(text, cursor);
    } else if (key == "Home" || key == "C-a") {
        cursor = 0;
    } else if (key == "End") {
        cursor = text.size();
    } else if (key == "Backspace" || key == "C-h") {
        const auto begin = before_cursor(text, cursor);
        text.erase(begin, cursor - begin);
        cursor = begin;
    } else if (key == "Delete") {
        text.erase(cursor, behind_cursor(text, cursor) - cursor);
    } else if (key == "C-u") {
        text.erase(0, cursor);
        cursor = 0;
    } else if (key == "C-k") {
        text.erase(cursor);
    } else if (key == "C-w") {
        auto begin = cursor;
        while (begin > 0 && text[begin - 1] == ' ') --begin;
        while (begin > 0 && text[begin - 1] != ' ') --begin;
        text.erase(begin, cursor - begin);
        cursor = begin;
    } else {
        std::size_t end = 0;
        if (key.empty() || width_of(next_point(key, end)) < 0 || end != key.size()) return false;
        text.insert(cursor, key);
        cursor += key.size();
    }
    return true;
}

std::string join_lines(std::string_view text) {
    std::string line;
    for (const auto row : split_lines(text)) {
        if (!line.empty()) line += ' ';
        line += trim(row);
    }
    return line;
}

void insert_text(std::string& text, std::size_t& cursor, std::string_view pasted, bool keeps_lines) {
    constexpr std::size_t k_most = 16'384;
    const auto taken = pasted.substr(0, k_most);
    std::string shown;
    for (const auto row : split_lines(keeps_lines ? trim(taken) : taken)) {
        if (!shown.empty()) shown += keeps_lines ? '\n' : ' ';
        shown += clean(keeps_lines ? row : trim(row));
    }
    text.insert(cursor, shown);
    cursor += shown.size();
}

void Core::open_prompt(Prompt::For what, const Row* task, Moment now) {
    Prompt prompt;
    prompt.what = what;
    if (task != nullptr) {
        prompt.task = task->id;
        const auto title = quoted_title(*task);
        if (what == Prompt::For::reply) prompt.label = "Answer to " + title;
        if (what == Prompt::For::reject)
            prompt.label = task->drafts > 0 ? "Reject " + title + ", with " + counted(task->drafts, "comment")
                                            : "What " + title + " should change";
        if (what == Prompt::For::send) prompt.label = "Message to " + title;
    } else if (what == Prompt::For::find) {
        prompt.label = "Find in this pane";
    } else {
        prompt.label = "Search";
        search_for("", now);
    }
    const auto draft = state_.drafts.find(draft_key(what, prompt.task, {}));
    if (draft != state_.drafts.end()) {
        prompt.text = draft->second;
    } else if (what == Prompt::For::reject) {
        prompt.text = clean(feedback_in(task->needs_command.text()));
    }
    prompt.cursor = prompt.text.size();
    state_.prompt = std::move(prompt);
}

void Core::close_prompt(bool keep) {
    const auto name = draft_key(state_.prompt->what, state_.prompt->task, state_.prompt->request);
    state_.drafts.erase(name);
    const bool is_send = state_.prompt->what != Prompt::For::search && state_.prompt->what != Prompt::For::find;
    if (keep && !state_.prompt->text.empty() && is_send) {
        state_.drafts[name] = state_.prompt->text;
        asked_to_reject_.clear();
    }
    state_.prompt.reset();
    state_.about.reset();
}

void Core::search_for(const std::string& text, Moment now) {
    state_.search = text;
    search_due_.reset();
    found_wanted_ = k_found_at_once;
    more_found_ = false;
    texts_asked_.clear();
    state_.found_texts.clear();
    state_.texts_searched = false;
    state_.tasks.resize(listed_);  // drop the results of an earlier search
    if (!text.empty()) search_due_ = now.steady + k_search_rests;
    rebuild();
}

void Core::prompt_key(const Key& key, Moment now, Effects& effects) {
    if (about_key(key)) return;
    auto& prompt = *state_.prompt;
    if ((key == "PageDown" || key == "PageUp") && shows_permit(state_)) {
        permit_scrolls(key);
        return;
    }
    const bool is_search = prompt.what == Prompt::For::search, is_find = prompt.what == Prompt::For::find;
    if (key == "Esc" || key == "C-c") {
        if (is_search) search_for("", now);
        const bool kept = !prompt.text.empty() && !is_search && !is_find;
        close_prompt(true);
        state_.message.reset();
        if (kept) say("Your text is kept: the same key offers it again", false, now);
    } else if (key == "Enter") {
        send_prompt(now, effects);
    } else if (key == "C-e" && !is_search && !is_find) {
        editing_prompt_ = true;
        effects.outside.push_back({Outside::What::edit, {}, prompt.text});
    } else if (edit_line(prompt.text, prompt.cursor, key) && is_search) {
        search_for(prompt.text, now);
    }
}

void Core::send_prompt(Moment now, Effects& effects) {
    const auto prompt = *state_.prompt;
    if (prompt.what == Prompt::For::search) return close_prompt(false);
    if (prompt.what == Prompt::For::find) {
        close_prompt(false);
        state_.pane_find = prompt.text;
        if (!prompt.text.empty()) find_in_pane(row_to_find_from(), true, now);
        return;
    }
    const auto task = std::ranges::find(state_.tasks, prompt.task, &Row::id);
    const bool sends_comments = prompt.what == Prompt::For::reject && task != state_.tasks.end() && task->drafts > 0;
    const bool denies = prompt.what == Prompt::For::deny;
    if (denies && (!state_.permit || state_.permit->over)) {
        close_prompt(false);
        const bool has_text = !trim(prompt.text).empty();
        if (has_text) state_.drafts.emplace(draft_key(Prompt::For::send, prompt.task, {}), prompt.text);
        return say(std::string("Not sent: the request is over") + (has_text ? "; s offers the text as a message" : ""),
                   true, now);
    }
    if (trim(prompt.text).empty() && !sends_comments && !denies) {
        close_prompt(false);
        return say("Nothing was sent: the text is empty", false, now);
    }
    // The text is kept until the daemon has taken it.
    close_prompt(true);
    const std::string text(trim(prompt.text));
    const auto host = host_of(prompt.task);
    if (state_.busy.contains(prompt.task) || !is_up(state_, host)) {
        const std::string why = !is_up(state_, host) ? (host == 0 ? "the daemon" : state_.hosts[host - 1].name) +
                                                           std::string(host == 0 ? " does not run" : " does not answer")
                                                     : "the task is busy";
        return say("Not sent, and kept: " + why, true, now);
    }
    auto request = prompt.request;
    if (denies) {
        if (!text.empty()) request.params["text"] = text;
        state_.permit.reset();
    } else if (prompt.what == Prompt::For::reject) {
        rpc::TaskReject params;
        params.feedback = text;
        request = action_of(std::move(params), prompt.task, "sending back", "sent back to the worker");
    } else if (prompt.what == Prompt::For::reply) {
        rpc::TaskAnswer params;
        params.text = join_lines(text);
        request = action_of(std::move(params), prompt.task, "answering", "answered");
    } else if (prompt.what == Prompt::For::send) {
        rpc::TaskSend params;
        params.text = join_lines(text);
        request = action_of(std::move(params), prompt.task, "sending", "message sent");
    }
    request.draft = draft_key(prompt.what, prompt.task, prompt.request);
    if (prompt.what == Prompt::For::comment) return send_comment(std::move(request), text, effects);
    act(effects, std::move(request));
}

/// Opens the prompt of a rejection; the first time not, if a comment would not be sent with it.
void Core::reject(Effects& effects, Moment now) {
    const auto& task = *selected();
    const auto name = draft_key(Prompt::For::comment, task.id, {});
    const auto kept = state_.drafts.lower_bound(name);  // of a new comment, or else of one that is changed
    const bool is_unsaved =
        kept != state_.drafts.end() && task_of_draft(kept->first) == task.id && kept->first.starts_with(name);
    if (is_unsaved && asked_to_reject_ != task.id) {
        asked_to_reject_ = task.id;
        state_.unwanted_until = now.steady + k_typing;
        return say(std::string("The text of a comment is not saved: ") + key_of_draft(kept->first) +
                       " in the pane offers it again, and r again rejects without it",
                   true, now);
    }
    open_prompt(Prompt::For::reject, &task, now);
    show_about(About::What::handoff, state_.selected, effects);
}

/// Quits; the first time not, if a text would be lost.
void Core::quit(Effects& effects, Moment now) {
    const bool is_known = asked_to_quit_ > 0 && asked_to_quit_ + 1 == inputs_;
    const auto is_doing = [&](std::string_view what) {
        return std::ranges::any_of(state_.busy, [&](const auto& busy) { return busy.second == what; });
    };
    const bool is_sending = is_doing(k_commenting), is_creating = is_doing(k_creating_with_files);
    // A task of another project is not in the list.
    const bool has_text = std::ranges::any_of(state_.drafts, [&](const auto& draft) {
        const std::string id(task_of_draft(draft.first));
        const auto task = std::ranges::find(state_.tasks, id, &Row::id);
        const bool is_its = draft.first.starts_with(draft_key(Prompt::For::comment, id, {})) ||
                            draft.first == draft_key(Prompt::For::reject, id, {});
        return is_its && (task == state_.tasks.end() || !task->ended);
    });
    if ((!has_text && !is_sending && !is_creating) || is_known) return effects.outside.push_back({Outside::What::quit});
    asked_to_quit_ = inputs_;
    const std::string what = is_creating ? "The files of a new task are still being sent" : "A text is not sent";
    say(what + "; q again quits", true, now);
}

Effects Core::on_edited(std::optional<std::string> text, Moment now, const std::string& error) {
    const auto why = error.empty() ? std::string("The editor failed") : error;
    if (text && !error.empty()) say(why + "; the text is what it saved before", true, now);
    if (!text) {
        say(why + "; nothing was changed", true, now);
    } else if (editing_prompt_ && state_.prompt) {
        state_.prompt->text = std::string(trim(*text));
        state_.prompt->cursor = state_.prompt->text.size();
    } else if (editing_form_ && state_.form) {
        state_.form->fields[state_.form->at].value = std::string(trim(*text));
    }
    editing_prompt_ = editing_form_ = false;
    return {};
}

}  // namespace orange::dashboard
