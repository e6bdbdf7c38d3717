#include <algorithm>
#include <map>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/review/comments.hpp"
#include "daemon/runner/runner.hpp"

/// Review threads of a pull request as comments of the task.
namespace orange {
namespace {

constexpr std::size_t k_most_of_pull = 200;          ///< threads of one task by people who may push
constexpr std::size_t k_most_outside = 50;           ///< and by others, who cannot take the place of those
constexpr std::size_t k_most_seen = 200;             ///< texts of one thread; the forge gives fewer
constexpr std::size_t k_longest_thread = 16 * 1024;  ///< bytes of one text
constexpr std::string_view k_more = "(more was said there)";

Timestamp time_of(const PullReply& reply, Timestamp now) {
    return reply.at == Timestamp{} ? now : reply.at;
}

void append_reply(CommentTurn& turn, const PullReply& reply, Timestamp now) {
    const auto part = reply.author + ": " + reply.text;
    const bool fits = turn.text.size() + part.size() <= k_longest_thread;
    if (!fits && turn.text.ends_with(k_more)) return;
    if (!turn.text.empty()) turn.text += "\n\n";
    turn.text += fits ? std::string_view(part) : k_more;
    turn.at = time_of(reply, now);
}

bool is_seen(const Comment& comment, const PullReply& reply) {
    return std::find(comment.seen.begin(), comment.seen.end(), reply.id) != comment.seen.end();
}

/// Takes what is new in the thread. Returns true if the comment has changed.
bool take_replies(Comment& comment, const PullThread& thread, std::int64_t step, Timestamp now) {
    const auto state = engine::state_of(comment, step);
    // The worker is about to answer what it was sent. What was said meanwhile waits.
    if (state == engine::CommentState::sent) return false;
    bool changed = false;
    for (const auto& reply : thread.said) {
        if (is_seen(comment, reply) || !(comment.outside || reply.may_push)) continue;
        comment.seen.push_back(reply.id);
        if (comment.seen.size() > k_most_seen) comment.seen.erase(comment.seen.begin() + 1);  // never the first text
        changed = true;
        if (thread.resolved) continue;
        const auto& last = comment.turns.back();
        const bool is_sent = last.sent > 0 && last.sent <= step;
        if (is_sent) comment.turns.emplace_back();
        append_reply(comment.turns.back(), reply, now);
        comment.resolved = false;
    }
    const bool waits = state == engine::CommentState::draft || state == engine::CommentState::outside;
    if (thread.resolved && waits) comment.resolved = changed = true;
    return changed;
}

Comment made_of(const PullThread& thread, std::int64_t number, std::int64_t step, Timestamp now) {
    const auto& first = thread.said.front();
    Comment comment;
    comment.number = number;
    comment.anchor = thread.anchor;
    comment.author = first.author;
    comment.origin = first.url;
    comment.thread = thread.id;
    comment.outside = !first.may_push;
    CommentTurn turn;
    turn.text = first.text;
    turn.at = time_of(first, now);
    comment.turns = {std::move(turn)};
    comment.seen = {first.id};
    take_replies(comment, thread, step, now);
    return comment;
}

}  // namespace

Result<bool> Comments::adopt(const TaskRecord& record, const std::vector<PullThread>& threads) {
    TRY(auto list, read(record));
    const auto now = world_.clock.now();
    std::map<bool, std::size_t> taken;
    for (const auto& comment : list.comments) {
        if (!comment.thread.empty()) ++taken[comment.outside];
    }
    std::size_t left_out = 0;
    bool changed = false;
    for (const auto& thread : threads) {
        if (thread.id.empty() || thread.said.empty()) continue;
        const auto known = std::find_if(list.comments.begin(), list.comments.end(),
                                        [&](const Comment& comment) { return comment.thread == thread.id; });
        if (known != list.comments.end()) {
            changed = take_replies(*known, thread, record.comment_step, now) || changed;
        } else if (thread.resolved) {
            continue;
        } else {
            const bool is_outside = !thread.said.front().may_push;
            if (taken[is_outside] >= (is_outside ? k_most_outside : k_most_of_pull)) {
                ++left_out;
                continue;
            }
            list.comments.push_back(made_of(thread, list.next++, record.comment_step, now));
            ++taken[is_outside];
            changed = true;
        }
    }
    if (left_out > 0) {
        log::warn("pull requests",
                  "the task has as many comments of its pull request as it may have: " + counted(left_out, "thread") +
                      " left out",
                  {{"task", record.task.id.value}});
    }
    if (!changed) return false;
    TRY(write(record, list));
    return true;
}

}  // namespace orange
