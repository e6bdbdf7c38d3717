#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/model/comment.hpp"
#include "common/model/fields.hpp"
#include "common/rpc/task_view.hpp"

/// Comments of the human on lines of a task's work (docs/review.md). The methods that write them are for humans alone.
namespace orange::rpc {

/// A text of a comment, and its answer.
struct CommentTurnView {
    std::string text;
    Timestamp at{};
    std::optional<std::string> answer;
    std::optional<Timestamp> answered_at;
    void describe(auto& v) {
        v.required("text", text, "what the human wrote");
        v.optional("at", at, "when");
        v.optional("answer", answer, "what the worker answered under ## Handoff; absent: nothing yet");
        v.optional("answered_at", answered_at, "when the answer was taken");
    }
};

struct CommentView {
    std::int64_t number = 0;
    std::string state;
    std::string place;
    std::string path;
    DiffSide side = DiffSide::now;
    std::string section;
    std::int64_t line = 0;
    std::int64_t end = 0;
    std::string quoted;
    std::string was;
    std::vector<CommentTurnView> turns;
    std::string author;
    std::string origin;
    void describe(auto& v) {
        v.required("number", number, "its number in this task");
        v.required("state", state,
                   "draft: not sent yet; sent: not answered yet; answered; resolved; outside: by somebody who may not "
                   "push, and not taken over");
        v.required("place", place,
                   "here: its lines stand where they stood; moved: they stand at `line` now; outdated: they are "
                   "changed or gone, and `line` is where they stood");
        v.sparse("path", path, "the file, as it is called now");
        v.optional("side", side, "new: a line of the branch; old: a line of its base");
        v.sparse("section", section, "instead of a file: the section of TASK.md");
        v.required("line", line, "its first line");
        v.required("end", end, "its last line");
        v.required("quoted", quoted, "the lines as they were when it was written");
        v.sparse("was", was, "of a moved one: where it stood when it was written, as \"src/cart.py:12\"");
        v.required("turns", turns, "what was asked and answered, oldest first; at least one");
        v.sparse("author", author, "who wrote it, if not the task's human");
        v.sparse("origin", origin, "review: taken over from ## Review; or the address of the remark in a pull request");
    }
};

/// A line of `## Review` that names a line of a file: "src/cart.py:12: text".
struct RemarkView {
    std::string place;
    std::string path;
    std::int64_t line = 0;
    std::int64_t end = 0;
    std::string text;
    std::string origin;
    void describe(auto& v) {
        v.required("place", place, "here, moved or outdated, as of a comment, since the commit that was reviewed");
        v.required("path", path, "a file of the branch");
        v.required("line", line, "the first line");
        v.required("end", end, "the last line");
        v.required("text", text, "what the reviewer wrote about it");
        v.required("origin", origin, "what task.comment takes as `origin` to take it over");
    }
};

/// A comment to make: on lines of a file, or of a section of TASK.md.
struct NewComment {
    std::optional<std::string> path;
    std::optional<std::string> commit;
    DiffSide side = DiffSide::now;
    std::optional<std::string> section;
    std::int64_t line = 0;
    std::optional<std::int64_t> end;
    std::optional<std::string> quoted;
    std::string text;
    std::optional<std::string> origin;
    void describe(auto& v) {
        v.optional("path", path, "the file, from the root of the repository");
        v.optional("commit", commit,
                   "the commit or tree in which the caller has seen `line`: `tip` of task.diff, or for old `base`; "
                   "absent: as the work is now");
        v.optional("side", side, "new: a line of the branch; old: a line of its base");
        v.optional("section", section, "instead of a file: the heading of a section of TASK.md, as Plan");
        v.required("line", line, "the first line, counted from 1; in a section, from the line below its heading");
        v.optional("end", end, "the last line; absent: the first one");
        v.optional(
            "quoted", quoted,
            "the lines as the caller has seen them; if others stand there now, the call is refused with conflict");
        v.required("text", text, "the comment; any Markdown, at most 16 KiB");
        v.optional("origin", origin, "that of a remark of the reviewer which it takes over");
    }
};

/// Makes comments: all, or none.
struct TaskComment : TaskSelector {
    static constexpr const char* k_name = "task.comment";
    std::vector<NewComment> comments;
    void describe(auto& v) {
        TaskSelector::describe(v);
        v.required("comments", comments, "at least one; all are made, or none");
    }
    struct Reply {
        TaskView task;
        std::vector<CommentView> comments;
        void describe(auto& v) {
            v.required("task", task, "the task");
            v.required("comments", comments, "those that were made, with their numbers");
        }
    };
};

/// Changes comments: all, or none.
struct TaskCommentChange : TaskSelector {
    static constexpr const char* k_name = "task.comment_change";
    std::vector<std::int64_t> numbers;
    std::string change;
    std::string text;
    void describe(auto& v) {
        TaskSelector::describe(v);
        v.required("numbers", numbers, "of the comments");
        v.required("change", change,
                   "edit: replace the text of a draft; remove: a draft, or the draft of a question that was asked "
                   "again; resolve: the human is content; reopen: not resolved any more; ask: ask an answered one "
                   "again, with a new text; take: one from outside becomes a draft of the human");
        v.optional("text", text, "for edit and ask");
    }
    using Reply = TaskComment::Reply;
};

struct TaskComments : TaskSelector {
    static constexpr const char* k_name = "task.comments";
    struct Reply {
        TaskView task;
        std::vector<CommentView> comments;
        std::vector<RemarkView> remarks;
        std::string unplaced;
        void describe(auto& v) {
            v.required("task", task, "the task");
            v.required("comments", comments, "in the order of their numbers");
            v.sparse("remarks", remarks, "lines of ## Review that name lines, and are not taken over");
            v.sparse("unplaced", unplaced, "why it is not known where the lines are now: all count as outdated");
        }
    };
};

}  // namespace orange::rpc
