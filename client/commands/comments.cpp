// `orange comment` and `orange comments`: the comments on lines, one by one.
#include "client/commands/comments.hpp"

#include <algorithm>
#include <utility>

#include "client/commands/comment_place.hpp"
#include "client/output/comments.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange::commands {
namespace {

constexpr const char* k_help = "\n  orange comment --help";

Error bad_words(const std::string& why) {
    return {ErrorCode::invalid_argument, why + k_help};
}

/// Returns the text of a comment from the words that are left.
Result<std::string> comment_text(const std::vector<std::string>& words) {
    if (words.empty()) return bad_words("the text of the comment is missing");
    TRY(const auto whole, text_argument(join(words, " ")));
    auto text = std::string(trim(whole));
    if (text.empty()) return bad_words("the comment has no text");
    return text;
}

/// Takes the task from the front of the words, if they name one.
template <class Method>
void take_task(const Context& context, Method& params, std::vector<std::string>& words, bool is_there) {
    if (is_there) {
        params.id = words.front();
        words.erase(words.begin());
    }
    complete_with_cwd(context, params, params.id.has_value());
}

Status print_changed(Context& context, const Result<Json>& reply, const std::string& done = {}) {
    return print<rpc::TaskComment>(context, reply, [&](const rpc::TaskComment::Reply& changed) {
        const auto page = output::changed_comments(changed, context.style);
        return page.empty() ? output::task_line(changed.task, context.style) + (done.empty() ? "" : "  " + done + "\n")
                            : page;
    });
}

Status make(Context& context, std::vector<std::string> words) {
    rpc::TaskComment params;
    if (words.empty()) return bad_words("FILE:LINE and a text are missing");
    const bool has_task = begins_with_task(words);
    if (has_task && (words.size() == 1 || (words.size() == 2 && !looks_like_place(words[1])))) {
        const auto task = printable(words.front());
        return bad_words("FILE:LINE is missing behind the task " + task + "; if that is a file, write " + task +
                         ":LINE");
    }
    take_task(context, params, words, has_task);
    TRY(const auto place, place_in(words.front()));
    words.erase(words.begin());
    rpc::NewComment made;
    TRY(made.text, comment_text(words));
    if (place.section.empty()) {
        made.path = place.path;
    } else {
        made.section = place.section;
    }
    made.side = place.side;
    made.line = place.line;
    if (place.end > place.line) made.end = place.end;
    params.comments.push_back(std::move(made));
    return print_changed(context, context.call_json(params.k_name, written(params)));
}

Status change_comments(Context& context, rpc::TaskCommentChange params, const std::string& done = {}) {
    return print_changed(context, context.call_json(params.k_name, written(params)), done);
}

/// Changes the text of a comment: the words are [ID] TEXT.
Status change_text(Context& context, const char* change, std::int64_t number, std::vector<std::string> words) {
    rpc::TaskCommentChange params;
    take_task(context, params, words, words.size() > 1);
    params.change = change;
    params.numbers = {number};
    TRY(params.text, comment_text(words));
    return change_comments(context, std::move(params));
}

/// Changes the state of comments: the words are [ID].
Status change_states(Context& context, const char* change, const std::vector<std::int64_t>& numbers,
                     std::vector<std::string> words, const std::string& done = {}) {
    if (words.size() > 1) return bad_words("unexpected argument \"" + printable(words[1]) + "\"");
    rpc::TaskCommentChange params;
    take_task(context, params, words, !words.empty());
    params.change = change;
    params.numbers = numbers;
    return change_comments(context, std::move(params), done);
}

/// Makes comments of what the reviewer says about these lines.
Status take_remarks(Context& context, const std::vector<std::string>& places, std::vector<std::string> words) {
    rpc::TaskComments asked;
    take_task(context, asked, words, !words.empty());
    TRY(const auto known, context.call(asked));
    rpc::TaskComment params;
    params.id = known.task.fields.id.value;
    for (const auto& word : places) {
        TRY(const auto place, place_in(word));
        const auto before = params.comments.size();
        for (const auto& remark : known.remarks) {
            if (remark.path != place.path || remark.line != place.line || remark.end != place.end) continue;
            if (remark.place == "outdated") {
                return {ErrorCode::conflict, "the lines of " + printable(word) +
                                                 " have changed since the reviewer saw them. Comment on the line that "
                                                 "it is about now:\n  orange comment " +
                                                 output::short_id(known.task) + " FILE:LINE \"...\""};
            }
            rpc::NewComment made;
            made.path = remark.path;
            made.line = remark.line;
            if (remark.end > remark.line) made.end = remark.end;
            made.text = remark.text;
            made.origin = remark.origin;
            params.comments.push_back(std::move(made));
        }
        if (params.comments.size() > before) continue;
        return {ErrorCode::not_found, "there is no remark of the reviewer about " + printable(word) +
                                          " that you have not taken over. To see them:\n  orange comments " +
                                          output::short_id(known.task)};
    }
    return print_changed(context, context.call_json(params.k_name, written(params)));
}

Status take(Context& context, const std::vector<std::string>& taken, std::vector<std::string> words) {
    if (words.size() > 1) return bad_words("unexpected argument \"" + printable(words[1]) + "\"");
    std::vector<std::int64_t> numbers;
    for (const auto& each : taken) {
        if (const auto number = whole_number(each)) numbers.push_back(*number);
    }
    if (numbers.size() == taken.size()) return change_states(context, "take", numbers, std::move(words));
    if (numbers.empty()) return take_remarks(context, taken, std::move(words));
    return bad_words("--take takes numbers of comments, or lines of the reviewer's remarks, not both at once");
}

std::string numbers_text(const std::vector<std::int64_t>& numbers) {
    std::vector<std::string> texts;
    for (const auto number : numbers) texts.push_back(std::to_string(number));
    return join(texts, ", ");
}

}  // namespace

Status task_comment(Context& context, const CommentOptions& options) {
    if (options.edit) return change_text(context, "edit", *options.edit, options.words);
    if (options.ask) return change_text(context, "ask", *options.ask, options.words);
    if (!options.take.empty()) return take(context, options.take, options.words);
    if (!options.resolve.empty()) return change_states(context, "resolve", options.resolve, options.words);
    if (!options.reopen.empty()) return change_states(context, "reopen", options.reopen, options.words);
    if (!options.remove.empty()) {
        return change_states(context, "remove", options.remove, options.words,
                             "removed: " + numbers_text(options.remove));
    }
    return make(context, options.words);
}

Status task_comments(Context& context, rpc::TaskComments params, bool whole) {
    complete_with_cwd(context, params, params.id.has_value());
    return answer(context, params, [&](const rpc::TaskComments::Reply& reply) {
        return output::comments_page(reply, context.style, whole);
    });
}

}  // namespace orange::commands
