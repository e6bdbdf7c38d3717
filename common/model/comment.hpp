#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/names.hpp"

/// The human's comments on the lines of a task's work (docs/review.md). They are in `comments.json` of the task's
/// folder, which only the daemon writes, and only for a human. daemon/engine/comments.hpp says which are sent, and
/// which are answered.
namespace orange {

/// A side of a diff: the text as it is on the branch, or as it was before.
enum class DiffSide { now, before };
inline constexpr NameRow<DiffSide> k_diff_sides[] = {
    {DiffSide::now, "new"},
    {DiffSide::before, "old"},
};
static_assert(has_row_for_each<k_diff_sides>());
constexpr std::string_view name_of(DiffSide side) {
    return k_diff_sides[static_cast<std::size_t>(side)].name;
}
constexpr std::optional<DiffSide> from_name(std::string_view name, DiffSide) {
    return kind_named(k_diff_sides, name);
}

/// The lines that a comment is about, at the time it was made: of a file, or of a section of TASK.md.
struct CommentAnchor {
    std::string commit;
    std::string path;
    DiffSide side = DiffSide::now;
    std::string section;
    std::int64_t line = 0;
    std::int64_t end = 0;
    std::string text;

    void describe(auto& v) {
        v.sparse("commit", commit, "the commit or tree in which `line` counts; of a file");
        v.sparse("path", path, "the file, from the root of the repository, as it is called in `commit`");
        v.optional("side", side, "new: of the branch; old: of its base");
        v.sparse("section", section, "instead of a file: the heading of a section of TASK.md, as Plan");
        v.required("line", line, "the first line, counted from 1; in a section, from the line below its heading");
        v.required("end", end, "the last line");
        v.required("text", text, "the lines as they were, without the last line's end");
    }
    bool operator==(const CommentAnchor&) const = default;
};

/// A text of the human, and the worker's answer to it. A comment that is asked again has one more.
struct CommentTurn {
    std::string text;
    Timestamp at{};
    std::int64_t sent = 0;
    std::string answer = {};
    std::int64_t answered = 0;
    std::optional<Timestamp> answered_at = {};
    std::string stale = {};

    void describe(auto& v) {
        v.required("text", text, "what the human wrote");
        v.optional("at", at, "when it was written or changed last");
        v.sparse("sent", sent,
                 "the step of the task's comments with which it was sent; not above comment_step: it was");
        v.sparse("answer", answer, "what the worker wrote");
        v.sparse("answered", answered, "the step with which the answer was taken; not above comment_step: it was");
        v.optional("answered_at", answered_at, "when that was");
        v.sparse("stale", stale, "what stood under its number already when it was sent, which is no answer to it");
    }
    bool operator==(const CommentTurn&) const = default;
};

struct Comment {
    std::int64_t number = 0;
    CommentAnchor anchor;
    std::vector<CommentTurn> turns;  ///< at least one
    bool resolved = false;
    std::string author = {};
    std::string origin = {};
    std::string thread = {};
    bool outside = false;
    std::vector<std::string> seen = {};

    void describe(auto& v) {
        v.required("number", number, "counts through the task's life, and is never used again");
        v.required("anchor", anchor, "the lines that it is about");
        v.required("turns", turns, "what was asked and answered, oldest first");
        v.sparse("resolved", resolved, "the human is content");
        v.sparse("author", author, "who wrote it, if not the task's human");
        v.sparse("origin", origin,
                 "\"review\" with a hash: taken over from ## Review; or the address of the remark in a pull request");
        v.sparse("thread", thread, "the thread of the pull request that it is");
        v.sparse("outside", outside, "by somebody who may not push: it is sent only if the human takes it over");
        v.sparse("seen", seen, "which texts of the thread it has, by the forge's ids");
    }
    bool operator==(const Comment&) const = default;
};

/// The contents of comments.json.
struct CommentList {
    std::int64_t next = 1;
    std::vector<Comment> comments;

    void describe(auto& v) {
        v.required("next", next, "the number of the next comment");
        v.required("comments", comments, "in the order of their numbers");
    }
    bool operator==(const CommentList&) const = default;
};

/// The number of comments that a task has in each state that is not over.
struct CommentCounts {
    std::int64_t drafts = 0;
    std::int64_t sent = 0;
    std::int64_t answered = 0;
    std::int64_t outside = 0;

    bool any() const { return drafts + sent + answered + outside > 0; }
    void describe(auto& v) {
        v.sparse("drafts", drafts, "written, and not sent yet");
        v.sparse("sent", sent, "sent, and not answered yet");
        v.sparse("answered", answered, "answered, and neither resolved nor asked again");
        v.sparse("outside", outside, "by somebody who may not push, and not taken over");
    }
    bool operator==(const CommentCounts&) const = default;
};

}  // namespace orange
