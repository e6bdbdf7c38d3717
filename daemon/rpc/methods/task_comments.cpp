#include <algorithm>
#include <set>
#include <utility>

#include "common/base/sha256.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/rpc/comment_methods.hpp"
#include "daemon/rpc/api.hpp"
#include "daemon/runner/review/comments.hpp"
#include "daemon/store/sections.hpp"
#include "daemon/store/task_texts.hpp"

/// The human's comments on the lines of a task's work.
namespace orange::rpc {
namespace {

constexpr const char* k_of_review = "review ";

/// Returns the commit that the text of a section with a verdict is about; empty if nobody knows.
std::string reviewed_in(const engine::Definition& definition, const TaskRecord& record, const std::string& heading,
                        const std::string& text) {
    const auto known = record.reviews.find(heading);
    if (known != record.reviews.end()) {
        const auto parts = split(known->second, ' ');
        if (parts.size() == 2 && orange::is_hash_of(std::string(parts[1]), text)) return std::string(parts[0]);
    }
    // A reviewer that has not written yet sees the words of an earlier round.
    const auto* state = definition.state(record.task.status);
    const auto before = record.entry_sections.find(heading);
    const bool is_old = before != record.entry_sections.end() && orange::is_hash_of(before->second, text);
    return state != nullptr && state->agent == Role::reviewer && is_old ? std::string() : record.reviewed_commit;
}

/// Returns what the reviewers say about lines, as comments on the commits that they saw, each with its key as origin.
CommentList remarks_of(Api& api, const TaskRecord& record, std::string_view body) {
    CommentList said;
    const auto definition = api.runner().turns.definition_of(record.task);
    if (!definition) return said;
    std::set<std::string> headings;
    for (const auto& edge : (*definition)->transitions) {
        if (edge.gate && edge.gate->verdict) headings.insert(edge.gate->section);
    }
    for (const auto& [heading, section] : store::parse_sections(body).sections) {
        if (!headings.contains(heading)) continue;
        const auto commit = reviewed_in(**definition, record, heading, section.text);
        for (auto& remark : engine::remarks_in(section.text)) {
            Comment comment;
            comment.anchor.commit = commit;
            comment.anchor.path = std::move(remark.path);
            comment.anchor.line = remark.line;
            comment.anchor.end = remark.end;
            comment.origin = k_of_review + fast_hash(commit + comment.anchor.path + ":" + std::to_string(remark.line) +
                                                     ":" + remark.text);
            comment.turns.push_back({std::move(remark.text), {}});
            said.comments.push_back(std::move(comment));
        }
    }
    return said;
}

/// Removes what is the human's alone: drafts, and texts of strangers, which nobody has taken over.
void keep_from_agents(CommentList& list, std::int64_t step) {
    for (auto& comment : list.comments) {
        if (engine::state_of(comment, step) == engine::CommentState::draft) comment.turns.pop_back();
    }
    std::erase_if(list.comments, [](const Comment& each) { return each.outside || each.turns.empty(); });
}

/// Returns the comments that this caller may see.
Awaitable<Result<CommentList>> comments_for(Api& api, TaskRecord record, Call call) {
    CO_TRY(auto list, api.runner().comments.read(record));
    auto shown = list;
    keep_from_agents(shown, record.comment_step);
    if (shown == list) co_return list;
    bool is_agent = !call.wall.empty();
    if (!is_agent && call.who) {
        const auto caller = co_await call.who();
        is_agent = caller.role != Role::human;
    }
    if (is_agent) list = std::move(shown);
    co_return list;
}

CommentView comment_view(const PlacedComment& placed, std::int64_t step) {
    const auto& [comment, place] = placed;
    const auto& anchor = comment.anchor;
    CommentView view;
    view.number = comment.number;
    view.state = name_of(engine::state_of(comment, step));
    view.place = name_of(place.kind);
    view.path = place.path;
    view.side = anchor.side;
    view.section = anchor.section;
    view.line = place.line;
    view.end = place.end;
    view.quoted = anchor.text;
    if (place.kind == CommentPlace::Kind::moved) {
        view.was = (anchor.section.empty() ? anchor.path : "## " + anchor.section) + ":" + std::to_string(anchor.line);
    }
    for (const auto& turn : comment.turns) {
        CommentTurnView shown{turn.text, turn.at, {}, {}};
        if (turn.answered > 0 && turn.answered <= step) {
            shown.answer = turn.answer;
            shown.answered_at = turn.answered_at;
        }
        view.turns.push_back(std::move(shown));
    }
    view.author = comment.author;
    view.origin = comment.origin.starts_with(k_of_review) ? "review" : comment.origin;
    return view;
}

/// Returns what the reviewers say about lines, at their places in the work as it is now, without what became a comment.
Awaitable<std::vector<RemarkView>> remark_views(Api& api, TaskRecord record, CommentList list,
                                                std::optional<Changes> changes, std::string body) {
    std::vector<RemarkView> views;
    auto said = remarks_of(api, record, body);
    const auto placed = co_await api.runner().comments.placed(std::move(said), std::move(changes), std::string());
    for (const auto& [comment, place] : placed) {
        if (std::ranges::find(list.comments, comment.origin, &Comment::origin) != list.comments.end()) continue;
        views.push_back(
            {name_text(place.kind), place.path, place.line, place.end, comment.turns.front().text, comment.origin});
    }
    co_return views;
}

/// Returns the work as git has it now, and why that is not known in `unknown`.
Awaitable<std::optional<Changes>> work_of(Api& api, TaskRecord record, std::string& unknown) {
    auto known = api.runner().committed.known(record.task.id);
    auto changes = co_await changes_of(api.world(), std::move(record), std::move(known));
    if (changes) co_return std::move(*changes);
    unknown = changes.error().message;
    co_return std::nullopt;
}

Awaitable<Result<TaskComments::Reply>> comments(Api& api, TaskComments params, Call call) {
    CO_TRY(const auto id, api.select(params, call));
    CO_TRY(const auto record, api.world().tasks.read(id));
    TaskComments::Reply reply;
    reply.task = api.view(*record);
    auto body = store::read_body(api.world().files, api.world().tasks.folder(*record) / "TASK.md").value_or("");
    auto changes = co_await work_of(api, *record, reply.unplaced);
    CO_TRY(auto said, co_await comments_at(api, *record, call, CommentsOf::task, std::move(changes), std::move(body)));
    reply.comments = std::move(said.comments);
    reply.remarks = std::move(said.remarks);
    const auto is_of_file = [](const CommentView& comment) { return comment.section.empty(); };
    if (std::ranges::none_of(reply.comments, is_of_file)) reply.unplaced.clear();
    api.hide(reply.task, call);
    co_return reply;
}

/// Returns the task and these of its comments.
Awaitable<Result<TaskComment::Reply>> changed_comments(Api& api, TaskId id, std::vector<std::int64_t> numbers,
                                                       Call call) {
    TaskComments all;
    all.id = id.value;
    CO_TRY(auto now, co_await comments(api, std::move(all), std::move(call)));
    TaskComment::Reply reply;
    reply.task = std::move(now.task);
    for (auto& comment : now.comments) {
        if (std::ranges::find(numbers, comment.number) != numbers.end()) reply.comments.push_back(std::move(comment));
    }
    co_return reply;
}

Result<NewCommentText> text_from(const NewComment& params) {
    if (params.path.has_value() == params.section.has_value()) {
        return Error(ErrorCode::invalid_argument, "a comment is about a path or about a section, one of both");
    }
    if (params.origin && !params.origin->starts_with(k_of_review)) {
        return Error(ErrorCode::invalid_argument, "origin is that of a remark of the reviewer, or it is not given");
    }
    NewCommentText text;
    text.anchor.path = params.path.value_or("");
    if (text.anchor.path.starts_with("./")) text.anchor.path.erase(0, 2);
    text.anchor.section = params.section.value_or("");
    text.anchor.commit = params.commit.value_or("");
    text.anchor.side = params.side;
    text.anchor.line = params.line;
    text.anchor.end = params.end.value_or(params.line);
    text.anchor.text = params.quoted.value_or("");
    text.has_seen = params.quoted.has_value();
    text.text = params.text;
    text.origin = params.origin.value_or("");
    return text;
}

Awaitable<Result<TaskComment::Reply>> comment(Api& api, TaskComment params, Call call) {
    CO_TRY(const auto id, api.select(params, call));
    std::vector<NewCommentText> texts;
    for (const auto& each : params.comments) {
        CO_TRY(auto text, text_from(each));
        texts.push_back(std::move(text));
    }
    CO_TRY(auto numbers, co_await api.runner().comments.add(id, std::move(texts)));
    co_return co_await changed_comments(api, id, std::move(numbers), std::move(call));
}

Awaitable<Result<TaskComment::Reply>> change(Api& api, TaskCommentChange params, Call call) {
    CO_TRY(const auto id, api.select(params, call));
    const auto change = from_name(params.change, CommentChange());
    if (!change) {
        std::vector<std::string> names;
        for (const auto& each : k_comment_changes) names.emplace_back(each.name);
        co_return Error(ErrorCode::invalid_argument,
                        "change is one of " + join(names, ", ") + ", not \"" + printable(params.change) + "\"");
    }
    CO_TRY(co_await api.runner().comments.change(id, params.numbers, *change, params.text));
    co_return co_await changed_comments(api, id, std::move(params.numbers), std::move(call));
}

}  // namespace

Awaitable<Result<CommentsReply>> comments_at(Api& api, TaskRecord record, Call call, CommentsOf which,
                                             std::optional<Changes> changes, std::string body) {
    CO_TRY(auto list, co_await comments_for(api, record, std::move(call)));
    CommentsReply reply;
    if (which != CommentsOf::sections) reply.remarks = co_await remark_views(api, record, list, changes, body);
    std::erase_if(list.comments, [&](const Comment& comment) {
        const bool is_of_file = comment.anchor.section.empty();
        return (which == CommentsOf::files && !is_of_file) || (which == CommentsOf::sections && is_of_file);
    });
    const auto step = record.comment_step;
    const auto placed = co_await api.runner().comments.placed(std::move(list), std::move(changes), std::move(body));
    for (const auto& each : placed) reply.comments.push_back(comment_view(each, step));
    co_return reply;
}

void add_task_comments(MethodTable& table, Api& api) {
    using enum ErrorCode;
    table.add<TaskComments>(Access::read, "The comments on a task's lines, at their places in the work as it is now.",
                            {not_found, io}, api, comments);
    table.add<TaskComment>(Access::human, "Makes comments on lines of a task's work; task.reject sends them.",
                           {not_found, conflict, invalid_argument, io}, api, comment);
    table.add<TaskCommentChange>(Access::human, "Edits, removes, resolves or asks again comments on lines.",
                                 {not_found, conflict, invalid_argument, io}, api, change);
}

}  // namespace orange::rpc
